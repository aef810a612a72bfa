from __future__ import annotations

from typing import Any

import pytest

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.evaluation.dataset import OFF_TOPIC, EvalSet
from knowledge.evaluation.report import build_set_report, contains_text
from knowledge.evaluation.runner import RecalledChunk
from knowledge.types import Chunk
from tests.knowledge.evaluation.results import candidate, chunk, result


def source_of(found: Chunk) -> str:
    return found.document.id


def question(key: str, *relevant: str, category: str = "", keywords: tuple[str, ...] = ()) -> LabelledQuestion:
    return LabelledQuestion(f"问{key}", bool(relevant), relevant, key, category, keywords)


DATA = EvalSet("set", (chunk("a"), chunk("b")), (), source_of)


def value(report: dict[str, Any], name: str) -> float:
    found: float = report[name]["value"]
    return found


def test_hits_count_once_for_each_source() -> None:
    hit = result(question("1", "b"), [candidate("a", 0.9), candidate("a", 0.9), candidate("b", 0.8)])
    assert hit.rank_sources(source_of) == ["a", "b"]
    report = build_set_report(DATA, [hit])
    assert (value(report, "hit@1"), value(report, "hit@5"), value(report, "mrr@10")) == (0.0, 1.0, 0.5)


def test_questions_of_one_id_count_each() -> None:
    found = [result(question("1", "a"), [candidate("a", 0.9)]), result(question("1", "b"), [candidate("a", 0.9)])]
    assert value(build_set_report(DATA, found), "hit@1") == 0.5


def test_what_a_set_does_not_have_is_null() -> None:
    report = build_set_report(DATA, [result(question("1", "a"), [candidate("a", 0.9)])])
    absent = ["context_recall", "per_category", "auroc_unanswerable", "auroc_out_of_domain"]
    absent += ["false_answer_unanswerable", "false_answer_out_of_domain"]
    assert [report[name] for name in absent] == [None] * 6
    report = build_set_report(DATA, [result(question("2"))])
    assert report["hit@1"] is report["answered_rate"] is report["auroc_unanswerable"] is None


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        ("answered", 1.0),
        ("partially_answered", 1.0),
        ("low_confidence", 1.0),
        ("clarify", 0.0),
        ("no_evidence", 0.0),
        ("cannot_answer", 0.0),
        ("handoff", 0.0),
    ],
)
def test_outcomes_that_answer_are_told_from_those_that_do_not(outcome: str, counted: float) -> None:
    asked = question("1", "a"), question("2"), question("3", category=OFF_TOPIC)
    report = build_set_report(DATA, [result(each, outcome=outcome) for each in asked])
    assert report["answered_rate"] == report["false_answer_unanswerable"] == counted
    assert report["false_answer_out_of_domain"] == counted


def test_auroc_goes_by_the_best_probability_and_nothing_found_is_zero() -> None:
    answerable = [result(question("1", "a"), [candidate("a", p), candidate("b", 0.1)]) for p in (0.9, 0.5)]
    unanswerable = [result(question("2"), [candidate("a", 0.5)]), result(question("3"))]
    report = build_set_report(DATA, [*answerable, *unanswerable, result(question("4", category=OFF_TOPIC))])
    assert report["auroc_unanswerable"] == round((2 + 1 + 0.5) / 4, 4)
    assert report["auroc_out_of_domain"] == 1.0


def test_categories_have_figures_of_their_own() -> None:
    found = [
        result(question("1", "a", category="faq"), [candidate("a", 0.9)]),
        result(question("2", "a", category="typo"), [candidate("b", 0.9)], outcome="clarify"),
        result(question("3", "a"), [candidate("b", 0.9)]),
    ]
    per_category = build_set_report(DATA, found)["per_category"]
    assert set(per_category) == {"faq", "typo"}
    assert [per_category[name]["questions"] for name in ("faq", "typo")] == [1, 1]
    assert [value(per_category[name], "hit@1") for name in ("faq", "typo")] == [1.0, 0.0]
    assert [per_category[name]["answered_rate"] for name in ("faq", "typo")] == [1.0, 0.0]


def test_context_recall_looks_for_the_keywords_in_the_first_five_fragments() -> None:
    fragments = [candidate(f"x{place}", 0.9) for place in range(4)]
    inside = [*fragments, candidate("a", 0.9, "首重\n 12 元，续重另计")]
    outside = [*fragments, candidate("b", 0.9), candidate("a", 0.9, "首重 12 元")]
    found = [
        result(question("1", "a", keywords=("首重12元", "没有这句")), inside),
        result(question("2", "a", keywords=("首重 12 元",)), outside),
        result(question("3", "a"), inside),
    ]
    assert value(build_set_report(DATA, found), "context_recall") == 0.25


def test_contained_text_may_differ_in_white_space_and_case() -> None:
    assert contains_text("请按 Reset\n键", "按reset 键")
    assert not contains_text("请按键", "按下键")


def test_a_baseline_is_ranked_by_itself() -> None:
    def found(*pairs: tuple[str, float]) -> list[RecalledChunk]:
        return [RecalledChunk(chunk(source), score) for source, score in pairs]

    answerable = [
        result(question("1", "a"), [candidate("a", 0.9)], baselines={"dense": found(("b", 0.7), ("a", 0.6))}),
        result(question("2", "b"), [candidate("a", 0.9)], baselines={"dense": found(("b", 0.9))}),
    ]
    unanswerable = [result(question("3"), [candidate("a", 0.1)], baselines={"dense": found(("a", 0.8))})]
    report = build_set_report(DATA, [*answerable, *unanswerable], baselines=True)
    assert set(report["baselines"]) == {"bm25", "dense", "rrf"}
    dense, bm25 = report["baselines"]["dense"], report["baselines"]["bm25"]
    assert (value(dense, "hit@1"), value(dense, "mrr@10"), dense["auroc_unanswerable"]) == (0.5, 0.75, 0.5)
    assert dense["auroc_out_of_domain"] is None
    assert (value(bm25, "hit@5"), bm25["auroc_unanswerable"]) == (0.0, 0.5)
    assert "baselines" not in build_set_report(DATA, [*answerable, *unanswerable])
