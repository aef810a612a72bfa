"""Measures curated answers: an entry for every question of a set's corpus, asked by its labelled questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.curated.agent import MIN_SIMILAR_PROBABILITY
from agents.curated.book import MOST, SURE, WORDS, Book, Likeness, list_wordings
from agents.curated.typical_meaning import compute_typical_meaning
from agents.types import CuratedEntry
from agents.understanding.reading import read
from knowledge.embeddings.base import Embedder
from knowledge.evaluation.dataset import EvalSet
from knowledge.evaluation.rows import read_rows
from knowledge.types import Matrix

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
PRECISIONS = (0.95, 0.9)
# Of the head: weight of nearness beside the margin. Set where bases with few entries, which nearness serves better,
# and those with many alike, which the margin does, lose the same; all else is fitted.
NEARNESS = 0.75
# Of Newton's method.
STEPS = 25


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what came of it: the entry, its probability (0 without one) and how long that took in ms."""

    entry: str
    probability: float
    likeness: Likeness | None
    milliseconds: float


async def measure_curated(data: EvalSet, pairs: Path | None, embedder: Embedder) -> dict[str, Any]:
    """Precision and coverage at each threshold; `unlisted`: how often an entry answers a question whose own entry is
    taken out; `fit`: the slope and bias that this set would give to the head.

    pairs: JSONL with `text1`, `text2` and `label`, None without.
    """
    worded: dict[str, list[str]] = {}
    only_questions = any(chunk.question for chunk in data.chunks)
    for chunk in data.chunks:
        if chunk.question or not only_questions:
            worded.setdefault(data.source_of(chunk), []).append(chunk.question or chunk.text)
    book = await _build_book(worded, embedder)
    questions = data.questions
    asked = await _ask_book(book, [question.text for question in questions], embedder)
    right = np.array([one.entry in question.documents for one, question in zip(asked, questions, strict=True)])
    places = {entry.id: place for place, entry in enumerate(book.entries)}
    without = [[places[id] for id in question.documents if id in places] for question in questions]
    bare = await _ask_book(book, [question.text for question in questions], embedder, without)
    times = [one.milliseconds for one in asked]
    report = {
        "entries": len(book),
        "questions": len(questions),
        "curve": _build_curve(np.array([one.probability for one in asked]), right),
        "unlisted": round(float(np.mean([one.probability >= MIN_SIMILAR_PROBABILITY for one in bare])), 4),
        "ms": {"p50": _round_figure(np.percentile(times, 50)), "p95": _round_figure(np.percentile(times, 95))},
        "fit": _fit_head(asked, right),
    }
    return report | ({"pairs": await _measure_pairs(pairs, embedder)} if pairs else {})


async def _build_book(worded: Mapping[str, Sequence[str]], embedder: Embedder) -> Book:
    entries = [CuratedEntry(id, id, tuple(wordings)) for id, wordings in worded.items()]
    wordings = list_wordings(entries)
    vectors = await embedder.embed_questions([read(wording.text).normalized_text for wording in wordings])
    return Book(entries, wordings, vectors, await compute_typical_meaning(embedder))


async def _ask_book(
    book: Book, texts: Sequence[str], embedder: Embedder, without: Sequence[Sequence[int]] | None = None
) -> list[Asked]:
    """without: places of entries that are left out, of each question; then no wording decides by itself."""
    normal = [read(text).normalized_text for text in texts]
    vectors: Matrix = await embedder.embed_questions(normal)
    asked = []
    for place, (text, vector) in enumerate(zip(normal, vectors, strict=True)):
        started = perf_counter()
        worded = book.find_by_wording(text) if without is None else None
        found = book.find_likeness(text, vector, without[place] if without is not None else ())
        milliseconds = (perf_counter() - started) * 1000
        entry = book.entries[book.wordings[found.wording].entry].id if found else ""
        probability = min(found.compute_probability(), MOST) if found else 0.0
        if worded is not None:
            entry, probability = worded.entry.id, SURE
        asked.append(Asked(entry, probability, found, milliseconds))
    return asked


async def _measure_pairs(path: Path, embedder: Embedder) -> dict[str, Any]:
    """Of pairs where the first text is answered by an entry for the second: how many mean the same, and how many of
    those that do are found.
    """
    rows = list(read_rows(path, text1=str, text2=str, label=int))
    book = await _build_book({row["text2"]: [row["text2"]] for row in rows}, embedder)
    asked = await _ask_book(book, [row["text1"] for row in rows], embedder)
    same = np.array([row["label"] == 1 for row in rows])
    met = np.array([one.entry == row["text2"] for one, row in zip(asked, rows, strict=True)])
    chances = np.where(met, [one.probability for one in asked], 0.0)
    curve = {
        str(threshold): {
            "precision": _round_figure(same[chances >= threshold].mean()) if (chances >= threshold).any() else None,
            "found": _round_figure((chances[same] >= threshold).mean()),
        }
        for threshold in THRESHOLDS
    }
    return {"pairs": len(rows), "entries": len(book), "curve": curve}


def _build_curve(chances: NDArray[np.floating], right: NDArray[np.bool_]) -> dict[str, Any]:
    """precision and coverage from each threshold on; `covered`: the most that can be answered at a precision."""
    at = {}
    for threshold in THRESHOLDS:
        answered = chances >= threshold
        precision = _round_figure(right[answered].mean()) if answered.any() else None
        at[str(threshold)] = {"precision": precision, "coverage": _round_figure(answered.mean())}
    ordered = right[np.argsort(-chances, kind="stable")]
    precisions = np.cumsum(ordered) / np.arange(1, len(ordered) + 1)
    covered = {
        str(precision): _round_figure(max(np.flatnonzero(precisions >= precision) + 1, default=0) / len(ordered))
        for precision in PRECISIONS
    }
    return {"hit@1": _round_figure(right.mean()), "at": at, "covered": covered, "threshold": MIN_SIMILAR_PROBABILITY}


def _fit_head(asked: Sequence[Asked], right: NDArray[np.bool_]) -> dict[str, float]:
    """Logistic regression of two parameters, by Newton's method."""
    found = np.array([one.likeness is not None for one in asked])
    near = np.array([_compute_evidence(one.likeness) for one in asked if one.likeness is not None])
    features, holds = np.stack([near, np.ones(len(near))], axis=1), right[found].astype(float)
    weights = np.zeros(2)
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-features @ weights))
        curvature = (features * (chances * (1 - chances))[:, None]).T @ features + 1e-6 * np.eye(2)
        weights += np.linalg.solve(curvature, features.T @ (holds - chances))
    return {"slope": _round_figure(weights[0]), "bias": _round_figure(weights[1])}


def _compute_evidence(found: Likeness) -> float:
    return found.margin + NEARNESS * (found.meaning + WORDS * found.words)


def _round_figure(value: Any) -> float:
    return round(float(value), 4)
