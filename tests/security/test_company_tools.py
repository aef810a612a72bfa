"""A hostile MCP server of the company's own gets nothing through."""

from __future__ import annotations

import pytest

from scripts.attacks.company_tools import run_attack
from scripts.harness.servers import Target


@pytest.mark.acceptance(only=True)  # tests/agents/business/test_company_tools.py plays the tricks without a product
async def test_a_hostile_mcp_server_gets_nothing_through() -> None:
    report = await run_attack(Target("http://127.0.0.1:1"))
    assert report.broken == []
    assert report.cases > 150
