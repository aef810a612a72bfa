from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from app.http.schemas import Page, RequestBody, ResponseBody


@dataclass(frozen=True)
class Part:
    name: str


@dataclass(frozen=True)
class Whole:
    id: str
    parts: tuple[Part, ...]
    secret: str = "never shown"


class PartOut(ResponseBody):
    name: str


class WholeOut(ResponseBody):
    id: str
    parts: list[PartOut]
    state: str


class RenameIn(RequestBody):
    name: str


def test_a_body_is_made_of_attributes_and_of_what_is_said_beside_them() -> None:
    made = WholeOut.build_from(Whole("a", (Part("x"), Part("y"))), state="ready")
    assert made.model_dump() == {"id": "a", "parts": [{"name": "x"}, {"name": "y"}], "state": "ready"}
    assert WholeOut.build_from(Whole("a", (Part("x"),)), parts=[], state="").parts == []


def test_a_page_has_items_of_its_kind() -> None:
    page = Page[PartOut](items=[PartOut(name="x")], total=3, offset=2, limit=1)
    assert page.model_dump() == {"items": [{"name": "x"}], "total": 3, "offset": 2, "limit": 1}


def test_a_request_with_a_field_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValidationError, match="nickname"):
        RenameIn.model_validate({"name": "a", "nickname": "b"})
