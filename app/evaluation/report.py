"""From played turns to figures, and to what a person reads about a failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.evaluation.judging import TurnVerdict
from app.evaluation.playing import PlayedTurn


def dialogue_report(played: Sequence[PlayedTurn]) -> dict[str, Any]:
    """The figures of a file of conversations; shares are of all turns but where said otherwise.

    hallucination_rate: share of the answers from documents or rows, `answers`, that state a quantity or code which
    nothing they lean on holds.
    """
    by_tag: dict[str, list[PlayedTurn]] = defaultdict(list)
    by_dialogue: dict[str, list[PlayedTurn]] = defaultdict(list)
    for turn in played:
        by_tag[turn.labelled.tag].append(turn)
        by_dialogue[turn.dialogue].append(turn)
    answers = [turn for turn in played if turn.unfounded is not None]
    return {
        "conversations": len(by_dialogue),
        "turns": len(played),
        "correct": _correct(played),
        "partly": sum(turn.judgement.verdict is TurnVerdict.PARTLY for turn in played),
        "accuracy": share(_correct(played), len(played)),
        "false_answers": share(sum(turn.judgement.false_answer for turn in played), len(played)),
        "brush_offs": sum(turn.judgement.brush_off for turn in played),
        "swallowed": sum(turn.judgement.swallowed for turn in played),
        "conversations_clean": sum(_correct(turns) == len(turns) for turns in by_dialogue.values()),
        "answers": len(answers),
        "hallucination_rate": share(sum(bool(turn.unfounded) for turn in answers), len(answers)),
        "by_tag": {tag: {"correct": _correct(turns), "turns": len(turns)} for tag, turns in sorted(by_tag.items())},
    }


def turn_row(turn: PlayedTurn) -> dict[str, Any]:
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


def failures(played: Iterable[PlayedTurn]) -> list[str]:
    """What a person reads about each turn that is not correct, a paragraph each."""
    return [_paragraph(turn_row(turn)) for turn in played if not turn.judgement.correct]


def _paragraph(row: Mapping[str, Any]) -> str:
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


def share(part: int, whole: int) -> float:
    """0.0 of nothing."""
    return round(part / whole, 4) if whole else 0.0


def _correct(turns: Iterable[PlayedTurn]) -> int:
    return sum(turn.judgement.correct for turn in turns)
