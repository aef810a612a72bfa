"""What one message says, read once: all later steps use the Reading, and no other place matches patterns on
the words.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from agents.understanding import acts, causes, consent, corrections, language, question_words, safety, tickets
from agents.understanding.answer_type import AnswerType, detect_answer_types
from agents.understanding.dates import DateMention, find_date_mentions, remove_days
from agents.understanding.emotion import Emotion, detect_emotion
from agents.understanding.entities import Mentions, load_shipped_extractor
from agents.understanding.normalise import normalise_text
from agents.understanding.sub_questions import split_questions
from knowledge.text import fold

# A turn reads a dozen texts (message, rewrites, questions, history), and a dozen turns may run at once.
_REMEMBERED = 256


@dataclass(frozen=True)
class Reading:
    """The reading of a text alone: the same text always gives the same Reading. Each property is computed when it is
    first used.
    """

    text: str

    @cached_property
    def normalized_text(self) -> str:
        """The text in one spelling, without greetings, thanks and what it withdraws; it is embedded, searched
        and routed.
        """
        return corrections.remove_withdrawn_words(normalise_text(self.text))

    @cached_property
    def withdrawn_words(self) -> tuple[str, ...]:
        """What it withdraws in favour of what else it says."""
        return corrections.find_withdrawn_words(self.text)

    @cached_property
    def folded(self) -> str:
        """The text in half-width, lower-case, simplified characters, for matching patterns."""
        return fold(self.text)

    @cached_property
    def is_english(self) -> bool | None:
        """Whether it is English; None where the words do not tell."""
        return language.detect_english(self.text)

    @cached_property
    def has_lone_english_word(self) -> bool:
        """Whether it is one English word, which counts where nothing else tells the language."""
        return language.has_lone_english_word(self.text)

    @cached_property
    def has_chinese(self) -> bool:
        return language.has_chinese(self.text)

    @cached_property
    def mentions(self) -> Mentions:
        """The products, codes, order numbers, people, days and amounts that it names."""
        return load_shipped_extractor().extract(self.text)

    @cached_property
    def act(self) -> acts.Act:
        """Its dialogue act: greets, thanks, asks for a person or a ticket, asks, tells."""
        return acts.detect_act(self.text)

    @cached_property
    def has_person_mention(self) -> bool:
        """Whether it asks for a person of the staff, whatever else it says."""
        return acts.has_person_mention(self.text)

    @cached_property
    def reply(self) -> consent.Reply | None:
        """What it answers to a proposal, if one was made; None where it is about something else."""
        return consent.read_reply(self.text, self.act)

    @cached_property
    def answer_types(self) -> tuple[AnswerType, ...]:
        """The types of answer that it asks for."""
        return detect_answer_types(self.text)

    @cached_property
    def bare_name(self) -> str | None:
        """The model or code that it names without saying anything of it; None otherwise."""
        return question_words.extract_bare_name(self.text)

    @cached_property
    def sub_question_texts(self) -> tuple[str, ...]:
        """Its questions in normalised spelling, by its structure; empty where it is one."""
        return split_questions(self.normalized_text)

    @cached_property
    def emotion(self) -> Emotion:
        """Anger or despair by its words, and whether it hints at suicide."""
        return detect_emotion(self.text)

    @cached_property
    def statement_clauses(self) -> tuple[str, ...]:
        """Its clauses, folded, that do not ask about a rule."""
        return tuple(safety.split_statements(self.text))

    @cached_property
    def dangers(self) -> frozenset[safety.Danger]:
        """The dangers that a word of its statements names."""
        return safety.find_dangers(self.statement_clauses)

    @cached_property
    def cause(self) -> causes.Cause:
        """What it complains about."""
        return causes.detect_cause(self.text)

    @cached_property
    def has_injury(self) -> bool:
        """Whether somebody is hurt, or was."""
        return causes.has_injury(self.text)

    @cached_property
    def wish(self) -> tickets.Wish:
        """What it wants to be done, where it is about tickets."""
        return tickets.detect_wish(self.text)

    @cached_property
    def ticket_number(self) -> str:
        """The ticket number as it is stored; empty without one."""
        return tickets.find_ticket_number(self.text)

    @cached_property
    def has_ticket_reference(self) -> bool:
        """Whether it may be about tickets of its conversation."""
        return tickets.has_ticket_reference(self.text)

    @cached_property
    def words_beside_request(self) -> tuple[str, ...] | None:
        """What it says besides an explicit request to record something; None without such a request."""
        return tickets.split_request(self.text)

    def find_dates(self, today: date) -> tuple[DateMention, ...]:
        """Returns the times that it names: where they stand in the folded text, and their days."""
        dates = [entity.text for entity in self.mentions.certain if entity.kind == "date"]
        return find_date_mentions(self.folded, dates, today)

    @cached_property
    def text_without_dates(self) -> str:
        """The text without days of the calendar, folded; may be empty."""
        return remove_days(self.folded, self.find_dates(date.today()))  # where they stand is the same on any day


@lru_cache(maxsize=_REMEMBERED)
def read(text: str) -> Reading:
    """Returns the Reading of a message, of a sub-question or of a rewrite; cached, so that a turn reads each
    text once.
    """
    return Reading(text)
