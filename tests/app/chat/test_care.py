from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.business.sample.database import seed_database
from app.settings import Settings
from app.wiring.business import open_business
from knowledge.errors import InvalidConfiguration
from tests.app.serving import served

LEAVING = "气死我了！！！受够了，我要注销账号，马上退会员"


async def say(client: httpx.AsyncClient, text: str, **fields: str) -> dict[str, Any]:
    body: dict[str, Any] = (await client.post("/api/v1/chat", json={"message": text, **fields})).json()
    return body


async def test_who_leaves_is_offered_what_the_members_own_data_allow_and_goes_to_a_person(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shop.sqlite3'}"
    rows = await seed_database(url, date.today())
    black = next(member for member in rows["members"] if member["level"] == "black")
    async with (
        served(tmp_path / "data", business_database_url=url) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        member = await say(client, LEAVING, user_id=str(black["id"]))
        stranger = await say(client, LEAVING)
        unknown = await say(client, LEAVING, user_id="nobody")
    assert "您是玄笙会员" in member["reply"]
    for answer in (member, stranger, unknown):
        assert (answer["data"]["agent"], answer["data"]["escalate_to_human"]) == ("care", True)
        assert answer["data"]["degraded"] == []
        assert answer["data"]["handoff"]["state"] == "queued"
    assert "优惠券" not in stranger["reply"] and "优惠券" not in unknown["reply"]


async def test_a_hint_at_self_harm_gets_help_and_a_person(tmp_path: Path) -> None:
    async with served(tmp_path) as server, httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        answer = await say(client, "钱被骗光了，我不想活了")
    assert answer["reply"].count("12356") == 1 and answer["data"]["handoff"]["state"] == "queued"


async def test_offers_that_cannot_be_read_stop_the_start(tmp_path: Path) -> None:
    path = tmp_path / "offers.yaml"
    path.write_text("offers: 1", "utf-8")
    with pytest.raises(InvalidConfiguration, match=r"offers\.yaml"):
        async with open_business(Settings(offers_file=path), None):
            pass
