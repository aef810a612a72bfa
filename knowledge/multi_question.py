"""Merges the results of several questions in one message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from knowledge.types import Candidate, Form, FormKind, GateVerdict, RecallCounts, Retrieval

# Candidates of each of several questions: so many may be cited in an answer.
EACH = 3
_BEST_FIRST = (GateVerdict.PASS, GateVerdict.CLARIFY, GateVerdict.REFUSE)


def merge_results(found: Sequence[Retrieval]) -> Retrieval:
    """Merges results of one message, at least one, each judged by itself at the gate.

    Candidates are taken in turn, so that no question is crowded out by another. The verdict is the best of the results;
    no probability or verdict of a candidate changes. `parts` of the merged result are the results themselves.
    """
    first, *others = found
    if not others:
        return first
    idf = {term: weight for one in found for term, weight in zip(one.terms, one.idf, strict=True)}
    return replace(
        first,
        revision=min(one.revision for one in found),
        candidates=_merge_in_turn([one.candidates[:EACH] for one in found]),
        verdict=min((one.verdict for one in found), key=_BEST_FIRST.index),
        terms=tuple(idf),
        idf=tuple(idf.values()),
        degraded=tuple(dict.fromkeys(part for one in found for part in one.degraded)),
        timings_ms={stage: spent for one in found for stage, spent in one.timings_ms.items()},
        parts=tuple(found),
        forms=tuple(Form(one.question, FormKind.PART) for one in found),
        recalled=RecallCounts(
            sum(one.recalled.vector for one in found),
            sum(one.recalled.keyword for one in found),
            sum(one.recalled.fused for one in found),
        ),
        beyond=(),
        superseded=all(one.superseded for one in found),
    )


def _merge_in_turn(lists: Sequence[Sequence[Candidate]]) -> tuple[Candidate, ...]:
    """Returns each entry once, at its first place, with the better of its probabilities."""
    kept: dict[str, Candidate] = {}
    for candidate in chain.from_iterable(zip_longest(*lists)):
        if candidate is None:
            continue
        known = kept.get(candidate.chunk.entry)
        if known is None or candidate.probability > known.probability:
            kept[candidate.chunk.entry] = candidate
    return tuple(kept.values())
