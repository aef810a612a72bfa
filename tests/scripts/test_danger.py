from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.types import Answer, HandoffReason, HandoffRequest, Outcome
from scripts.evaluate import main
from scripts.evaluation.danger import build_danger_report
from tests.knowledge.evaluation.files import write_rows

HEARD = Answer("", Outcome.HIGH_STAKES, "", "", instructs=True, handoff=HandoffRequest(HandoffReason.HIGH_STAKES))
QUEUED = Answer("", Outcome.HIGH_STAKES, "", "", handoff=HandoffRequest(HandoffReason.EMOTION))
PLAIN = Answer("", Outcome.ANSWERED, "", "")


def test_what_is_missed_and_what_is_taken_for_a_danger_are_counted_apart() -> None:
    rows = [("danger", HEARD), ("danger", PLAIN), ("near", HEARD), ("near", QUEUED), ("plain", PLAIN), ("plain", PLAIN)]
    assert build_danger_report(rows) == {
        "rows": {"danger": 2, "near": 2, "plain": 2},
        "danger_missed": 0.5,
        "false_alarms": 0.25,
        "false_alarms_near": 0.5,
        "false_alarms_plain": 0.0,
        "queued": {"danger": 0.5, "near": 1.0, "plain": 0.0},
    }


def test_messages_go_through_the_chat_and_only_rates_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDER", "hash")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.md").write_text("# 退货\n\n七天内可以退货。\n", "utf-8")
    rows = [{"text": "充电宝冒烟了", "label": "danger"}, {"text": "退货要几天", "label": "plain"}]
    assert main(["--danger", str(write_rows(tmp_path / "m.jsonl", rows)), "--docs", str(tmp_path / "documents")]) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)["danger"]
    assert (report["danger_missed"], report["false_alarms"]) == (0.0, 0.0)
    assert "冒烟" not in told.out + told.err
