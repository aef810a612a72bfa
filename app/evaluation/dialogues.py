"""Hand-labelled conversations: what customers say, and what counts as right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from agents.types import Page
from app.chat.page_schemas import PageIn
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.rows import read_rows

_DAYS_AGO = re.compile(r"\{d-(\d+)\}")


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
    `note`, and that it is `date_dependent`, are for people.
    """

    kinds: frozenset[TurnKind]
    must_any: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    note: str = ""
    date_dependent: bool = False


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One message of a customer; `id` is the conversation's with the turn's number from 1, as in c29.2."""

    id: str
    say: str
    tag: str
    expect: Expectation
    page: Page | None = None

    def fill_dates(self, today: date) -> str:
        """Returns the message with `{d-2}` as the date two days ago, YYYYMMDD, as order numbers contain it."""
        return _DAYS_AGO.sub(lambda match: f"{today - timedelta(int(match[1])):%Y%m%d}", self.say)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation of one customer, with at least one turn. `user_id` is the member, empty for nobody known."""

    id: str
    turns: tuple[LabelledTurn, ...]
    user_id: str = ""


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


def _build_turn_row(turn: LabelledTurn) -> dict[str, Any]:
    expect = turn.expect
    expected = {
        "kind": sorted(expect.kinds),
        "must_any": [list(group) for group in expect.must_any],
        "must_not": list(expect.must_not),
        "source": list(expect.sources),
        "documents": list(expect.documents),
        "note": expect.note,
        "date_dependent": expect.date_dependent,
    }
    return {"say": turn.say, "tag": turn.tag, "expect": expected} | ({"page": asdict(turn.page)} if turn.page else {})


def _parse_turn(name: str, turn: Mapping[str, Any]) -> LabelledTurn:
    try:
        page = PageIn.model_validate(turn["page"]).build_page() if turn.get("page") else None
        return LabelledTurn(name, turn["say"], turn.get("tag") or "", _parse_expectation(turn["expect"]), page)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidConfiguration(f"对话 {name} 这一轮写错了：{error}") from error


def _parse_expectation(row: Mapping[str, Any]) -> Expectation:
    expectation = Expectation(
        frozenset(map(TurnKind, row["kind"])),
        tuple(tuple(group) for group in row.get("must_any") or ()),
        tuple(row.get("must_not") or ()),
        tuple(row.get("source") or ()),
        tuple(row.get("documents") or ()),
        row.get("note") or "",
        bool(row.get("date_dependent")),
    )
    if not expectation.kinds:
        raise ValueError("没有 kind")
    return expectation
