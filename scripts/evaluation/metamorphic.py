"""Whether a question finds the same, asked in another manner: politely, in Traditional characters, with an emoji ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from agents.understanding.normalise import normalise_text
from knowledge.evaluation.dataset import EvalSet
from knowledge.retriever import Retriever

_MODEL_SPACE = re.compile(r"(?<=[0-9]) (?=[A-Z][a-z])")
_PUNCTUATION = re.compile(r"[，。！？；：、,!?;:~～…]+")


@cache
def _load_converter() -> Callable[[str], str]:
    from opencc import OpenCC

    convert: Callable[[str], str] = OpenCC("s2t").convert
    return convert


# Name of a manner -> the question in it, with the same meaning.
MANNERS: Mapping[str, Callable[[str], str]] = {
    "想问下": lambda text: f"想问下{text}",
    "你好": lambda text: f"你好，{text}",
    "谢谢": lambda text: f"{text}谢谢",
    "no punctuation": lambda text: _PUNCTUATION.sub("", text),
    "traditional": lambda text: _load_converter()(text),
    "emoji": lambda text: f"{text}😭",
    "no spaces in models": lambda text: _MODEL_SPACE.sub("", text),
    "lower case": str.lower,
}


async def measure_manners(retriever: Retriever, data: EvalSet, every: int = 1) -> dict[str, dict[str, float]]:
    """Per manner: `same`, the share of questions whose best source stays the same, how many of them it `changed`, and
    `same_of_changed`, the share among those.

    every: of the answerable questions one in so many.
    """
    questions = [question.text for question in data.answerable][::every]
    plain = {text: await _find_best_source(retriever, data, text) for text in questions}
    report = {}
    for name, manner in MANNERS.items():
        changed = [text for text in questions if manner(text) != text]
        lost = [text for text in changed if await _find_best_source(retriever, data, manner(text)) != plain[text]]
        report[name] = {
            "changed": len(changed),
            "same": round(1 - len(lost) / max(len(questions), 1), 4),
            "same_of_changed": round(1 - len(lost) / max(len(changed), 1), 4),
        }
    return report


async def _find_best_source(retriever: Retriever, data: EvalSet, text: str) -> str | None:
    """The source of the first passage, searched as the chat does."""
    found = await retriever.search(normalise_text(text))
    return data.source_of(found.candidates[0].chunk) if found.candidates else None
