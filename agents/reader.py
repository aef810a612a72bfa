"""A language model in the gate: asked of each of the first passages whether it states the answer, one token each."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from time import perf_counter
from typing import Protocol

import numpy as np
from cachetools import LRUCache
from loguru import logger

from agents.errors import GenerationError, GenerationRejected
from agents.llm.chat import ChatMessage, WordPair
from agents.llm.writer import prompt_heading, prompt_text
from agents.prompting import Prompts, one_line, shipped
from agents.recall import Searcher
from agents.types import Usage
from knowledge.calibration.fit import measure_auroc
from knowledge.filters import EVERYTHING, Filter
from knowledge.gate import EvidenceGate
from knowledge.probability import CalibrationMap
from knowledge.reader import READER, apply_judgements, fit_reader
from knowledge.scoring import milliseconds
from knowledge.tracing import span
from knowledge.types import Chunk, Context, DocumentMeta, PageText, Retrieval, Vector
from knowledge.yaml_files import load_yaml

WORDS: WordPair = ("有", "没有")
HOPELESS = 0.1
"""The probability of the best passage below which nobody is asked: what is about something else altogether the search
tells by itself."""
LEAST_AUROC = 0.8
"""On the shipped examples, below which a model's judgements are worth nothing. Qwen2.5-Coder-1.5B reaches .90."""
SHOWN = 4
"""Of the shipped passages, the first are shown to the model with what to say, by turns where the answer is missing and
where it is stated; it is measured by the others. With Qwen2.5-Coder-1.5B, of 20 questions that the first passage
answers and 20 that it is merely near to: AUROC .87, without them .73. They stand first, and are computed once.
"""
REMEMBERED = 4096
"""Judgements of a tenant in memory."""
MEASURING_SECONDS = 180.0
"""For one example, so that a slow model is found out and not only called late."""
_MARKS = ("<资料>", "</资料>", "<问题>", "</问题>")
_NOTHING_SAID = Context()


class Chooser(Protocol):
    """A chat model that chooses between two words; see `ChatModel.choose`."""

    name: str

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """Raises GenerationError."""


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """passages: how many of the first are judged; seconds: for all of them, asked at once; max_chunk_chars: of one."""

    passages: int = 3
    seconds: float = 2.0
    max_chunk_chars: int = 800


@dataclass(frozen=True, slots=True)
class JudgedExample:
    """A passage and a question, and whether the passage states its answer."""

    chunk: Chunk
    question: str
    answered: bool


class PassageReader:
    """Judges passages by a model; what it judged is remembered."""

    def __init__(self, model: Chooser, options: ReaderOptions, prompts: Prompts | None = None) -> None:
        self.options = options
        self._model = model
        self._prompts = prompts or shipped()
        self._judged: LRUCache[tuple[str, str, str, int], float] = LRUCache(REMEMBERED)

    @property
    def title(self) -> str:
        """Of the model, for people."""
        return self._model.name

    @property
    def key(self) -> str:
        """Names what its judgements depend on: model, prompts and the examples that it is measured by."""
        versions = [self._prompts.versions[name] for name in ("reader", "reader_passage")]
        return hashlib.sha256(repr((self._model.name, versions, _examples_text())).encode()).hexdigest()[:16]

    async def judge(self, question: str, before: str, chunks: Sequence[Chunk]) -> list[float | None]:
        """Log-odds that each passage states the answer; None for what was late, refused or unreadable.

        before: what was asked before, where the question may lean on it; empty without.
        """
        return await asyncio.gather(*(self._judge(question, before, chunk) for chunk in chunks))

    async def measure(self) -> CalibrationMap | None:
        """The gate's calibration of this model, from the shipped examples; None where its judgements are worth nothing
        or come too late. Raises GenerationUnavailable.
        """
        examples, odds, seconds = measuring_examples(), list[float](), list[float]()
        try:
            for some in _batches(examples, self.options.passages):
                started = perf_counter()
                odds += await asyncio.gather(
                    *(self._ask(example.question, "", example.chunk, MEASURING_SECONDS) for example in some)
                )
                seconds.append(perf_counter() - started)
        except GenerationRejected as error:
            logger.bind(model=self._model.name).warning("the model does not judge passages: {}", error)
            return None
        scores, answered = np.array(odds), np.array([example.answered for example in examples])
        quality, usual = measure_auroc(scores[answered], scores[~answered]), float(np.median(seconds))
        log = logger.bind(model=self._model.name, auroc=round(quality, 3), seconds=round(usual, 2))
        if quality < LEAST_AUROC:
            log.warning("the model does not tell whether a passage states the answer: it is not asked")
            return None
        if usual > self.options.seconds:
            log.warning("the model judges passages too slowly for READER_TIMEOUT: it is not asked")
            return None
        log.info("the model judges whether a passage states the answer")
        return fit_reader(scores[answered], scores[~answered])

    async def _judge(self, question: str, before: str, chunk: Chunk) -> float | None:
        key = question, before, chunk.id, hash(chunk.text)  # pages in view share an id
        if (known := self._judged.get(key)) is None:
            try:
                known = self._judged[key] = await self._ask(question, before, chunk, self.options.seconds)
            except GenerationError as error:
                logger.bind(model=self._model.name).warning("a passage was not judged: {}", error)
        return known

    async def _ask(self, question: str, before: str, chunk: Chunk, seconds: float) -> float:
        messages = [*self._opening, {"role": "user", "content": self._prompt(question, before, chunk)}]
        asked = self._prompts.conversation("reader", "reader_passage", messages=messages)
        odds, _ = await self._model.choose(asked, WORDS, seconds)
        return odds

    @cached_property
    def _opening(self) -> list[ChatMessage]:
        """What stands before every question: the rules and the examples."""
        messages = [{"role": "system", "content": self._prompts.template("reader")}]
        for example in shown_examples():
            messages.append({"role": "user", "content": self._prompt(example.question, "", example.chunk)})
            messages.append({"role": "assistant", "content": WORDS[0] if example.answered else WORDS[1]})
        return messages

    def _prompt(self, question: str, before: str, chunk: Chunk) -> str:
        """Marks are the same in every prompt, so that examples look like what is asked; within a text they are taken
        out.
        """
        texts = {
            "before": one_line(before),
            "question": one_line(question),
            "heading": prompt_heading(chunk),
            "passage": prompt_text(chunk.text, self.options.max_chunk_chars, chunk.layout),
        }
        return self._prompts.fill("reader_passage", **{name: _without_marks(text) for name, text in texts.items()})


class ReadingSearch:
    """A tenant's search whose first passages are judged by a reader, once its calibration is known."""

    def __init__(
        self,
        searcher: Searcher,
        reader: PassageReader,
        calibration: Callable[[], CalibrationMap | None],
        gate: EvidenceGate,
    ) -> None:
        """calibration: of the reader's model, None as long as it is not measured or where it is worthless."""
        self._searcher = searcher
        self._reader = reader
        self._calibration = calibration
        self._gate = gate

    async def search(
        self,
        question: str,
        *,
        rewrite: str | None = None,
        vector: Vector | None = None,
        where: Filter = EVERYTHING,
        explain: bool = False,
        context: Context = _NOTHING_SAID,
        page: PageText | None = None,
    ) -> Retrieval:
        """See `Searcher.search`; `degraded` names the reader where it is late or away."""
        found = await self._searcher.search(
            question, rewrite=rewrite, vector=vector, where=where, explain=explain, context=context, page=page
        )
        calibration = self._calibration()
        if calibration is None or found.confidence < HOPELESS:
            return found
        started = perf_counter()
        first = [candidate.chunk for candidate in found.candidates[: self._reader.options.passages]]
        before = "" if rewrite else " ".join((context.subject, *context.questions)).strip()
        with span("reader", {"yingda.passages": len(first)}):
            judgements = await self._reader.judge(rewrite or question, before, first)
        judged = apply_judgements(found, judgements, calibration, self._gate)
        return replace(judged, timings_ms=judged.timings_ms | {READER: milliseconds(started)})


@cache
def shown_examples() -> tuple[JudgedExample, ...]:
    """What the model is shown: by turns a question whose answer is missing, and one whose answer is stated."""
    return tuple(
        next(example for example in examples if example.answered == bool(place % 2))
        for place, examples in enumerate(_load_examples()[:SHOWN])
    )


@cache
def measuring_examples() -> tuple[JudgedExample, ...]:
    """What the model is measured by."""
    return tuple(example for examples in _load_examples()[SHOWN:] for example in examples)


@cache
def _load_examples() -> list[list[JudgedExample]]:
    """The questions about each of the shipped passages, of invented companies."""
    loaded = []
    for number, entry in enumerate(load_yaml(_examples_text())):
        title, *headings = entry["title"].split(" > ")
        document = DocumentMeta(f"example-{number}", title, title)
        chunk = Chunk(document.id, document, 0, entry["text"], tuple(headings))
        kinds = ("answered", True), ("near", False)
        loaded.append([JudgedExample(chunk, asked, answered) for key, answered in kinds for asked in entry[key]])
    return loaded


@cache
def _examples_text() -> str:
    return (files("agents") / "examples" / "reader.yaml").read_text(encoding="utf-8")


def _without_marks(text: str) -> str:
    for mark in _MARKS:
        text = text.replace(mark, "")
    return text


def _batches(examples: Sequence[JudgedExample], size: int) -> Iterator[Sequence[JudgedExample]]:
    return (examples[start : start + size] for start in range(0, len(examples), size))
