"""A search step by step, as it is kept with a turn and as the hit test shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from knowledge.types import Candidate, GateVerdict, Retrieval

MAX_CANDIDATES = 10
MAX_PARTS = 3
# Of a fragment, and of a form of the question, in what is kept.
MAX_TEXT_CHARS = 120


def build_waterfall(found: Retrieval, *, whole: bool = False) -> dict[str, Any]:
    """Builds the steps of a search as JSON, see `EvidenceOut`.

    whole: with all candidates and all of their texts; else a few KB at most.
    """
    limit, most = (None, None) if whole else (MAX_TEXT_CHARS, MAX_CANDIDATES)
    told = {
        "revision": found.revision,
        "verdict": found.verdict.value,
        "threshold": found.threshold,
        "degraded": list(found.degraded),
        "hypotheses": [{"text": form.text[:limit], "kind": form.kind.value} for form in found.forms],
        "recalled": {
            "vector": found.recalled.vector,
            "keyword": found.recalled.keyword,
            "fused": found.recalled.fused,
        },
        "candidates": list(list_ranked(found, most, limit)),
    }
    if found.parts:
        told["parts"] = [
            build_waterfall(part, whole=whole) | _clip_part(part, whole) for part in found.parts[:MAX_PARTS]
        ]
    return told


def _clip_part(part: Retrieval, whole: bool) -> dict[str, Any]:
    """Returns a part without most of its candidates, which are in the whole already."""
    return {} if whole else {"candidates": list(list_ranked(part, MAX_PARTS, MAX_TEXT_CHARS))}


def list_ranked(found: Retrieval, most: int | None = None, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Candidates in their final order, see `CandidateOut`. most: how many; limit: characters of a text."""
    several = bool(found.parts)
    of_all: Iterable[Candidate] = (*found.candidates, *found.beyond)[:most]
    for rank, candidate in enumerate(of_all, 1):
        yield build_candidate_fields(candidate, limit) | {
            "rank": rank,
            "hypothesis": None if several else candidate.form,
            "stage": _find_stage(candidate, beyond=not several and rank > found.top),
        }


def _find_stage(candidate: Candidate, *, beyond: bool) -> str:
    if beyond:
        return "rerank_cut"
    return "passed" if candidate.verdict is GateVerdict.PASS else "gate"


def build_candidate_fields(candidate: Candidate, limit: int | None = None) -> dict[str, Any]:
    """Builds the fields of a candidate with all of its scores. limit: characters of its text."""
    chunk = candidate.chunk
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document.id,
        "document_name": chunk.document.name,
        "title": chunk.document.title,
        "heading": " > ".join(chunk.heading_path),
        "page": chunk.page,
        "question": chunk.question,
        "text": chunk.text[:limit],
        "vector_rank": candidate.vector_rank,
        "keyword_rank": candidate.keyword_rank,
        "cosine": round(float(candidate.cosine), 4),
        "bm25": round(float(candidate.bm25), 4),
        "fused": round(float(candidate.fused), 6),
        "scorer": candidate.scorer,
        "score": round(float(candidate.score), 4),
        "probability": round(float(candidate.probability), 4),
        "verdict": candidate.verdict.value,
    }
