from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts import calibrate
from scripts.calibrate import main
from tests.knowledge.evaluation.files import OUT_OF_DOMAIN, QUERIES, corpus_set, write_rows

# It asks for no amount: beside the gate, what asks for one and finds none is not answered either.
UNANSWERABLE = ({"id": "u1", "text": "路由器的保修期在哪里查", "relevant": []},)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDER", "hash")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = corpus_set(tmp_path / "set")
    write_rows(folder / "queries_unanswerable.jsonl", UNANSWERABLE)
    return folder


def report_of(tmp_path: Path, *arguments: Any) -> dict[str, Any]:
    path = tmp_path / "report.json"
    assert main([*(str(argument) for argument in arguments), "--json", str(path)]) == 0
    report: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return report


def test_a_labelled_set_gives_rates_per_cutoff_and_a_recommendation(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_rows(tmp_path / "other.jsonl", OUT_OF_DOMAIN)
    report = report_of(tmp_path, "--set", folder, "--out-of-domain", other, "--max-false-answer", 0.5)
    assert report["answerable"] == len(QUERIES)
    assert report["open"] == len(UNANSWERABLE) + len(OUT_OF_DOMAIN)
    assert [rate["threshold"] for rate in report["cutoffs"]] == [round(n / 100, 2) for n in range(101)]
    assert report["recommended"] in report["cutoffs"]
    assert report["recommended"]["false_answer"] <= 0.5
    output = capsys.readouterr().out
    assert f"推荐 SIMILARITY_THRESHOLD={report['recommended']['threshold']:g}" in output
    assert "误答率不超过 50.0% 的门槛里误拒率最低" in output
    assert output.count("%   ") >= 21


def test_the_rates_are_those_of_the_product_with_that_threshold(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluation answers with the threshold set; nothing else lies between the gate and these replies."""
    from scripts.evaluate import main as evaluate

    report = report_of(tmp_path, "--set", folder, "--max-false-answer", 1)
    threshold = 0.5
    for name in ("SIMILARITY_THRESHOLD", "CONFIDENT_THRESHOLD", "CLARIFY_THRESHOLD"):
        monkeypatch.setenv(name, str(threshold))
    assert evaluate(["--set", str(folder), "--json", str(tmp_path / "evaluated.json")]) == 0
    evaluated = json.loads((tmp_path / "evaluated.json").read_text("utf-8"))
    rates = next(rate for rate in report["cutoffs"] if rate["threshold"] == threshold)
    assert rates["false_answer"] == pytest.approx(evaluated["false_answer_unanswerable"], abs=1e-4)
    assert rates["false_refusal"] == pytest.approx(1 - evaluated["answered_rate"], abs=1e-4)


def test_without_a_limit_both_errors_count_alike(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = report_of(tmp_path, "--set", folder)
    best = min(rate["false_answer"] + rate["false_refusal"] for rate in report["cutoffs"])
    assert report["recommended"]["false_answer"] + report["recommended"]["false_refusal"] == pytest.approx(best)
    assert "误拒率与误答率的平均最低" in capsys.readouterr().out


def test_the_strict_mode_counts_as_many_candidates_as_have_to_survive(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = report_of(tmp_path, "--set", folder, "--max-false-answer", 1)["cutoffs"]
    monkeypatch.setenv("MIN_SURVIVING_CHUNKS", "2")
    strict = report_of(tmp_path, "--set", folder, "--max-false-answer", 1)["cutoffs"]
    pairs = list(zip(usual, strict, strict=True))
    assert all(one["false_refusal"] <= two["false_refusal"] for one, two in pairs)
    assert any(one["false_refusal"] < two["false_refusal"] for one, two in pairs)


def test_the_curve_is_a_png(tmp_path: Path, folder: Path) -> None:
    report_of(tmp_path, "--set", folder, "--max-false-answer", 1, "--png", tmp_path / "curve.png")
    content = (tmp_path / "curve.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width > height > 300


def test_a_set_without_open_questions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--set", str(corpus_set(tmp_path / "only"))]) == 1
    assert "--out-of-domain" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--set"),
        (["--set", "a", "--max-false-answer", "1.5"], "须在 0 到 1 之间"),
        (["--set", "a", "--png", "无此/b.png"], "没有文件夹"),
    ],
)
def test_arguments_that_cannot_work_are_refused_before_any_work(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_a_missing_chart_library_names_the_command(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["--set", str(folder), "--png", str(tmp_path / "curve.png")]) == 1
    assert "pip install -r requirements.txt" in capsys.readouterr().err


def test_it_runs_as_a_file_from_anywhere(tmp_path: Path) -> None:
    command = [sys.executable, calibrate.__file__, "--set", "无此"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr.strip()) == (1, "没有文件夹 无此")
