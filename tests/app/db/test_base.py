from __future__ import annotations

from datetime import timedelta

import pytest

from app.db.base import is_due, now

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("ahead", "longest", "due"),
    [
        (-MINUTE, timedelta(), True),
        (MINUTE, 5 * MINUTE, False),
        (DAY, 5 * MINUTE, True),
        (DAY, timedelta(), True),
        (DAY, 2 * DAY, False),
    ],
)
def test_what_lies_further_ahead_than_anybody_sets_it_was_set_before_the_clock_was_set_back(
    ahead: timedelta, longest: timedelta, due: bool
) -> None:
    assert is_due(now() + ahead, longest) is due
