"""From played turns to figures, and to what a person reads about a failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.evaluation.playback import PlayedTurn
from app.evaluation.results import build_result, compute_figures


def build_report(played: Sequence[PlayedTurn]) -> dict[str, Any]:
    """See `compute_figures`."""
    return compute_figures([build_result(turn) for turn in played])


def build_turn_row(turn: PlayedTurn) -> dict[str, Any]:
    """One turn with all that is known of it, as JSON."""
    data = turn.told.body.get("data") or {}
    return {
        "id": turn.labelled.id,
        "tag": turn.labelled.tag,
        "say": turn.said,
        "verdict": turn.judgement.verdict.value,
        "why": turn.judgement.why,
        "outcome": turn.heard.outcome,
        "reply": turn.heard.text,
        "sources": list(turn.heard.documents) + ["[SQL]"] * turn.heard.rows,
        "unfounded": list(turn.unfounded or ()),
        "trace": {
            "route": turn.told.route,
            **{
                name: data[name] for name in ("intent", "agent", "confidence", "decision", "degraded") if data.get(name)
            },
        },
    }


def describe_failures(played: Iterable[PlayedTurn]) -> list[str]:
    """What a person reads about each turn that is not correct, a paragraph each."""
    return [_write_paragraph(build_turn_row(turn)) for turn in played if not turn.judgement.correct]


def _write_paragraph(row: Mapping[str, Any]) -> str:
    trace = "，".join(f"{name} {value}" for name, value in row["trace"].items() if value)
    lines = [
        f"{row['id']} {row['verdict']} [{row['tag']}] {row['say']}",
        row["why"],
        f"{row['outcome']}：{row['reply']}",
        f"来源：{'；'.join(row['sources']) or '无'}",
        *([f"没有依据：{'、'.join(row['unfounded'])}"] if row["unfounded"] else []),
        trace,
    ]
    return "\n  ".join(line.replace("\n", "\n    ") for line in lines)
