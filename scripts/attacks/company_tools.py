"""The company's own MCP server is hostile, or was taken over: it sends other members' rows, orders to the model, too
much, too late, or something else, while a member asks about their coupons.
"""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.business.sample.database import build_sample_rows
from app.configuration.business import McpSource
from scripts.attacks.hostile_mcp import INJECTION, SECRET, TOOL, TRICKS, run_hostile_server
from scripts.attacks.tools import open_attacked
from scripts.harness.checks import Report
from scripts.harness.servers import Target
from scripts.scripted_llm import CallTools

# The rules read no plan in it that they are certain of, so that the model is asked.
QUESTION = "我的券里哪张最划算"
# A tool that is of no use is a service that is out of reach.
UNAVAILABLE = "HTTP 503"
# What is said of the tool.
DESCRIPTION = f"""
tools:
  {TOOL}:
    description: 查顾客的优惠券
    caller: member_id
    rows: coupons
    owner: member_id
    key: id
    columns:
      id: {{type: text, description: 券号}}
      title: {{type: text, description: 名称}}
      amount: {{type: number, description: 金额}}
      phone: {{type: text, description: 手机号, mask: phone}}
"""
# Calls of a model that is in league with the server.
CLAIMS: tuple[tuple[str, dict[str, str]], ...] = (
    (TOOL, {"member_id": "M9999"}),
    (TOOL, {"tenant": "other"}),
    ("delete_coupons", {}),
    (f"{TOOL}\n", {}),
)


async def run_attack(target: Target) -> Report:
    """In a product of its own, whose MCP server is the attacker's; the server is not asked."""
    report, today = Report(), date.today()
    me = str(build_sample_rows(today)["members"][0]["id"])
    with TemporaryDirectory(prefix="yingda-attack-") as folder:
        described = Path(folder, "tools.yaml")
        await asyncio.to_thread(described.write_text, DESCRIPTION, "utf-8")
        async with run_hostile_server() as server:
            source = {"default": McpSource(url=server.address, tools=described)}
            async with open_attacked(today, business_mcp=source) as (model, _, product):
                for trick in TRICKS:
                    server.trick, server.called = trick, []
                    model.script = (CallTools(((TOOL, "{}"),)),)
                    told = await product.ask(f"attacked-{trick}", QUESTION, user_id=me)
                    body = json.dumps(told.body, ensure_ascii=False)
                    for secret in (SECRET, INJECTION[:8], "13812345678"):
                        report.check(secret not in body, f"{trick}: {secret} was told")
                    outcome = str(told.body["outcome"])
                    report.check("HTTP" not in outcome or outcome == UNAVAILABLE, f"{trick}: {outcome}")
                    report.check(len(body) < 60_000, f"{trick}: {len(body)} characters")
                    reading = trick not in ("no such tool", "no hint", "changes", "says something else")
                    report.check(reading or not server.called, f"{trick}: the tool was called")
                    if trick == "honest":
                        report.check("满 100 减 10" in body and "138****5678" in body, "an honest answer was not told")
                server.trick = "honest"
                for name, arguments in CLAIMS:
                    server.called = []
                    model.script = (CallTools(((name, json.dumps(arguments)),)),)
                    told = await product.ask(f"claimed-{name}-{len(arguments)}-{arguments}", QUESTION, user_id=me)
                    report.check(not server.called, f"{name} {arguments}: {server.called}")
                prompts = str(model.bodies)
                report.check(TOOL in prompts, "the tool was not offered")
                report.check(INJECTION[:8] not in prompts, "the server spoke to the model")
                report.check(me not in str([body["messages"][:2] for body in model.bodies]), "who asks was told")
    return report
