"""The document says what the service does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from agents.types import Outcome, Replace, Token
from app.chat.event_format import encode_item
from app.chat.types import ChatEvent, TurnHandoff, TurnStarted
from app.desk.types import QueueState, State
from app.errors import RateLimited
from app.openapi.failures import KINDS
from tests.app.openapi.document import Operation, data_of, document, operations, problems
from tests.app.openapi.story import Story, events

REFERENCE = {"$ref": "#/components/schemas/ChatEvent"}


async def test_every_operation_answers_as_documented_with_the_documented_requests(story: Story) -> None:
    assert operations().keys() - story.called == set(), "call it in tests/app/openapi/story.py"
    assert story.faults == []


def bodies(operation: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that is sent either way, an error's body included."""
    yield from ((f"request {kind}", dict(told)) for kind, told in operation.request.items())
    for status in operation.told["responses"]:
        yield from ((f"{status} {kind}", dict(told)) for kind, told in operation.response(status).items())


@pytest.mark.parametrize("operation", operations().values(), ids=lambda operation: operation.name)
def test_every_body_has_an_example_that_is_as_its_schema_says(operation: Operation) -> None:
    for where, told in bodies(operation):
        assert "example" in told, f"{where} of {operation.name} has no example in app/openapi/examples"
        streamed = data_of(told)
        values = [data for _, data in events(told["example"]) if data != "[DONE]"] if streamed else [told["example"]]
        assert values
        assert [problems(streamed or told["schema"], value) for value in values] == [[]] * len(values), where


def test_the_examples_of_a_field_that_is_not_described_are_found() -> None:
    schema = {"$ref": "#/components/schemas/ErrorBody"}
    right = {"code": "a", "message": "b", "details": {}, "request_id": "c"}
    assert problems(schema, {"error": right}) == []
    assert problems(schema, {"error": right | {"trace": "d"}})
    assert problems(schema, {"error": {"code": "a"}})


def test_names_are_short_and_ascii() -> None:
    whole = document()
    assert whole["info"]["title"].isascii()
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+){0,3}", name) for name in operations())
    assert all(re.fullmatch(r"[A-Z][A-Za-z]+", name) for name in whole["components"]["schemas"])
    tags = {tag for operation in operations().values() for tag in operation.told["tags"]}
    assert {tag["name"] for tag in whole["tags"]} == tags, "say what it is in app/openapi/document.py"
    assert all(tag.isascii() for tag in tags)


def test_closed_sets_are_enums() -> None:
    schemas = document()["components"]["schemas"]
    assert set(schemas["Outcome"]["enum"]) == set(Outcome)
    for model in ("ChatResponse", "ExchangeOut", "DeskExchangeOut", "UnansweredOut", "AdviceOut", "YingdaOut"):
        assert schemas[model]["properties"]["outcome"]["$ref"].endswith("/Outcome"), model


def test_an_error_of_every_kind_is_told_with_what_its_response_carries() -> None:
    responses = document()["components"]["responses"]
    for status, kind in KINDS.items():
        assert ("Retry-After" in responses[kind.name]["headers"]) == (status in (429, 503))
    used = {
        told["$ref"].rsplit("/", 1)[1]
        for operation in operations().values()
        for told in operation.told["responses"].values()
        if "$ref" in told
    }
    assert {kind.name for kind in KINDS.values()} <= used


async def test_every_event_of_a_stream_is_as_documented() -> None:
    told: list[ChatEvent | Exception | None] = [
        TurnStarted("s", "m", "t", "knowledge", "knowledge_qa", "ys-secret"),
        Token("退货"),
        None,
        Replace("运费"),
        TurnHandoff(QueueState(State.QUEUED, 1, 60)),
        RateLimited("太频繁", retry_after=3),
    ]
    sent = events("".join(encode_item(item, "r") for item in told))
    assert [kind for kind, _ in sent] == ["meta", "token", "ping", "replace", "handoff", "error"]
    assert all(data["type"] == kind for kind, data in sent)
    assert [problems(REFERENCE, data) for _, data in sent] == [[]] * len(sent)
    assert problems(REFERENCE, {"type": "token"})
