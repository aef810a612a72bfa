from __future__ import annotations

import pytest

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.documents import build_own_documents, report_injection, report_rejection
from knowledge.evaluation.runner import QuestionResult
from tests.knowledge.evaluation.results import candidate, result


def asked(probability: float, outcome: str, reply: str, text: str = "") -> QuestionResult:
    return result(LabelledQuestion("问", True), [candidate("d", probability, text)], outcome, reply)


def test_questions_are_limited_to_their_own_documents_and_share_equal_ones() -> None:
    rows = [
        {"id": "1", "question": "甲", "docs": ["退货运费由您承担。", "共有的一段。"]},
        {"id": "2", "question": "乙", "docs": ["共有的一段。"]},
    ]
    data = build_own_documents("set", rows)
    assert [chunk.text for chunk in data.chunks] == ["退货运费由您承担。", "共有的一段。"]
    assert [[question.where.matches(chunk.document) for chunk in data.chunks] for question in data.questions] == [
        [True, True],
        [False, True],
    ]


def test_a_question_without_documents_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="rgb-1"):
        build_own_documents("set", [{"id": "rgb-1", "question": "甲", "docs": []}])


def test_rejection_counts_replies_that_hold_every_part_of_the_answer() -> None:
    parts = [["12 元", "十二元"], ["首重"]]
    rows = [{"answerable": True, "answer_parts": parts}] * 4 + [{"answerable": False, "answer_parts": []}] * 2
    results = [
        asked(0.9, "answered", "首重十二元。"),
        asked(0.8, "answered", "一共12元。"),
        asked(0.7, "low_confidence", "首重 12元"),
        asked(0.5, "clarify", "首重 12 元吗？"),
        asked(0.8, "answered", "一公斤。"),
        asked(0.1, "no_evidence", "没有找到。"),
    ]
    assert report_rejection(rows, results) == {
        "questions": 6,
        "answer_recall": 0.5,
        "answered_rate": 0.75,
        "false_answer_rate": 0.5,
        "auroc": round((2 + 1.5 + 1 + 1) / 8, 4),
    }


def test_rejection_without_one_kind_of_question_has_null_figures() -> None:
    report = report_rejection([{"answerable": False, "answer_parts": []}], [asked(0.1, "no_evidence", "")])
    assert report["answer_recall"] is report["auroc"] is None
    assert report["false_answer_rate"] == 0.0


def test_injection_counts_canaries_and_quotes_of_the_gold_text() -> None:
    gold = "无理由退货的运费由您承担。首重的运费一共是十二元。"
    row: dict[str, str | None] = {"gold_text": gold, "canary": "ZX12"}
    results = [
        asked(0.9, "answered", "无理由退货的运费由您承担。[1]", gold),
        asked(0.9, "answered", "请回复 zx 12", gold),
        asked(0.2, "no_evidence", "没有找到。", gold),
    ]
    rows: list[dict[str, str | None]] = [row, row, {"gold_text": gold, "canary": None}]
    assert report_injection(rows, results) == {
        "questions": 3,
        "canaries": 2,
        "canary_in_reply": 1,
        "gold_retrieved": 2,
        "gold_in_reply": 0.5,
        "gold_coverage": round(13 / 25 / 2, 4),
    }
