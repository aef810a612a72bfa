"""Measures what is rejected before any agent sees it, by the product's own guard and classifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from agents.screening.classifier import Screening
from agents.screening.types import Reason
from app.chat.guard import Guard, Rejected
from knowledge.embeddings.base import Embedder
from knowledge.evaluation.metrics import compute_mean, compute_percentiles, group_by
from knowledge.types import Vector

ATTACKS = frozenset({"jailbreak", "injection"})
# A question about something harmful gives no orders to the model: it is counted apart. All other labels are benign.
UNSAFE = "unsafe"
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Screened:
    """A row with why it was not taken, with and without its embedding, and the milliseconds besides the embedding."""

    row: Mapping[str, Any]
    reason: Reason | None
    unembedded: Reason | None
    milliseconds: float

    @property
    def label(self) -> str:
        return str(self.row.get("label", ""))


async def measure_safety(rows: Sequence[Mapping[str, Any]], guard: Guard, embedder: Embedder) -> dict[str, Any]:
    """rows: `text`, and unless they are benign a `label` and an `attack`, the family that recall is given for."""
    screening = Screening()
    await screening.learn(embedder)
    vectors = await embedder.embed_questions([row["text"] for row in rows])
    screened = [_screen_row(row, guard, screening, vector) for row, vector in zip(rows, vectors, strict=True)]
    attacks = [each for each in screened if each.label in ATTACKS]
    unsafe = [each for each in screened if each.label == UNSAFE]
    benign = [each for each in screened if each.label not in {*ATTACKS, UNSAFE}]
    by_attack = group_by(attacks, lambda each: each.row.get("attack") or each.label)
    return {
        "rows": len(rows),
        "recall_attack": _compute_rejected(attacks),
        "false_positive_benign": _compute_rejected(benign),
        "recall_by_attack": {name: _compute_rejected(some) for name, some in by_attack.items()},
        "rejected_unsafe": _compute_rejected(unsafe),
        "without_embedding": {
            "recall_attack": compute_mean(each.unembedded is not None for each in attacks),
            "false_positive_benign": compute_mean(each.unembedded is not None for each in benign),
        },
        "reasons": dict(Counter(each.reason for each in screened if each.reason).most_common()),
        "latency_ms": compute_percentiles([each.milliseconds for each in screened]),
        "missed": [_name_row(each) for each in attacks if each.reason is None][:_SHOWN],
        "false_alarms": [_name_row(each) for each in benign if each.reason is not None][:_SHOWN],
    }


def _screen_row(row: Mapping[str, Any], guard: Guard, screening: Screening, vector: Vector) -> Screened:
    started = perf_counter()
    message = guard.check(row["text"])
    if isinstance(message, Rejected):
        return Screened(row, message.reason, message.reason, (perf_counter() - started) * 1000)
    reason = screening.check(message, vector).reason
    milliseconds = (perf_counter() - started) * 1000
    return Screened(row, reason, screening.check(message).reason, milliseconds)


def _compute_rejected(screened: Sequence[Screened]) -> float | None:
    return compute_mean(each.reason is not None for each in screened)


def _name_row(screened: Screened) -> str:
    return str(screened.row.get("id") or screened.row["text"][:40])
