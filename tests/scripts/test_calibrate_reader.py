"""The company's own model labels questions about its base."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from app.search.calibration_set import load_calibration_set
from app.settings import Settings, load_settings
from scripts.calibrate import _parse_arguments, main
from scripts.evaluation.reader_verdicts import judge_base
from scripts.scripted_llm import ScriptedLLM
from tests.app.search.examiner import Examiner


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDER", "hash")
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.md").write_text(
            f"# 规定{number}\n\n第{number}条规定：退款在{number + 2}天之内到账。", "utf-8"
        )
    return folder


def settings_of(llm: ScriptedLLM) -> Settings:
    changes = {"llm_base_url": llm.base_url, "llm_api_key": SecretStr("key"), "reader_enabled": True}
    return load_settings().model_copy(update=changes | {"reader_timeout": 20.0})


async def test_verdicts_are_written_for_the_calibration_set(
    tmp_path: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "verdicts.jsonl"
    options = _parse_arguments(["--reader", "--docs", str(documents), "--out", str(out), "--yes"])
    async with Examiner() as llm:
        assert await judge_base(settings_of(llm), options) == 0
    captured = capsys.readouterr()
    assert "预计还要约" in captured.err and "不算费用" in captured.err
    assert "有答案的问题 30 个，没有的 30 个" in captured.out and f"CALIBRATION_SET={out}" in captured.out
    labelled = load_calibration_set(out)
    assert sum(question.answerable for question in labelled) == 30
    assert all(("没写" not in question.text) == question.answerable for question in labelled)


async def test_nothing_more_is_asked_before_the_estimate_is_agreed_to(
    tmp_path: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "verdicts.jsonl"
    options = _parse_arguments(["--reader", "--docs", str(documents), "--out", str(out)])
    async with Examiner() as llm:
        assert await judge_base(settings_of(llm), options) == 0
        assert llm.requests == 2
    assert "请加 --yes" in capsys.readouterr().err
    assert not out.exists()


def test_without_a_model_it_says_what_to_set(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--reader", "--docs", str(documents), "--out", "verdicts.jsonl"]) == 1
    assert "READER_ENABLED" in capsys.readouterr().err
    assert main(["--reader"]) == 1
    assert "--out" in capsys.readouterr().err
