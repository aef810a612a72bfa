from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.evaluate import main
from scripts.evaluation.routing import build_decision_report
from tests.knowledge.evaluation.files import corpus_set, write_rows


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDER", "hash")


def routing(capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]], *bases: Path) -> dict[str, Any]:
    write_rows(Path("messages.jsonl"), rows)
    assert main(["--routing", "messages.jsonl", *(word for base in bases for word in ("--kb", str(base)))]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)["routing"]
    return report


def test_labelled_messages_give_a_figure_per_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": "1", "text": "转人工", "label": "human_handoff"},
        {"id": "2", "text": "你好", "label": "chitchat"},
        {"id": "3", "text": "转人工", "label": "chitchat"},
    ]
    report = routing(capsys, rows, corpus_set(tmp_path / "a"), corpus_set(tmp_path / "b"))
    assert report["per_class"] == {
        "chitchat": {"precision": 1.0, "recall": 0.5, "f1": 0.6667, "support": 2},
        "human_handoff": {"precision": 0.5, "recall": 1.0, "f1": 0.6667, "support": 1},
    }
    assert (report["macro_f1"], report["tiers"]) == (0.6667, {"rules": 1.0})
    assert report["latency_ms"].keys() == report["embedding_ms"].keys() == {"p50", "p95"}
    assert report["overhead_over_embedding"] > 0


def test_labels_may_be_intents_with_anger_beside_danger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": "1", "text": "转人工", "label": "human_request"},
        {"id": "2", "text": "你好", "label": "chitchat"},
        {"id": "3", "text": "转人工", "label": "complaint"},
    ]
    report = routing(capsys, rows, corpus_set(tmp_path / "a"))
    assert {label: figures["f1"] for label, figures in report["per_class"].items()} == {
        "chitchat": 1.0,
        "high_stakes": 0.0,
        "human_request": 0.6667,
    }


def test_messages_with_several_intents_count_each_and_wrong_routes_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phone = {"kind": "phone", "text": "13800001111"}
    rows: list[dict[str, Any]] = [
        {"id": "1", "text": "你好", "intents": ["chitchat"]},
        {"id": "2", "text": "？？？", "intents": ["irrelevant"]},
        {"id": "3", "text": "转人工", "intents": ["ticket"], "entities": [phone]},
        {"id": "4", "text": "13800001111", "intents": ["business_query", "knowledge_qa"], "entities": [phone]},
    ]
    report = routing(capsys, rows, corpus_set(tmp_path / "a"))
    assert report["wrong_routes"] == ["3"]
    assert (report["over_fires"], report["missed_intents"], report["off_topic_kind_accuracy"]) == (0, 1, 0.5)
    assert report["per_class"]["off_topic"]["f1"] == 1.0
    assert report["entity"] == {"precision": 1.0, "recall": 0.5, "f1": 0.6667, "support": 2}


def test_routing_needs_a_knowledge_base(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--routing", "messages.jsonl"])
    assert "--kb" in capsys.readouterr().err


def test_intents_are_labels_too_and_a_row_without_any_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = routing(capsys, [{"text": "转人工", "intent": "human_request"}], corpus_set(tmp_path / "a"))
    assert report["macro_f1"] == 1.0
    write_rows(Path("messages.jsonl"), [{"text": "转人工"}])
    assert main(["--routing", "messages.jsonl", "--kb", str(tmp_path / "a")]) == 1
    assert "label" in capsys.readouterr().err


def test_the_whole_product_is_measured_by_who_speaks_first() -> None:
    rows: list[dict[str, Any]] = [
        {"label": "complaint"},
        {"label": "irrelevant"},
        {"intents": ["knowledge_qa", "ticket"]},
    ]
    report = build_decision_report(rows, [("high_stakes", "knowledge_qa"), ("out_of_scope",), ("knowledge_qa",)])
    assert (report["accuracy"], report["macro_f1"]) == (0.6667, 0.6667)
    assert report["confused"] == {"ticket -> knowledge_qa": 1}
