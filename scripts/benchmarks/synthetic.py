"""Knowledge bases of any size: clustered vectors, and term statistics that are those of the sample documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from knowledge.evaluation.dataset import load_set
from knowledge.filters import Filter
from knowledge.text import Analyzer
from knowledge.types import Chunk, DocumentMeta, IndexChange, IndexedChunk, Matrix

SAMPLES = Path(__file__).resolve().parents[2] / "knowledge" / "samples"
DIMENSION = 384
# Per chunk: what passages of 300 characters have.
TOKENS = 660
# Of these, terms that only a few chunks have: 20 new ones a chunk, as a vocabulary grows.
RARE_TOKENS = 10
CHUNKS_PER_CLUSTER, CHUNKS_PER_DOCUMENT, CATEGORIES = 50, 20, 20
# Lengths of what all vectors share and of what sets one apart from its cluster's centre, which has length 1: two
# chunks of a cluster then have a cosine of .78, strangers of .56, and queries see neighbours as close as e5 shows
# them.
COMMON, SPREAD = 1.6, 1.0


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A change that fills an empty index, and questions with their vectors and filters."""

    change: IndexChange
    questions: tuple[str, ...]
    vectors: Matrix
    filters: tuple[Filter, ...]


def build_synthetic(chunks: int, questions: int, analyzer: Analyzer) -> Synthetic:
    """A base of so many chunks and questions; the same arguments give the same base."""
    generator = np.random.default_rng(7)  # always the same base, because sizes and stores are compared
    samples = load_set(SAMPLES)
    counted = Counter(token for chunk in samples.chunks for token in analyzer.tokenize(chunk.indexed_text))
    text = "".join(chunk.text for chunk in samples.chunks)
    asked = [question.text for question in (*samples.answerable, *samples.unanswerable)]
    centres = _draw_directions(generator, max(chunks // CHUNKS_PER_CLUSTER, 1))
    common = _draw_directions(generator, 1)[0] * COMMON
    rare = tuple(f"稀有{number}" for number in range(2 * RARE_TOKENS * chunks))
    added = tuple(_generate_chunks(generator, chunks, centres, common, text, list(counted.values()), len(rare)))
    clusters = generator.integers(len(centres), size=questions)
    return Synthetic(
        IndexChange(1, added, new_terms=(*counted, *rare)),
        tuple(asked[number % len(asked)] for number in range(questions)),
        _draw_vectors(generator, centres[clusters], common),
        tuple(Filter(categories=frozenset({_name_category(number)})) for number in range(questions)),
    )


def generate_questions(folder: Path) -> Iterator[str]:
    """The answerable questions of a set, again and again, never twice in the words that a cache would know."""
    texts = [question.text for question in load_set(folder).answerable]
    for again in count():
        for text in texts:
            yield text + f"（第 {again} 次问）" * bool(again)


def _generate_chunks(
    generator: np.random.Generator,
    size: int,
    centres: Matrix,
    common: np.ndarray,
    text: str,
    frequencies: Sequence[int],
    rare: int,
) -> Iterator[IndexedChunk]:
    cumulative = np.cumsum(frequencies) / np.sum(frequencies)
    document = DocumentMeta("", "", "")
    for number in range(size):
        if number % CHUNKS_PER_DOCUMENT == 0:
            name = f"{number // CHUNKS_PER_DOCUMENT:07d}"
            document = DocumentMeta(name, f"{name}.md", name, _name_category(number // CHUNKS_PER_DOCUMENT))
        start = int(generator.integers(max(len(text) - 300, 1)))
        usual = np.searchsorted(cumulative, generator.random(TOKENS - RARE_TOKENS))
        unusual = len(frequencies) + generator.integers(rare, size=RARE_TOKENS)
        chunk = Chunk(
            f"c{number}", document, number % CHUNKS_PER_DOCUMENT, text[start : start + 300], entry=f"c{number}"
        )
        vector = _draw_vectors(generator, centres[number % len(centres)][np.newaxis], common)[0]
        yield IndexedChunk(chunk, vector, np.concatenate([usual, unusual]).astype(np.int32))


def _name_category(document: int) -> str:
    return f"分类{document % CATEGORIES}"


def _draw_directions(generator: np.random.Generator, rows: int) -> Matrix:
    return _normalise_rows(generator.standard_normal((rows, DIMENSION), dtype=np.float32))


def _draw_vectors(generator: np.random.Generator, centres: Matrix, common: np.ndarray) -> Matrix:
    return _normalise_rows(centres + common + SPREAD * _draw_directions(generator, len(centres)))


def _normalise_rows(matrix: Matrix) -> Matrix:
    normalised: Matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    return normalised
