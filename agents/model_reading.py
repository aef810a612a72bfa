"""Reads a message in its conversation by one request to a language model: its questions, intents and names.

The result is used beside the readings without a model, never alone.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loguru import logger

from agents.errors import GenerationError
from agents.llm.replies import Completer, UnreadableReply
from agents.pages import extract_page_subject
from agents.passages.quotable import is_safe_text
from agents.prompt_library import PromptedMessages, Prompts, join_lines, load_shipped_prompts
from agents.routing.types import OFF_TOPIC, Intent
from agents.shapes import TEXT, Shape, build_list_schema, build_object_schema
from agents.ticketing.proposals import read_decision
from agents.types import Question, SubQuestion, Usage
from agents.understanding.acts import Act
from agents.understanding.facts import has_all_facts, has_most_words, has_new_facts, has_new_words, has_shared_words
from agents.understanding.state import Turn
from agents.understanding.utterance import RewriteKind
from agents.verification.marks import strip_marks
from knowledge.text import Analyzer, clean, fold
from knowledge.tracing import start_span

# What is marked as degraded when the model is late, out of reach or does not reply as told.
PART = "understanding"
MAX_QUESTIONS = 3
MAX_TURNS = 2
# What a message leans on was said lately. A request has 400 tokens at most: 260 of them are always the same.
MAX_REPLY_CHARS = 40
# Of a rewritten question; a longer one is an answer or a lecture.
MAX_CHARS = 120
_QUOTES = "“”\"'「」『』 "
_SEVERAL = frozenset("\n。；;")
_LANGUAGES = ("zh", "en")
_NO_SLOTS = {"order_number": "", "phone": "", "member_name": ""}
_SHAPE = Shape(
    "understanding",
    {
        "questions": build_list_schema(TEXT),
        "intents": build_list_schema({**TEXT, "enum": [intent.value for intent in Intent]}),
        "slots": build_object_schema(dict.fromkeys(_NO_SLOTS, TEXT)),
        "language": TEXT,
    },
    {"intents": [], "slots": _NO_SLOTS, "language": ""},
    tokens=400,
)


@dataclass(frozen=True, slots=True)
class ModelReading:
    """What a model reads in a message. `questions` are those that it holds, each understandable by itself; empty
    where the message is complete as it is, or where no wording of the model keeps its facts. `intents` is empty
    where the model names none.
    """

    questions: tuple[str, ...] = ()
    intents: frozenset[Intent] = frozenset()
    # Kind -> words of the message.
    slots: Mapping[str, str] = field(default_factory=dict)
    # zh, en, or empty for another one.
    language: str = ""
    degraded: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def apply_to(self, question: Question) -> Question:
        """Returns the question with this reading; what was read without a model stays where this says nothing."""
        utterance = question.utterance.add_rewrite(" ".join(self.questions), RewriteKind.MODEL)
        return replace(
            question,
            utterance=replace(utterance, slots=tuple(self.slots.items()), language=self.language),
            sub_questions=self._list_sub_questions() if self.questions else question.sub_questions,
        )

    def _list_sub_questions(self) -> tuple[SubQuestion, ...]:
        several = self.questions if len(self.questions) > 1 else ()
        return tuple(SubQuestion(text, by_model=True) for text in several)


class ModelReader:
    """Safe to share.

    `seconds`: deadline of the request; `analyzer`: the tenant's, whose names no rewrite may lose; `trusted`: whether
    the model is good enough to be asked.
    """

    def __init__(
        self,
        model: Completer,
        seconds: float,
        analyzer: Analyzer,
        prompts: Prompts | None = None,
        trusted: Callable[[], bool] = lambda: True,
    ) -> None:
        self.trusted = trusted
        self._model = model
        self._prompts = prompts or load_shipped_prompts()
        self._seconds = seconds
        self._analyzer = analyzer

    async def read(self, question: Question) -> ModelReading:
        """Reads a message. Never raises for an outage: the message is then read without a model."""
        try:
            with start_span("understand"):
                reply, usage = await self._model.complete(self._build_messages(question), self._seconds)
        except GenerationError as error:
            used = error.usage if isinstance(error, UnreadableReply) else None
            logger.opt(exception=error).warning("understood without the model, which failed")
            return ModelReading(degraded=(PART,), usage=used or Usage(calls=1))
        try:
            known = RewriteGuard(question, self._analyzer, self._prompts.extract_examples("understanding"))
            return replace(read_understanding(reply, known), usage=usage)
        except UnreadableReply as error:
            logger.opt(exception=error).warning("understood without the model, which did not reply as told")
            return ModelReading(degraded=(PART,), usage=usage)

    def _build_messages(self, question: Question) -> PromptedMessages:
        prompt = self._prompts.fill(
            "turn",
            tag=secrets.token_hex(4),
            history=_format_history(question.history),
            page=extract_page_subject(question.page),
            text=join_lines(question.utterance.original),
        )
        system = self._prompts.fill("understanding", most=str(MAX_QUESTIONS))
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        return self._prompts.build_messages("understanding", "turn", messages=messages, shape=_SHAPE)


def can_be_read(question: Question) -> bool:
    """Whether a model may read the message and can add something: not where it refers to business rows, nor for 谢谢 or
    a yes.
    """
    shown = not (question.history and question.history[-1].rows)
    return (
        shown and question.utterance.reading.act in (Act.ASKS, Act.TELLS) and not read_decision(question, time.time())
    )


@dataclass(frozen=True, slots=True)
class RewriteGuard:
    """Checks what a model made of a message."""

    question: Question
    analyzer: Analyzer
    # Sentences of its prompt, which are of another company.
    examples: frozenset[str] = frozenset()

    def filter_questions(self, written: Sequence[str]) -> tuple[str, ...]:
        """Returns the model's questions that may be searched; empty where a fact of the message or most of its words
        are lost.

        Left out is a question that adds a number, name or word that is in neither message, conversation nor page, that
        shares no word with the message, or that is an example of the prompt. Together the rest has to keep all that the
        message says.
        """
        text = self.question.utterance.original
        questions = dict.fromkeys(clean(question).strip().strip(_QUOTES) for question in written[:MAX_QUESTIONS])
        kept = tuple(
            question for question in questions if _is_single_question(question) and self._has_only_known_facts(question)
        )
        whole = "；".join(kept)
        names = self.analyzer.find_protected
        safe = has_all_facts(text, whole) and has_most_words(text, whole, self.analyzer) and names(text) <= names(whole)
        return kept if kept and safe else ()

    def _has_only_known_facts(self, question: str) -> bool:
        text = self.question
        turns = (
            f"{turn.utterance.original}\n{turn.utterance.expanded_text}\n{turn.reply}"
            for turn in text.history
            if not turn.rows
        )
        known = "\n".join((*turns, text.summary, extract_page_subject(text.page), text.utterance.original))
        return (
            fold(question) not in self.examples
            and not has_new_facts(known, question)
            and not has_new_words(known, question, self.analyzer)
            and has_shared_words(text.utterance.original, question, self.analyzer)
        )


def read_understanding(reply: str, guard: RewriteGuard) -> ModelReading:
    """Reads the model's reply. Raises UnreadableReply."""
    fields, text = _SHAPE.read(reply), guard.question.utterance.original
    questions = guard.filter_questions(fields["questions"])
    intents = frozenset(Intent(named) for named in fields["intents"] if named in set(Intent))
    return ModelReading(
        () if questions == (text.strip(),) else questions,
        intents.difference(OFF_TOPIC) or (intents if len(intents) == 1 else frozenset()),
        {kind: words for kind, words in fields["slots"].items() if _is_within(words, text)},
        next((language for language in _LANGUAGES if fields["language"].startswith(language)), ""),
    )


def _is_single_question(question: str) -> bool:
    """Whether it is one question; small models copy parts of the reply before."""
    one = not _SEVERAL & set(question[:-1])
    return 0 < len(question) <= MAX_CHARS and one and is_safe_text(question)


def _is_within(words: str, text: str) -> bool:
    return bool(words.strip()) and fold(words).strip() in fold(text)


def _format_history(history: Sequence[Turn]) -> str:
    turns = (
        f"顾客：{join_lines(turn.utterance.original)}\n客服：{join_lines(strip_marks(turn.reply))[:MAX_REPLY_CHARS]}"
        for turn in history[-MAX_TURNS:]
        if not turn.rows
    )
    return "\n".join(turns)
