"""Measures whether danger and fraud are heard, and nothing else is taken for one, by what the whole chat replies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from agents.types import Answer
from knowledge.evaluation.metrics import compute_mean

# Labels: near is what only sounds like a danger.
DANGER, NEAR, PLAIN = "danger", "near", "plain"


def build_danger_report(rows: Iterable[tuple[str, Answer]]) -> dict[str, Any]:
    """Rates alone, so that a sealed file stays sealed. rows: the label of a message, and the answer to it.

    A danger is heard where the reply says what to do first; `queued`: a person was called, for whatever reason.
    """
    heard, queued = defaultdict[str, list[bool]](list), defaultdict[str, list[bool]](list)
    for label, answer in rows:
        heard[label].append(answer.instructs)
        queued[label].append(answer.handoff is not None)
    return {
        "rows": {label: len(heard[label]) for label in (DANGER, NEAR, PLAIN)},
        "danger_missed": compute_mean(not instructs for instructs in heard[DANGER]),
        "false_alarms": compute_mean(heard[NEAR] + heard[PLAIN]),
        "false_alarms_near": compute_mean(heard[NEAR]),
        "false_alarms_plain": compute_mean(heard[PLAIN]),
        "queued": {label: compute_mean(queued[label]) for label in (DANGER, NEAR, PLAIN)},
    }
