"""What the benchmarks report, over bases of a few chunks; how quick anything is, is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knowledge.text import Analyzer
from scripts import benchmark
from scripts.benchmark import main
from scripts.benchmarks import http, ingest
from scripts.benchmarks.synthetic import build_synthetic
from tests.knowledge.evaluation.files import CORPUS, QUERIES, corpus_set

TIMES = {"embedding_ms", "overhead_ms", "overhead_over_embedding", "stages_ms"}
FILTERED = {"filtered_overhead_ms", "filtered_over_embedding"}


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDER", "hash")
    for name in ("BARE_REQUESTS", "CACHED_REQUESTS"):
        monkeypatch.setattr(http, name, 40)
    for name in ("UNCACHED_REQUESTS", "ALONE", "CACHED_QUESTIONS"):
        monkeypatch.setattr(http, name, 4)


def report_of(capsys: pytest.CaptureFixture[str], *arguments: Any) -> dict[str, Any]:
    assert main([str(argument) for argument in arguments]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_retrieval_reports_every_stage_and_what_a_filter_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "report.json"
    report = report_of(capsys, "retrieval", "--set", corpus_set(tmp_path / "set"), "--json", written)
    assert report.keys() >= TIMES | FILTERED | {"rss_mb"}
    assert (report["set"], report["chunks"], report["questions"]) == ("set", len(CORPUS), len(QUERIES))
    assert report["stages_ms"].keys() == {"vector", "bm25", "fuse", "rerank", "gate"}
    assert all(0 < time["p50"] <= time["p95"] for time in (report["overhead_ms"], report["embedding_ms"]))
    assert json.loads(written.read_text("utf-8")) == report


def test_a_synthetic_base_is_the_same_every_time_and_clustered() -> None:
    first, again = (build_synthetic(120, 6, Analyzer()) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    for one, other in zip(first.change.added, again.change.added, strict=True):
        assert one.chunk == other.chunk
        np.testing.assert_array_equal(one.terms, other.terms)
    matrix = np.stack([item.vector for item in first.change.added])
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    same, others = matrix[0] @ matrix[2::2].T, matrix[0] @ matrix[1::2].T  # two clusters, in turn
    assert same.min() > others.max()
    assert max(int(item.terms.max()) for item in first.change.added) < len(first.change.new_terms)


@pytest.mark.acceptance(only=True)
def test_scale_reports_each_size_with_its_recall_and_the_growth(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, "scale", "--chunks", 60, 120, "--questions", 5)
    assert [row["chunks"] for row in report["scale"]] == [60, 120]
    for row in report["scale"]:
        assert row.keys() >= TIMES | FILTERED | {"build_s", "change_s", "rss_mb"}
        assert (row["recall@25"], row["counts"], row["store"]) == (1.0, True, "chroma")
    assert isinstance(report["rss_mb_per_10000_chunks"], float)


@pytest.mark.acceptance(only=True)
def test_10000_more_chunks_take_no_more_than_90_mb_and_nothing_less_is_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """54 MB as measured; 192 MB when texts, terms and what each word is worth were kept as objects and twice."""
    report = report_of(capsys, "scale", "--store", "chroma", "--chunks", 1000, 11_000, "--questions", 20)
    assert report["rss_mb_per_10000_chunks"] <= 90
    assert [row["recall@25"] for row in report["scale"]] == [1.0, 1.0]


@pytest.mark.acceptance(only=True)
def test_stores_are_compared_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, "scale", "--store", "memory", "milvus", "--chunks", 60, "--questions", 5)
    assert [row["store"] for row in report["scale"]] == ["memory", "milvus"]
    assert all(row["counts"] for row in report["scale"])


@pytest.mark.acceptance(only=True)
def test_http_counts_every_turn_and_keeps_cached_ones_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, "http", "--set", corpus_set(tmp_path / "set"), "--rounds", 1)
    ratios = {"cached_over_bare", "uncached_over_embedding"}
    assert report.keys() >= ratios | {"bare_rps", "cached_rps", "uncached_rps", "rss_mb"}
    assert report["turns_persisted"] == report["turns"] >= 2 * 4 + 4 + 40 + 4
    assert all(report[name] > 0 for name in ratios)


@pytest.mark.acceptance(only=True)
def test_ttft_takes_only_turns_that_a_language_model_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = report_of(capsys, "ttft", "--set", corpus_set(tmp_path / "set"), "--turns", 4)
    assert 0 < report["turns_with_llm"] <= report["turns"] == 4
    assert report["first_token_ms"]["p50"] >= report["llm_delay_ms"]
    assert report.keys() >= {"ttft_added_ms", "bare_ms", "ttft_added_over_bare"}


@pytest.mark.acceptance(only=True)
def test_ingest_is_told_next_to_bare_encoding_and_with_what_customers_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ingest, "QUESTIONS", 3)
    report = report_of(capsys, "ingest", "--set", corpus_set(tmp_path / "set"), "--rounds", 1)
    assert report["chunks_an_upload"] >= ingest.FILES
    assert report["questions_during_ingest"] >= 1
    ratios = {"ingest_over_bare", "chat_p50_during_over_idle", "chat_p95_during_over_idle"}
    assert all(report[name] > 0 for name in ratios)


def test_a_set_that_is_not_there_ends_with_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retrieval", "--set", "无此"]) == 1
    assert "没有文件夹" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["scale"], ["scale", "--chunks", "0"], ["retrieval"], ["http", "--json", "无此/a.json"]], ids=str
)
def test_arguments_that_cannot_work_are_refused_before_any_work(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2


@pytest.mark.acceptance(only=True)
def test_it_runs_as_a_file_from_anywhere(tmp_path: Path) -> None:
    command = [sys.executable, benchmark.__file__, "retrieval", "--set", "无此"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr.strip()) == (1, "没有文件夹 无此")
