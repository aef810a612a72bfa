"""Hand-labelled conversations: what customers say, and what counts as right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, TypeAdapter, ValidationError

from agents.types import Page
from app.chat.page_schemas import PageIn
from app.problems import describe_problems
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.rows import read_rows

_DAYS_AGO = re.compile(r"\{d-(\d+)\}")


def _read_page(value: object) -> Page | None:
    return PageIn.model_validate(value).build_page() if value else None


class TurnKind(StrEnum):
    """What a response was, as labels speak of it."""

    ANSWER = "answer"
    BUSINESS = "business"
    TICKET = "ticket"
    CHAT = "chat"
    REFUSE = "refuse"
    CLARIFY = "clarify"
    LOGIN = "login"
    CARE = "care"
    HANDOFF = "handoff"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Expectation:
    """`kinds`: any of them is right. `must_any`: of every group one string has to be in the reply; `must_not`: none of
    these; `sources`: one of these in the title or heading of a cited document; `documents`: or its id is one of these.
    `note`, and that it is `date_dependent`, are for people. Rows of files say `kind` and `source`.
    """

    kinds: Annotated[frozenset[TurnKind], Field(alias="kind", min_length=1), PlainSerializer(sorted)]
    must_any: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    sources: Annotated[tuple[str, ...], Field(alias="source")] = ()
    documents: tuple[str, ...] = ()
    note: str = ""
    date_dependent: bool = False


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One message of a customer; `id` is the conversation's with the turn's number from 1, as in c29.2."""

    id: str
    say: str
    tag: Annotated[str, Field(default="")]
    expect: Expectation
    page: Annotated[Page | None, BeforeValidator(_read_page)] = None

    def fill_dates(self, today: date) -> str:
        """Returns the message with `{d-2}` as the date two days ago, YYYYMMDD, as order numbers contain it."""
        return _DAYS_AGO.sub(lambda match: f"{today - timedelta(int(match[1])):%Y%m%d}", self.say)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation of one customer, with at least one turn. `user_id` is the member, empty for nobody known."""

    id: str
    turns: tuple[LabelledTurn, ...]
    user_id: str = ""


_TURN = TypeAdapter(LabelledTurn)


def read_dialogues(path: Path) -> tuple[Dialogue, ...]:
    """Reads the conversations of a JSONL file. Raises InvalidConfiguration, which names what is wrong."""
    dialogues = tuple(parse_dialogue(row) for row in read_rows(path, id=str, turns=list))
    ids = [dialogue.id for dialogue in dialogues]
    if not ids:
        raise InvalidConfiguration(f"{path} 里没有对话")
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise InvalidConfiguration(f"{path} 里有编号重复的对话：{'、'.join(twice)}")
    return dialogues


def parse_dialogue(row: Mapping[str, Any]) -> Dialogue:
    """Parses a row of such a file: `id`, `user_id` and `turns`. Raises InvalidConfiguration."""
    if not row["turns"]:
        raise InvalidConfiguration(f"对话 {row['id']} 没有内容")
    turns = tuple(_parse_turn(f"{row['id']}.{number}", turn) for number, turn in enumerate(row["turns"], 1))
    return Dialogue(row["id"], turns, row.get("user_id") or "")


def build_row(dialogue: Dialogue) -> dict[str, Any]:
    """Builds a row that `parse_dialogue` reads."""
    return {"id": dialogue.id, "user_id": dialogue.user_id, "turns": [_build_turn_row(turn) for turn in dialogue.turns]}


def _parse_turn(name: str, turn: object) -> LabelledTurn:
    fields = _drop_nulls(turn) if isinstance(turn, dict) else {}
    try:
        return _TURN.validate_python(fields | {"id": name})
    except ValidationError as error:
        raise InvalidConfiguration(f"对话 {name} 这一轮写错了：{describe_problems(error)}") from error


def _build_turn_row(turn: LabelledTurn) -> Any:
    return _TURN.dump_python(turn, mode="json", by_alias=True, exclude={"id"}, exclude_none=True)


def _drop_nulls(value: Any) -> Any:
    """What is null is as if it were not there."""
    if isinstance(value, dict):
        return {name: _drop_nulls(part) for name, part in value.items() if part is not None}
    return [_drop_nulls(part) for part in value] if isinstance(value, list) else value
