from __future__ import annotations

import pytest

from app.evaluation.results import check_report

FIGURES = {"accuracy": 0.7, "false_answers": 0.05}


@pytest.mark.parametrize(
    ("under", "over", "named"),
    [
        (None, None, []),
        (0.7, 0.05, []),
        (0.71, None, ["--fail-under"]),
        (0.1, 0.049, ["--fail-over"]),
        (0.71, 0.0, ["--fail-under", "--fail-over"]),
    ],
)
def test_what_is_asked_for_is_let_through_at_the_very_figure(
    under: float | None, over: float | None, named: list[str]
) -> None:
    reasons = check_report(FIGURES, under, over)
    assert [name for reason, name in zip(reasons, named, strict=True) if name in reason] == named
