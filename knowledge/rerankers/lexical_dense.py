"""Similarity, lexical coverage and fusion together: the default where no cross-encoder runs.

Plain cosine after fusion orders worse than fusion itself, since it forgets what BM25 knew. What each part adds is
measured in docs: 评测.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from knowledge.codes import find_codes
from knowledge.index import Snapshot
from knowledge.numbering import CANONICAL, normalize_numbers
from knowledge.rerankers.base import Query, Reranker
from knowledge.rerankers.evidence import FULL_MATCH, HUBNESS, measure_coverage, measure_similarity
from knowledge.text import fold
from knowledge.types import Chunk

LEXICAL_WEIGHT = 0.22
# A fusion score is at most 1 / 61: the two recalls agreeing on a first rank counts 0.03 on the scale of cosines.
FUSION_WEIGHT = 2.0
# A FAQ entry must be nearer than a passage to come first: it is short, has several wordings to match with, and is
# answered as a whole. Hit@1 on the sample base, which mixes both: .81 without, .90 with; bases of one kind do not
# care.
CURATED_HANDICAP = 0.03
# For every model number or error code of the question that the chunk does not hold: what another model's manual says
# is no answer, however near its words are.
OTHER_MODEL_HANDICAP = 0.05
# For a chunk that is not what the question names by its number (第十二条): many others refer to it by that number.
OTHER_ARTICLE_HANDICAP = 0.2
# S3 and A4 are written for many things.
MIN_MODEL_CHARS = 3
_NUMBERED = re.compile(CANONICAL)


class LexicalDenseReranker(Reranker):
    """similarity + LEXICAL_WEIGHT x coverage + FUSION_WEIGHT x fusion score, less the handicaps."""

    kind = "lexical_dense"
    compares_vectors = True
    constants = (
        FULL_MATCH,
        HUBNESS,
        LEXICAL_WEIGHT,
        FUSION_WEIGHT,
        CURATED_HANDICAP,
        OTHER_MODEL_HANDICAP,
        OTHER_ARTICLE_HANDICAP,
    )

    async def _score_chunks(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        assert query.vector is not None
        ids = list(fused)
        scores = measure_similarity(query.vector, snapshot, ids) + LEXICAL_WEIGHT * measure_coverage(
            query.terms, snapshot, ids
        )
        curated = np.fromiter((snapshot.get_chunk(chunk_id).question is not None for chunk_id in ids), np.float32)
        scores -= CURATED_HANDICAP * curated
        for model in _find_models(query.text):
            scores -= OTHER_MODEL_HANDICAP * (np.asarray(snapshot.score_bm25([model], ids)) <= 0)
        if numbered := {term for term in query.terms if _NUMBERED.fullmatch(term)}:
            others = [numbered.isdisjoint(_find_numbers(snapshot.get_chunk(chunk_id))) for chunk_id in ids]
            scores -= OTHER_ARTICLE_HANDICAP * np.asarray(others)
        return (scores + FUSION_WEIGHT * np.fromiter(fused.values(), np.float32)).tolist()  # type: ignore[no-any-return]


def _find_numbers(chunk: Chunk) -> set[str]:
    """Returns the numbers of a chunk in its headings and at the beginnings of its lines: 第3章, 第12条."""
    found = (
        _NUMBERED.match(normalize_numbers(fold(part)).lstrip())
        for part in (*chunk.heading_path, *chunk.text.split("\n"))
    )
    return {match[0] for match in found if match}


def _find_models(question: str) -> set[str]:
    """Returns the codes that a question names, in their one form: YS-W5, E03, but not S3."""
    return {code.form for code in find_codes(question) if code.has_digit and len(code.form) >= MIN_MODEL_CHARS}
