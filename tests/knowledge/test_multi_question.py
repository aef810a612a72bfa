"""Results for the several questions of one message, side by side."""

from __future__ import annotations

from dataclasses import replace

from knowledge.multi_question import EACH, merge_results
from knowledge.types import Candidate, Chunk, DocumentMeta, GateVerdict, Retrieval


def found(
    question: str, *probabilities: float, names: str = "abcdefgh", verdict: GateVerdict = GateVerdict.PASS
) -> Retrieval:
    candidates = tuple(_candidate(name, probability) for name, probability in zip(names, probabilities, strict=False))
    return Retrieval(question, 4, candidates, verdict, ("t", question), (1.0, 2.0), ("embedding",))


def _candidate(name: str, probability: float) -> Candidate:
    chunk = Chunk(name, DocumentMeta(name, f"{name}.md", name), 0, name, entry=name)
    verdict = GateVerdict.PASS if probability >= 0.6 else GateVerdict.REFUSE
    return Candidate(chunk, 1, 1, 0.8, 5.0, 0.01, "test", 0.8, probability, verdict)


def test_one_result_stays_as_it_is() -> None:
    one = found("运费", 0.9)
    assert merge_results([one]) is one


def test_candidates_come_in_turn_each_once_and_with_its_better_probability() -> None:
    both = merge_results([found("运费", 0.9, 0.7, names="ab"), found("多久", 0.8, 0.75, names="cb")])
    assert [(c.chunk.id, c.probability) for c in both.candidates] == [("a", 0.9), ("c", 0.8), ("b", 0.75)]
    assert (both.confidence, both.degraded) == (0.9, ("embedding",))
    assert dict(zip(both.terms, both.idf, strict=True)) == {"t": 1.0, "运费": 2.0, "多久": 2.0}


def test_a_question_with_many_fragments_leaves_room_for_the_other() -> None:
    both = merge_results([found("运费", *[0.9] * 8), found("多久", 0.7, names="z")])
    assert len(both.candidates) == EACH + 1 and both.candidates[1].chunk.id == "z"


def test_what_no_question_passes_is_not_answered_from() -> None:
    refused = found("运费", 0.3, verdict=GateVerdict.REFUSE)
    asked_back = replace(found("多久", 0.5, names="z"), verdict=GateVerdict.CLARIFY)
    assert merge_results([refused, asked_back]).verdict is GateVerdict.CLARIFY
    mixed = merge_results([refused, found("多久", 0.8, names="z")])
    assert mixed.verdict is GateVerdict.PASS and [c.chunk.id for c in mixed.passing_candidates] == ["z"]
