"""`charts`: what the other benchmarks wrote, as pictures for the documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot

STAGES = ("vector", "bm25", "fuse", "rerank", "gate")
_SIZE = (7.0, 3.4)


def draw_charts(reports: Sequence[Path], out: Path) -> dict[str, Any]:
    """Writes an SVG for every report that has one; the labels are English, as fonts with Chinese are not everywhere."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for path in reports:
        report = json.loads(path.read_text("utf-8"))
        for name, applies, plot in _CHARTS:
            if applies(report):
                figure, axes = pyplot.subplots(figsize=_SIZE, layout="constrained")
                plot(report, axes)
                figure.savefig(out / f"{name}.svg", metadata={"Date": None})
                pyplot.close(figure)
                written.append(f"{name}.svg")
    return {"written": written}


def _draw_stages(report: dict[str, Any], axes: Any) -> None:
    stages = [stage for stage in STAGES if stage in report["stages_ms"]]
    for shift, name in ((-0.2, "p50"), (0.2, "p95")):
        heights = [report["stages_ms"][stage][name] for stage in stages] + [report["overhead_ms"][name]]
        bars = axes.bar([place + shift for place in range(len(heights))], heights, 0.4, label=name)
        axes.bar_label(bars, fmt="%.2f", fontsize=7)
    axes.set_xticks(range(len(stages) + 1), [*stages, "whole search"])
    axes.set_ylabel("milliseconds")
    axes.set_title(f"Besides the query embedding, {report['chunks']:,} chunks")
    axes.legend()


def _draw_peers(report: dict[str, Any], axes: Any) -> None:
    figures = {"yingda": report} | {name: row for name, row in report["peers"].items() if "skipped" not in row}
    heights = [row["overhead_over_embedding"] for row in figures.values()]
    axes.bar_label(axes.bar(list(figures), heights), fmt="%.2f")
    axes.set_ylabel("search p50 / embedding p50")
    axes.set_title("The same chunks, vectors and tokens")


def _draw_scale(report: dict[str, Any], axes: Any) -> None:
    rows = [row for row in report["scale"] if row["counts"]]
    for store in dict.fromkeys(row["store"] for row in rows):
        own = [row for row in rows if row["store"] == store]
        for key, label in (("overhead_over_embedding", "unfiltered"), ("filtered_over_embedding", "filtered")):
            axes.plot([row["chunks"] for row in own], [row[key] for row in own], marker="o", label=f"{store}, {label}")
    axes.set_xscale("log")
    if _count_stores(report) > 1:  # they are orders of magnitude apart
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel("chunks")
    axes.set_ylabel("search p50 / embedding p50")
    axes.legend()


def _draw_http(report: dict[str, Any], axes: Any) -> None:
    kinds = ("bare", "cached", "uncached")
    axes.bar_label(axes.bar(kinds, [report[f"{kind}_rps"] for kind in kinds]), fmt="{:,.0f}")
    axes.set_ylabel("requests a second")
    axes.set_title(f"Concurrency {report['concurrency']}, every turn persisted")


def _count_stores(report: dict[str, Any]) -> int:
    """How many stores a report of `scale` compares."""
    return len({row["store"] for row in report.get("scale", ())})


# File, which reports it draws, and how.
_CHARTS: tuple[tuple[str, Callable[[dict[str, Any]], bool], Callable[[dict[str, Any], Any], None]], ...] = (
    ("benchmark-stages", lambda report: "stages_ms" in report, _draw_stages),
    ("benchmark-peers", lambda report: "peers" in report, _draw_peers),
    ("benchmark-scale", lambda report: _count_stores(report) == 1, _draw_scale),
    ("benchmark-stores", lambda report: _count_stores(report) > 1, _draw_scale),
    ("benchmark-http", lambda report: "cached_over_bare" in report, _draw_http),
)
