"""What one message says, read once: everything downstream takes the Reading, and nobody else looks at the words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from agents.understanding import acts, asking, causes, consent, corrections, language, safety, tickets
from agents.understanding.answer_type import AnswerType, answer_types
from agents.understanding.dates import Said, said_days, without_days
from agents.understanding.entities import Mentions, shipped_extractor
from agents.understanding.feeling import Emotion, emotion
from agents.understanding.normalise import normalised
from agents.understanding.parts import parts_of
from knowledge.text import fold


@dataclass(frozen=True)
class Reading:
    """Of a text alone: the same text gives the same Reading, whoever wrote it and whatever was said before. What is
    rarely asked is read when it is asked; nothing is read twice.
    """

    text: str

    @cached_property
    def normal(self) -> str:
        """In one spelling, without greetings, thanks and what it takes back; what is embedded, searched and routed."""
        return corrections.without_withdrawn(normalised(self.text))

    @cached_property
    def withdrawn(self) -> tuple[str, ...]:
        """What it takes back, in favour of what else it says."""
        return corrections.withdrawn(self.text)

    @cached_property
    def folded(self) -> str:
        """In half-width, lower-case, simplified characters; what patterns are matched against."""
        return fold(self.text)

    @cached_property
    def english(self) -> bool | None:
        """None where the words do not tell."""
        return language.english(self.text)

    @cached_property
    def lone_english_word(self) -> bool:
        """Whether it is one English word, which tells where nothing else does."""
        return language.lone_english_word(self.text)

    @cached_property
    def has_chinese(self) -> bool:
        return language.has_chinese(self.text)

    @cached_property
    def mentions(self) -> Mentions:
        """The products, codes, order numbers, people, days and amounts that it names."""
        return shipped_extractor().extract(self.text)

    @cached_property
    def act(self) -> acts.Act:
        """What it does: greets, thanks, asks for a person or a ticket, asks, tells."""
        return acts.act_of(self.text)

    @cached_property
    def names_person(self) -> bool:
        """Whether it speaks of a person of the staff, whatever else is asked."""
        return acts.names_person(self.text)

    @cached_property
    def reply(self) -> consent.Reply | None:
        """What it says to a proposal, if one was made; None where it is about something else."""
        return consent.decided(self.text, self.act)

    @cached_property
    def asks_for(self) -> tuple[AnswerType, ...]:
        """What sort of thing an answer has to hold."""
        return answer_types(self.text)

    @cached_property
    def bare_name(self) -> str | None:
        """The model or code that it names and says nothing of."""
        return asking.bare_name(self.text)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The questions of it in one spelling, by its structure; empty where it is one."""
        return parts_of(self.normal)

    @cached_property
    def feeling(self) -> Emotion:
        """Anger, despair, a hint at ending one's life."""
        return emotion(self.text)

    @cached_property
    def told(self) -> tuple[str, ...]:
        """Its clauses, folded, that are no question about a rule."""
        return tuple(safety.told(self.text))

    @cached_property
    def dangers(self) -> frozenset[safety.Danger]:
        """Those that have a word in what is told."""
        return safety.cued(self.told)

    @cached_property
    def cause(self) -> causes.Cause:
        """What it complains about."""
        return causes.cause_of(self.text)

    @cached_property
    def injured(self) -> bool:
        """Whether somebody is hurt, or was."""
        return causes.injured(self.text)

    @cached_property
    def wish(self) -> tickets.Wish:
        """What it wants done, where it is about tickets."""
        return tickets.wished(self.text)

    @cached_property
    def ticket_number(self) -> str:
        """As it is stored; empty without one."""
        return tickets.ticket_number(self.text)

    @cached_property
    def own_tickets(self) -> bool:
        """Whether it may be about tickets that its conversation has."""
        return tickets.own_tickets(self.text)

    @cached_property
    def beside_request(self) -> tuple[str, ...] | None:
        """What it says beside a request, in so many words, to note something down; None without one."""
        return tickets.beside_request(self.text)

    def days(self, today: date) -> tuple[Said, ...]:
        """The times that it says, where they stand in the folded text and which days they are."""
        dates = [entity.text for entity in self.mentions.certain if entity.kind == "date"]
        return said_days(self.folded, dates, today)

    @cached_property
    def dateless(self) -> str:
        """What it says besides the days of the calendar, folded; empty when that is nothing."""
        return without_days(self.folded, self.days(date.today()))  # where they stand is the same on any day


@lru_cache(maxsize=64)
def read(text: str) -> Reading:
    """The Reading of a message, of one of its questions, or of what a model made of it; one for the whole turn."""
    return Reading(text)
