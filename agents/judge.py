"""Asks a language model for one token, 有 or 没有, and measures by shipped examples how far it can be trusted."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from time import perf_counter
from typing import Protocol

import numpy as np
from cachetools import LRUCache
from loguru import logger

from agents.errors import GenerationError, GenerationRejected
from agents.llm.chat import ChatMessage, WordPair
from agents.llm.writer import format_prompt_heading, format_prompt_text
from agents.prompt_library import Prompts, load_shipped_prompts
from agents.types import Usage
from knowledge.calibration.fit import measure_auroc
from knowledge.probability import CalibrationMap
from knowledge.reader import FIT_VERSION, fit_reader
from knowledge.types import Chunk, DocumentMeta
from knowledge.yaml_files import load_shipped_yaml

WORDS: WordPair = ("有", "没有")
# How many shipped passages the model sees, the others measure it.
SHOWN = 4
# Judgements of a tenant in memory.
REMEMBERED = 4096
# For one example, so that a slow model is found out and not only called late.
MEASURING_SECONDS = 180.0
_MARKS = ("<资料>", "</资料>", "<问题>", "</问题>", "<句子>", "</句子>")


class Chooser(Protocol):
    """A chat model that chooses between two words; see `ChatModel.choose`."""

    name: str

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """Raises GenerationError."""


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """`passages`: how many of the first are judged; `seconds`: for all of them, asked at once; `max_chunk_chars`: of
    one passage.
    """

    passages: int = 3
    seconds: float = 2.0
    max_chunk_chars: int = 800


@dataclass(frozen=True, slots=True)
class JudgedExample:
    """A passage, a question or claim, and whether the passage states it."""

    chunk: Chunk
    text: str
    holds: bool


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """What a judge is asked about."""

    # Name of its calibrations.
    scorer: str
    # rules and prompt: names of its prompts.
    rules: str
    prompt: str
    # right and wrong: keys of the shipped examples.
    right: str
    wrong: str
    # The AUROC below which its judgements do not count.
    least: float


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """`auroc`: on the shipped examples, None for a model that does not judge; `worthless`: it cannot tell.

    `calibration`: None where the model is not to be asked, because it cannot tell or is too slow.
    """

    auroc: float | None = None
    worthless: bool = False
    calibration: CalibrationMap | None = None


class Judge:
    """Judges passages by a model and remembers the judgements. Subclasses give their kind and fill in their prompt."""

    kind: JudgeKind

    def __init__(self, model: Chooser, options: ReaderOptions, prompts: Prompts | None = None) -> None:
        self.options = options
        self._model = model
        self._prompts = prompts or load_shipped_prompts()
        self._judged: LRUCache[tuple[str, str, str, int], float] = LRUCache(REMEMBERED)

    @property
    def title(self) -> str:
        """Of the model, for people."""
        return self._model.name

    @property
    def key(self) -> str:
        """Identifies what a calibration depends on: model, prompts, the examples and the way of fitting."""
        versions = [self._prompts.versions[name] for name in (self.kind.rules, self.kind.prompt)]
        examples = repr(load_examples(self.kind))
        return hashlib.sha256(repr((self._model.name, versions, examples, FIT_VERSION)).encode()).hexdigest()[:16]

    async def measure(self) -> JudgeQuality:
        """Measures the model by the shipped examples. Raises GenerationUnavailable."""
        examples, odds, seconds = list_measuring_examples(self.kind), list[float](), list[float]()
        try:
            for some in _split_batches(examples, self.options.passages):
                started = perf_counter()
                odds += await asyncio.gather(
                    *(
                        self._ask_model(self._build_fields(each.text, ""), each.chunk, MEASURING_SECONDS)
                        for each in some
                    )
                )
                seconds.append(perf_counter() - started)
        except GenerationRejected as error:
            logger.bind(model=self._model.name).warning("the model does not judge passages: {}", error)
            return JudgeQuality()
        scores, holds = np.array(odds), np.array([example.holds for example in examples])
        quality, usual = measure_auroc(scores[holds], scores[~holds]), float(np.median(seconds))
        log = logger.bind(model=self._model.name, kind=self.kind.scorer, auroc=round(quality, 3), seconds=usual)
        if quality < self.kind.least:
            log.warning("the model does not tell what a passage states: its judgements do not count")
            return JudgeQuality(quality, worthless=True)
        if usual > self.options.seconds:
            log.warning("the model judges too slowly for READER_TIMEOUT: it is not asked")
            return JudgeQuality(quality)
        log.info("the model judges what a passage states")
        calibration = fit_reader(scores[holds], scores[~holds], self.kind.scorer)
        return JudgeQuality(quality, calibration=calibration)

    def _build_fields(self, text: str, context: str) -> Mapping[str, str]:
        """Returns the fields of the prompt. text: what is judged; context: what it may refer to."""
        raise NotImplementedError

    async def _compute_odds(self, text: str, context: str, chunk: Chunk) -> float | None:
        """Returns the log-odds that the passage states the text; None for a judgement that was late, refused or
        unreadable.
        """
        key = text, context, chunk.id, hash(chunk.text)  # pages in view share an id
        if (known := self._judged.get(key)) is None:
            try:
                known = self._judged[key] = await self._ask_model(
                    self._build_fields(text, context), chunk, self.options.seconds
                )
            except GenerationError as error:
                logger.bind(model=self._model.name).warning("a passage was not judged: {}", error)
        return known

    async def _ask_model(self, fields: Mapping[str, str], chunk: Chunk, seconds: float) -> float:
        messages = [*self._opening_messages, {"role": "user", "content": self._build_prompt(fields, chunk)}]
        prompt = self._prompts.build_messages(self.kind.rules, self.kind.prompt, messages=messages)
        odds, _ = await self._model.choose(prompt, WORDS, seconds)
        return odds

    @cached_property
    def _opening_messages(self) -> list[ChatMessage]:
        """The messages before every question: the rules and the examples."""
        messages = [{"role": "system", "content": self._prompts.get_template(self.kind.rules)}]
        for example in list_shown_examples(self.kind):
            messages.append(
                {"role": "user", "content": self._build_prompt(self._build_fields(example.text, ""), example.chunk)}
            )
            messages.append({"role": "assistant", "content": WORDS[0] if example.holds else WORDS[1]})
        return messages

    def _build_prompt(self, fields: Mapping[str, str], chunk: Chunk) -> str:
        """Fills in the prompt. Its marks are the same in every prompt, and are removed from the texts."""
        passage = format_prompt_text(chunk.text, self.options.max_chunk_chars, chunk.layout)
        texts = {**fields, "heading": format_prompt_heading(chunk), "passage": passage}
        return self._prompts.fill(self.kind.prompt, **{name: _remove_marks(text) for name, text in texts.items()})


def list_shown_examples(kind: JudgeKind) -> tuple[JudgedExample, ...]:
    """Returns the examples that the model is shown: one that is missing and one that is stated, in turn."""
    return tuple(
        next(example for example in examples if example.holds == bool(number % 2))
        for number, examples in enumerate(load_examples(kind)[:SHOWN])
    )


def list_measuring_examples(kind: JudgeKind) -> tuple[JudgedExample, ...]:
    """Returns the examples that the model is measured by."""
    return tuple(example for examples in load_examples(kind)[SHOWN:] for example in examples)


@cache
def load_examples(kind: JudgeKind) -> tuple[tuple[JudgedExample, ...], ...]:
    """Returns the shipped examples, grouped by passage; the companies are invented."""
    loaded = []
    for number, entry in enumerate(load_shipped_yaml("agents", "examples/reader.yaml")):
        title, *headings = entry["title"].split(" > ")
        document = DocumentMeta(f"example-{number}", title, title)
        chunk = Chunk(document.id, document, 0, entry["text"], tuple(headings))
        kinds = (kind.right, True), (kind.wrong, False)
        loaded.append(tuple(JudgedExample(chunk, text, holds) for name, holds in kinds for text in entry[name]))
    return tuple(loaded)


def _remove_marks(text: str) -> str:
    for mark in _MARKS:
        text = text.replace(mark, "")
    return text


def _split_batches(examples: Sequence[JudgedExample], size: int) -> Iterator[Sequence[JudgedExample]]:
    return (examples[start : start + size] for start in range(0, len(examples), size))
