"""The dashboard asks for what `/metrics` tells, by the labels that it has there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr

from scripts.scripted_llm import Behaviour, Say
from tests.app.chat.test_chat import chat
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened
from tests.documents import ROOT

BOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/yingda.json").read_text("utf-8"))
METRIC = re.compile(r"\b((?:yingda|process)_\w+)(?:\{([^}]*)\})?")
BY = re.compile(r"\bby \(([^)]*)\)")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",), "gauge": ("",)}


def panels() -> Iterator[dict[str, Any]]:
    yield from (panel for panel in BOARD["panels"] if panel["type"] != "row")


def expressions() -> Iterator[str]:
    for panel in panels():
        yield from (target["expr"] for target in panel["targets"])
    yield from (item["definition"] for item in BOARD["templating"]["list"] if item["type"] == "query")


async def told(tmp_path: Path) -> dict[str, set[str]]:
    """Every series that there may be, with the labels that are known of it: of a process with Redis and a model."""
    script = Say(f"{ARRIVES}[1]"), Behaviour.BROKEN, Say(f"{ARRIVES}[1]")
    redis = SecretStr("redis://127.0.0.1:1/0")  # away, which is told too
    async with opened(tmp_path, *script, redis_url=redis) as (client, _):
        for message in (QUESTION, f"{QUESTION}呢", "", "转人工"):
            await chat(client, message)
        text = (await client.get("/metrics")).text
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        if family.name.endswith("_created"):  # when a counter began
            continue
        for suffix in SUFFIXES[family.type]:
            found.setdefault(f"{family.name}{suffix}", set())
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, set()) | sample.labels.keys()
    return found


async def test_every_expression_names_series_and_labels_that_are_there(tmp_path: Path) -> None:
    there = await told(tmp_path)
    assert len(list(expressions())) > 30
    for expression in expressions():
        named = METRIC.findall(expression)
        assert named and expression.count("(") == expression.count(")"), expression
        for metric, selectors in named:
            assert metric in there, expression
            assert ("histogram_quantile" in expression) == metric.endswith("_bucket"), expression
            asked = {part.split("=")[0].strip(" !~") for part in selectors.split(",") if part.strip()}
            grouped = {label.strip() for group in BY.findall(expression) for label in group.split(",")}
            if there[metric]:
                assert asked | grouped <= there[metric], expression


async def test_every_metric_of_a_turn_is_on_the_dashboard(tmp_path: Path) -> None:
    shown = {metric for expression in expressions() for metric, _ in METRIC.findall(expression)}
    bases = {re.sub(r"_(bucket|sum|count|total)$", "", metric) for metric in shown}
    known = {re.sub(r"_(bucket|sum|count|total)$", "", metric) for metric in await told(tmp_path)}
    ours = {metric for metric in known if metric.startswith("yingda_")}
    assert ours - bases <= {"yingda_route_score", "yingda_llm_calls"}


def test_it_can_be_imported() -> None:
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(ids) == len(set(ids)) and BOARD["uid"] == "yingda" and BOARD["schemaVersion"] >= 39
    for panel in panels():
        assert panel["title"] and panel["datasource"]["uid"] == "${datasource}"
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
