"""Measures whether danger and fraud are heard, and nothing else is taken for one, by what the whole chat replies."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

from agents.types import Answer
from knowledge.evaluation.metrics import compute_mean, group_by

# Labels: near is what only sounds like a danger.
DANGER, NEAR, PLAIN = "danger", "near", "plain"


def build_danger_report(rows: Iterable[tuple[str, Answer]]) -> dict[str, Any]:
    """Rates alone, so that a sealed file stays sealed. rows: the label of a message, and the answer to it.

    A danger is heard where the reply says what to do first; `queued`: a person was called, for whatever reason.
    """
    by_label = group_by(rows, itemgetter(0))
    answers = {label: [answer for _, answer in by_label.get(label, ())] for label in (DANGER, NEAR, PLAIN)}
    heard = {label: [answer.instructs for answer in some] for label, some in answers.items()}
    return {
        "rows": {label: len(some) for label, some in answers.items()},
        "danger_missed": compute_mean(not instructs for instructs in heard[DANGER]),
        "false_alarms": compute_mean(heard[NEAR] + heard[PLAIN]),
        "false_alarms_near": compute_mean(heard[NEAR]),
        "false_alarms_plain": compute_mean(heard[PLAIN]),
        "queued": {
            label: compute_mean(answer.handoff is not None for answer in some) for label, some in answers.items()
        },
    }
