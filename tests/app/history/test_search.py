"""Words, names and labels of conversations, over both databases."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.contacts.repository import ContactRepository, build_contact_key
from app.contacts.tables import ContactLabelRow, ContactRow
from app.db.engine import Database
from app.desk.types import State
from app.history.repository import ConversationSearch
from app.history.types import HistoryFilter, Standing
from app.turns.types import Claim
from app.wiring.erasure import forget_and_purge
from app.wiring.turns import build_turn_log
from tests.app.conversations.turns import MOMENT, turn
from tests.app.desk.building import desk_over, key

RESPONSE: dict[str, Any] = {"response": b'{"data": {"agent": "knowledge", "sources": [], "suggestions": []}}'}


async def say(database: Database, number: int, session: str, question: str, reply: str = "好的", **fields: Any) -> None:
    log = build_turn_log(database, lambda turns: [])
    assert await log.append_turn(turn(number, session, question=question, reply=reply, **RESPONSE | fields))


async def found(database: Database, tenant: str = "t", **wanted: Any) -> list[str]:
    rows, total = await ConversationSearch(database).search(tenant, HistoryFilter(**wanted), 50)
    assert total == len(rows)
    return [row.session_id for row in rows]


async def test_chinese_is_found_in_questions_replies_messages_and_notes(database: Database) -> None:
    await say(database, 1, "a", "退貨的運費誰出", "質量問題由商家承擔")
    await say(database, 2, "b", "Can I get refunds for order AB-1234?")
    await say(database, 3, "c", "你好")
    await say(database, 4, "x", "退货运费", tenant="other")
    desk = desk_over(database)
    await desk.service.request_person(key("c"))
    await desk.service.accept_session(key("c"), "amy")
    await desk.service.send_message(key("c"), "电子发票三天内发到邮箱", by="amy")
    await desk.service.add_note(key("c"), "顾客是批发商", "amy")
    assert await found(database, text="退货运费") == ["a"]
    assert await found(database, text="商家") == ["a"]
    assert await found(database, text="运费退货") == ["a"]
    assert await found(database, text="货的") == ["a"]  # across what the dictionary takes for words
    assert await found(database, text="refund") == ["b"]
    assert await found(database, text="ab-1234") == ["b"]
    assert await found(database, text="电子发票") == ["c"] == await found(database, text="批发商")
    assert await found(database, text="没人说过的话") == []
    assert await found(database, text='"退货" OR * NEAR(') == []
    assert await found(database, text="c") == ["c"]
    assert await found(database, "other", text="退货运费") == ["x"]
    [row], _ = await ConversationSearch(database).search("t", HistoryFilter(text="批发商"), 5)
    assert (row.snippet, row.agent, row.state) == ("顾客是批发商", "amy", State.ASSIGNED)


async def test_conversations_are_found_by_label_staff_outcome_date_and_standing(database: Database) -> None:
    for number, session in enumerate(("a", "b", "c"), 1):
        await say(database, number, session, "问", outcome="no_evidence" if session == "b" else "answered")
    desk, contacts = desk_over(database), ContactRepository(database)
    for session in ("a", "b"):
        await desk.service.request_person(key(session))
    await desk.service.accept_session(key("a"), "amy")
    await desk.service.resolve(key("a"), by="amy")
    assert await contacts.set_conversation_labels(key("a"), ["退款", "退款", "投诉"])
    assert not await contacts.set_conversation_labels(key("nowhere"), ["退款"])
    await contacts.name_contact("t", build_contact_key("", "b"), "王总", ["大客户"])
    assert await found(database, label="退款") == ["a"]
    assert await found(database, label="大客户") == ["b"] == await found(database, text="王总")
    assert await found(database, agent_id="amy") == ["a"]
    assert await found(database, outcome="no_evidence") == ["b"]
    assert await found(database, standing=Standing.ENDED) == ["a"]
    assert await found(database, standing=Standing.OPEN) == ["b"]
    assert await found(database, standing=Standing.BOT) == ["c"]
    assert await found(database, "other", label="退款") == []
    assert await contacts.list_known_labels("t") == ["大客户", "投诉", "退款"]
    await contacts.set_conversation_labels(key("a"), [])
    assert await found(database, label="退款") == []


async def test_a_members_conversations_are_one_customers_and_take_over_the_name(database: Database) -> None:
    contacts = ContactRepository(database)
    await say(database, 1, "a", "问", claim=Claim(trusted=False, digest="d", shown="d", first=True))
    await contacts.name_contact("t", build_contact_key("", "a"), "小李", ["老顾客"])
    proof = Claim(caller="M1", shown="d", trusted=False, digest="e", exists=True)
    await say(database, 2, "a", "再问", claim=proof)
    await say(database, 3, "b", "另一个会话", claim=Claim(caller="M1", first=True, digest="f", trusted=False))
    await say(database, 4, "c", "别人", claim=Claim(caller="M2", first=True, digest="g", trusted=False))
    customers = await contacts.load_customers("t", ["a", "b", "c"])
    assert [(customers[id].given, customers[id].labels) for id in "abc"] == [("小李", ("老顾客",))] * 2 + [("", ())]
    assert await contacts.list_sessions("t", build_contact_key("M1", "")) == ["b", "a"]
    assert sorted(await found(database, customer="a")) == ["a", "b"]


async def test_pages_are_counted_and_bounded(database: Database) -> None:
    contacts = ContactRepository(database)
    for number in range(60):
        await say(database, number + 1, "a", "问", page=(f"https://shop.example/{number % 55}", f"页{number}"))
    visits = await contacts.list_visits("t", build_contact_key("", "a"))
    assert len(visits) == 20 and visits[0].url == "https://shop.example/4" and visits[0].visits == 1
    later = MOMENT + timedelta(hours=1)
    await say(database, 99, "a", "问", page=("https://shop.example/4", "页"), created_at=later)
    assert (await contacts.list_visits("t", build_contact_key("", "a")))[0].visits == 2
    assert await contacts.list_visits("other", build_contact_key("", "a")) == []


async def test_nothing_of_an_erased_conversation_is_left(database: Database) -> None:
    contacts = ContactRepository(database)
    await say(database, 1, "a", "我的暗号是 zebraquartz", page=("https://shop.example/secretpage", "页"))
    await say(database, 2, "b", "别的话")
    await contacts.name_contact("t", build_contact_key("", "a"), "暗号先生", ["标签甲"])
    await contacts.name_contact("t", build_contact_key("", "b"), "留下", [])
    assert await found(database, text="zebraquartz") == ["a"]
    await database.transact(lambda connection: forget_and_purge(connection, "t", ["a"]), erases=True)
    assert await found(database, text="zebraquartz") == [] == await found(database, text="暗号先生")
    assert await found(database, text="别的") == ["b"]
    async with database.read() as connection:
        assert (await connection.execute(select(ContactRow.name))).scalars().all() == ["留下"]
        assert (await connection.execute(select(ContactLabelRow.label))).scalars().all() == []
    if (file := database.engine.url.database) and database.engine.dialect.name == "sqlite":
        raw = b"".join(path.read_bytes() for path in Path(file).parent.glob(f"{Path(file).name}*"))
        assert b"zebraquartz" not in raw and b"secretpage" not in raw
        assert "暗号先生".encode() not in raw
