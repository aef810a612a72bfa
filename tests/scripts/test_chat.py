from __future__ import annotations

from pathlib import Path

import pytest

from scripts import ingest
from scripts.chat import main


@pytest.fixture(autouse=True)
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"DATA_DIR": "data", "EMBEDDER": "hash", "VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false"}
    monkeypatch.chdir(tmp_path)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "退款.md").write_text("# 退款时间\n\n退款在验货后五个工作日内原路退回。\n", "utf-8")
    assert ingest.main(["退款.md"]) == 0


def test_a_trace_shows_who_bid_and_who_was_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--trace", "退款在验货后几个工作日内原路退回"]) == 0
    shown = capsys.readouterr().out
    steps = [
        shown.index(step)
        for step in ("[决定] knowledge_qa: found", "[候选]", "[门槛] pass", "应答：", "[结果] answered")
    ]
    assert steps == sorted(steps)
    assert "looks_up knowledge_qa" in shown


def test_without_a_trace_the_reply_and_its_sources_are_all(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["退款在验货后几个工作日内原路退回"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("应答：") and lines[-1].strip().startswith("[1] 退款时间")
    assert not [line for line in lines if "[决定]" in line or "[门槛]" in line]
