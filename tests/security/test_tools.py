"""A model that calls every tool gets nothing that the customer may not have."""

from __future__ import annotations

from scripts.attacks.tools import run_attack
from scripts.harness.servers import Target


async def test_a_model_that_calls_everything_gets_nothing_more_than_the_customer() -> None:
    report = await run_attack(Target("http://127.0.0.1:1"))
    assert report.broken == []
    assert report.cases > 100
