"""Whether a report is good enough to go on: for CI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_report(report: Mapping[str, Any], fail_under: float | None, fail_over: float | None) -> list[str]:
    """Why figures of conversations are not good enough, in Chinese; nothing where they are.

    fail_under: the least share of correct turns; fail_over: the largest share of false answers; None asks for nothing.
    """
    reasons = []
    if fail_under is not None and report["accuracy"] < fail_under:
        reasons.append(f"没有通过：正确 {report['accuracy']:.4f}，低于 --fail-under {fail_under:g}")
    if fail_over is not None and report["false_answers"] > fail_over:
        reasons.append(f"没有通过：误答 {report['false_answers']:.4f}，高于 --fail-over {fail_over:g}")
    return reasons
