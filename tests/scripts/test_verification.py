from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.evaluation.runner import AgentReply, QuestionResult
from scripts.evaluate import main
from scripts.evaluation.corruptions import KINDS, Pool, corrupt_answer, reword_answer
from scripts.evaluation.verification import measure_corruptions, measure_counterfactuals
from tests.agents.support import candidate, retrieval

ANSWER = "YS-V8 支持 7 天无理由退货，运费由顾客承担。"
OTHERS = ("YS-W5 手表的表带可以快拆更换，颜色任选。", "空气净化器的滤网每 6 个月更换一次。")
POOL = Pool.from_texts([ANSWER, *OTHERS])


def result(answer: str, text: str, outcome: str = "answered") -> QuestionResult:
    return QuestionResult(
        LabelledQuestion("怎么退货", True), retrieval("怎么退货", candidate(text)), AgentReply(outcome, answer)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_changes_the_answer_and_the_same_seed_changes_it_alike(kind: str) -> None:
    spoiled = [corrupt_answer(kind, ANSWER, ANSWER, POOL, random.Random(3)) for _ in range(2)]
    assert spoiled[0] == spoiled[1] != ANSWER
    assert spoiled[0] is not None


def test_an_answer_without_a_place_for_a_fault_is_left_out() -> None:
    assert corrupt_answer("number", "可以退货。", "", POOL, random.Random(1)) is None


def test_a_rewording_keeps_the_numbers() -> None:
    for seed in range(20):
        assert any(form in reword_answer(ANSWER, random.Random(seed)) for form in ("7", "７", "七"))


def test_spoiled_answers_are_caught_and_harmless_ones_are_not() -> None:
    report = measure_corruptions([result(ANSWER, ANSWER)] * 5 + [result("抱歉", ANSWER, "no_evidence")], OTHERS, seed=1)
    assert report["answers"] == 5
    assert report["caught_by_kind"]["number"] == report["caught_by_kind"]["negation"] == 1.0
    assert report["false_flags"] == 0.0


def test_an_answer_that_does_not_hold_is_a_false_flag() -> None:
    assert measure_corruptions([result("保修期为 99 年。", ANSWER)], OTHERS)["false_flags"] == 1.0


ROWS = [
    {"id": "a", "question": "首都在哪", "docs": ["该国首都在河谷市。"], "answer": "海滨市", "fake_answer": "河谷市"},
    {"id": "b", "question": "首都在哪", "docs": ["该国首都在河谷市。"], "answer": "河谷市", "fake_answer": "海滨市"},
]


def test_a_pair_is_right_when_only_the_documents_are_believed() -> None:
    report = measure_counterfactuals(ROWS)
    assert (report["pairs_right"], report["wrong"]) == (0.5, ["b"])


def test_the_command_reports_counterfactual_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDER", "hash")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    rows, out = tmp_path / "rows.jsonl", tmp_path / "report.json"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    assert main(["--counterfactual", str(rows), "--json", str(out)]) == 0
    assert json.loads(out.read_text("utf-8"))["counterfactual"]["pairs"] == 2
