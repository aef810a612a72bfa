"""Who reads a turn with rows again: its member, models only where the setting says so, nobody else."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.business.sample.database import seed_database
from agents.model_reading import ModelReader, can_be_read
from agents.types import Answer, Outcome, Question, RowSource
from agents.understanding.state import DialogueState, Turn
from agents.understanding.utterance import Utterance
from app.conversations.rows import find_rows_owner, select_readable
from app.conversations.types import TurnRow
from scripts.scripted_llm import Say, ScriptedLLM
from tests.agents.models import scripted
from tests.agents.support import ANALYZER
from tests.app.serving import served

ROW = "订单 YD1 已发货，金额 899 元"


def row(reply: str, owner: str = "") -> TurnRow:
    data: dict[str, Any] = {"data": {"suggestions": []}}
    return TurnRow("m", "我的订单呢", "我的订单呢", reply, "answered", data, datetime.now(UTC), owner)


ROWS = [row("七天无理由"), row(ROW, "M1"), row("保修三年")]


@pytest.mark.parametrize(
    ("caller", "to_model", "replies"),
    [
        ("M1", True, ["七天无理由", ROW, "保修三年"]),
        ("M1", False, ["七天无理由", "", "保修三年"]),
        ("M2", True, ["七天无理由", "保修三年"]),
        ("", True, ["七天无理由", "保修三年"]),
        ("", False, ["七天无理由", "保修三年"]),
    ],
)
def test_a_turn_with_rows_is_its_members(caller: str, to_model: bool, replies: list[str]) -> None:
    turns = select_readable(ROWS, caller, to_model=to_model)
    assert [turn.reply for turn in turns] == replies
    assert [turn.rows for turn in turns] == [not reply for reply in replies]


@pytest.mark.parametrize(
    ("agent", "sources", "owner"),
    [
        ("business", (), "M1"),
        ("care", (), "M1"),
        ("knowledge", (RowSource("orders", "1", {}),), "M1"),
        ("knowledge", (), ""),
    ],
)
def test_what_an_agent_says_of_a_member_is_the_members(agent: str, sources: tuple[RowSource], owner: str) -> None:
    assert find_rows_owner(Answer(ROW, Outcome.ANSWERED, "x", agent, sources=sources), "M1") == owner


async def test_a_model_reads_no_turn_with_rows() -> None:
    plain, hidden = (
        Turn(Utterance("退货怎么申请"), "在 App 里提交。"),
        Turn(Utterance("我的订单呢"), "", rows=True),
    )
    assert not can_be_read(
        Question(Utterance("那运费呢"), history=(plain, hidden))
    )  # what it leans on is not for a model
    async with scripted(Say("退货的运费由谁承担？")) as llm:
        await ModelReader(llm.model, 20, ANALYZER).read(Question(Utterance("那运费呢"), history=(hidden, plain)))
        assert "我的订单呢" not in llm.server.prompt and "退货怎么申请" in llm.server.prompt


@pytest.mark.parametrize("allowed", [True, False])
async def test_rows_reach_a_model_only_where_the_setting_says_so_and_only_for_their_member(
    tmp_path: Path, allowed: bool
) -> None:
    url = f"sqlite:///{tmp_path / 'business.sqlite3'}"
    order = next(row["id"] for row in (await seed_database(url, date.today()))["orders"] if row["member_id"] == "M0001")
    async with ScriptedLLM(Say("保修多久")) as llm:
        model = {"llm_base_url": llm.base_url, "llm_api_key": "x", "business_rows_to_model": allowed}
        async with (
            served(tmp_path / "data", business_database_url=url, **model) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as http,
        ):

            async def say(session: str, text: str, caller: str = "M0001") -> str:
                body = {"message": text, "session_id": session, "user_id": caller}
                reply: str = (await http.post("/api/v1/chat", json=body)).json()["reply"]
                return reply

            for session, caller, seen in (("own", "M0001", allowed), ("signed-out", "", False)):
                told = (await say(session, f"订单 {order} 到哪了"))[:12]
                await say(session, "退货运费谁出")
                llm.bodies.clear()
                await say(session, "那保修呢", caller)
                asked = json.dumps(list(llm.bodies), ensure_ascii=False)
                assert "退货运费谁出" in asked and (told in asked) is seen
                [turn] = await server.container.conversations.load_last_turns("default", session, 1)
                about = DialogueState.from_json(turn.state)
                assert (order in "".join(about.questions)) is (about.member == "M0001") is bool(caller)
