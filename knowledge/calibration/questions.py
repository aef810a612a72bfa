"""Questions for calibration without labels: off-topic ones that ship with the project, and ones made from the base."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from knowledge.types import Chunk

_SENTENCE = re.compile(r"[。！？；\n!?;]+")
_CLAUSE = re.compile(r"[，。！？；：、\s,.!?;:（）()《》「」“”]+")
_TAILS = (
    "是什么",
    "怎么办",
    "吗",
    "怎么回事",
    "为什么",
    "怎么弄",
    "？",
    "是多少",
    "有哪些",
    "是什么时候",
    "呢",
    "怎么样",
)
QUESTIONS = 400
_KEPT_WORDS = 0.6
_MIN_CHARS, _MAX_CLAUSE, _MAX_SENTENCE = 6, 30, 60


@cache
def load_off_topic_questions() -> tuple[str, ...]:
    """Returns small talk and general questions that no company's documents answer."""
    return _load_lines("off_topic.txt")


@cache
def load_english_off_topic_questions() -> tuple[str, ...]:
    """Returns such questions in English."""
    return _load_lines("off_topic_english.txt")


def _load_lines(name: str) -> tuple[str, ...]:
    """Reads the non-empty lines of a text file that ships with the package."""
    text = (files("knowledge.calibration") / name).read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def make_pseudo_questions(chunks: Sequence[Chunk], count: int = QUESTIONS, seed: int = 7) -> list[str]:
    """Makes questions that the base answers, from its own chunks; the same base always gives the same questions.

    They come in turn from a clause and from a sentence of a random chunk: 60 % of its words in their order, and a
    question ending. A FAQ entry gives its question instead. Clauses are harder than what customers ask, sentences
    easier; half of each comes near to real questions on FAQ, case and passage bases alike.

    Args:
        chunks: The chunks of the base.
        count: How many questions to make.
        seed: Seed of the random choice.
    """
    import jieba

    generator = random.Random(seed)
    order = generator.sample(range(len(chunks)), len(chunks))
    questions: list[str] = []
    for attempt in range(20 * count if chunks else 0):
        if len(questions) == count:
            break
        chunk = chunks[order[attempt % len(order)]]
        words = [
            word for word in jieba.lcut(_pick_part(chunk, generator, whole=bool(attempt % 2))) if re.search(r"\w", word)
        ]
        if words:
            kept = min(len(words), max(2, round(len(words) * _KEPT_WORDS)))
            picked = sorted(generator.sample(range(len(words)), kept))
            questions.append("".join(words[index] for index in picked) + generator.choice(_TAILS))
    return questions


def _pick_part(chunk: Chunk, generator: random.Random, whole: bool) -> str:
    """Picks a random clause of a chunk, or a sentence if `whole`."""
    text = chunk.question or chunk.text
    boundary, longest = (_SENTENCE, _MAX_SENTENCE) if whole else (_CLAUSE, _MAX_CLAUSE)
    parts = [part for part in (piece.strip() for piece in boundary.split(text)) if _MIN_CHARS <= len(part) <= longest]
    return generator.choice(parts) if parts else text[:longest]
