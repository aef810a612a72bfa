"""Scores of English questions on Chinese documents. Pure.

Embedders put languages apart: an English question is less near to every Chinese passage than a Chinese one would be,
so what it lacks is added. Its words in Chinese, looked up one by one, are a second witness that errs in other ways: a
Chinese passage counts with the mean of both. The better of both refuses two fewer of 80 that are answered, and one
fewer of 120 that are about nothing in the base.
"""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.english import is_chinese, is_english
from knowledge.probability import CalibrationMap
from knowledge.rerankers.base import Query
from knowledge.types import Chunk


def has_english(queries: Sequence[Query]) -> bool:
    """Returns whether any query is in English or is the translation of an English one."""
    return any(query.translates is not None or is_english(query.text) for query in queries)


def map_to_chinese_scale(
    queries: Sequence[Query], scores: Sequence[Sequence[float]], chunks: Sequence[Chunk], calibration: CalibrationMap
) -> list[list[float]]:
    """Maps the scores of English queries to the scale of Chinese ones.

    A translation shares its scores on Chinese chunks with the query that it translates. Scores of English chunks, and
    everything where the calibration knows nothing of English, stay as they are.

    Args:
        queries: The queries; a translation directly follows its original.
        scores: The reranker's scores, shape (queries, chunks).
        chunks: The chunks that were scored.
        calibration: The calibration that holds what English queries lack.

    Returns:
        The scores in the same shape.
    """
    if not calibration.english:
        return [list(own) for own in scores]
    chinese = [is_chinese(chunk.text) for chunk in chunks]
    raised = [
        [score + calibration.english * here for score, here in zip(own, chinese, strict=True)]
        if is_english(query.text)
        else list(own)
        for query, own in zip(queries, scores, strict=True)
    ]
    read: dict[str, list[float]] = {}
    for query, translated in zip(queries, raised, strict=True):
        read[query.text] = translated
        if query.translates is None:
            continue
        original = read[query.translates]
        for column, here in enumerate(chinese):
            if here:
                original[column] = translated[column] = (original[column] + translated[column]) / 2
    return raised
