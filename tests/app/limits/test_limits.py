from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from agents.wording.catalogue import say
from app.auth.principal import STAFF, Principal, Role
from app.auth.sender import build_sender
from app.errors import Overloaded, QueueTimeout, RateLimited, Unauthorized
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.limits.attempts import Attempts
from app.limits.leases import Lease
from app.limits.slots import TurnSlots
from app.limits.types import HOUR, MINUTE, NOBODY, LimitKind, Rate, Requester, normalize_address
from app.limits.urgent import UrgentReplies
from app.limits.windows import MemoryCounters
from knowledge.work_place import release_place
from tests.app.desk.client import talking
from tests.app.limits.building import limits
from tests.app.serving import Served, served


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def hit(windows: MemoryCounters, rate: Rate, name: str = "a", kind: LimitKind = LimitKind.KEY) -> float:
    return windows.count(kind, name, rate)


@pytest.mark.parametrize("rate", [Rate(1), Rate(5), Rate(60), Rate(10, HOUR)])
def test_a_rate_is_kept_and_whoever_waits_as_told_is_taken(clock: Clock, rate: Rate) -> None:
    windows, taken = MemoryCounters(clock), list[float]()
    while clock.now < 1000 + 5 * rate.seconds:
        if wait := hit(windows, rate):
            assert 0 < wait <= rate.seconds * 2
            clock.now += wait + 1e-6
            assert hit(windows, rate) == 0.0
        taken.append(clock.now)
        clock.now += rate.seconds / rate.count / 7
    busiest = max(sum(start <= at < start + rate.seconds for at in taken) for start in taken)
    assert rate.count <= busiest <= 2 * rate.count  # the older counter is weighted as if it were spread evenly


def test_what_is_refused_is_not_counted_and_nothing_is_counted_without_a_limit(clock: Clock) -> None:
    windows = MemoryCounters(clock)
    refused = [bool(hit(windows, Rate(3))) for _ in range(50)]
    assert refused == [False] * 3 + [True] * 47
    clock.now += 2 * MINUTE
    assert not hit(windows, Rate(3))
    assert not any(hit(windows, Rate(0)) for _ in range(50))


def test_names_and_kinds_are_counted_apart_and_the_oldest_are_forgotten(clock: Clock) -> None:
    windows = MemoryCounters(clock, size=10)
    assert not hit(windows, Rate(1)) and hit(windows, Rate(1))
    assert not hit(windows, Rate(1), kind=LimitKind.SESSION)
    assert not any(hit(windows, Rate(1), str(number)) for number in range(9))
    assert hit(windows, Rate(1))
    assert not any(hit(windows, Rate(1), f"more {number}") for number in range(10))
    assert not hit(windows, Rate(1))
    assert all(len(names) <= 10 for names in windows._kinds.values())


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_counted_as_far_as_one_customer_has_it(host: str, counted: str) -> None:
    assert normalize_address(host) == counted


def test_only_a_public_key_is_counted_by_address_and_without_keys_nothing_is() -> None:
    senders = {role: build_sender(Principal("t", frozenset({role}), "k"), "203.0.113.9") for role in Role}
    assert {role: sender.address for role, sender in senders.items() if sender.address} == {Role.CLIENT: "203.0.113.9"}
    assert [role for role, sender in senders.items() if sender.server] == [Role.SERVER]
    assert {role for role, sender in senders.items() if sender.staff} == STAFF
    assert build_sender(Principal("t", frozenset(Role)), "127.0.0.1") is NOBODY


async def test_places_go_round_tenants_and_within_a_tenant_round_senders() -> None:
    slots, order = TurnSlots(1, 60), list[str]()

    async def work(name: str, tenant: str, sender: str) -> None:
        async with slots.open_slot(tenant, sender):
            order.append(name)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        await slots.acquire("first")
        for number in range(4):
            group.create_task(work(f"a{number}", "A", "flooder"))
        for name, tenant, sender in (("a-else", "A", "other"), ("b", "B", ""), ("c", "C", "")):
            group.create_task(work(name, tenant, sender))
        await asyncio.sleep(0)
        slots.release("first")
    assert order == ["a0", "b", "c", "a-else", "a1", "a2", "a3"]
    assert slots.free == 1 and not slots._waiting


async def test_the_last_place_is_for_another_tenant(clock: Clock) -> None:
    slots = TurnSlots(3, 0.01, clock)
    for _ in range(2):
        await slots.acquire("flooder")
    with pytest.raises(QueueTimeout):
        await slots.acquire("flooder")
    waiting = asyncio.create_task(slots.acquire("flooder", patience=lambda: 60))
    await slots.acquire("other")
    slots.release("other")
    await asyncio.sleep(0)
    assert slots.free == 1 and not waiting.done()
    clock.now += 60
    slots.release("flooder")
    await waiting
    assert slots.free == 1


async def test_who_was_there_lately_finds_a_share_of_the_places(clock: Clock) -> None:
    slots = TurnSlots(5, 0.01, clock)
    for _ in range(4):
        await slots.acquire("flooder")
    await slots.acquire("other")
    for tenant in ("flooder", "flooder", "flooder", "other"):
        slots.release(tenant)
    await slots.acquire("flooder")
    with pytest.raises(QueueTimeout):
        await slots.acquire("flooder")
    clock.now += 60
    for _ in range(2):
        await slots.acquire("flooder")


async def test_who_waits_too_long_is_told_and_who_leaves_waits_no_more() -> None:
    slots = TurnSlots(1, 0.01)
    await slots.acquire("a")
    with pytest.raises(QueueTimeout) as caught:
        await slots.acquire("b")
    assert caught.value.details["retry_after"] >= 1
    waiting = asyncio.create_task(slots.acquire("b", patience=lambda: 60))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert not slots._waiting
    late = asyncio.create_task(slots.acquire("b", patience=lambda: 60))
    await asyncio.sleep(0)
    slots.release("a")
    late.cancel()  # the place came at this very moment
    await asyncio.gather(late, return_exceptions=True)
    assert slots.free == 1


async def test_a_place_is_free_while_its_work_waits_for_another_server() -> None:
    slots, answered = TurnSlots(1, 60), asyncio.Event()

    async def asks() -> str:
        async with slots.open_slot("a"):
            async with release_place():
                await answered.wait()
            assert not slots.free
            return "a"

    first = asyncio.create_task(asks())
    await asyncio.sleep(0)
    async with slots.open_slot("b"):
        answered.set()
        await asyncio.sleep(0.01)
        assert not first.done()
    assert await first == "a" and slots.free == 1
    answered.clear()
    left = asyncio.create_task(asks())
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    assert slots.free == 1


async def test_an_error_outside_comes_back_to_its_place() -> None:
    slots = TurnSlots(1, 60)
    with pytest.raises(ValueError, match="down"):
        async with slots.open_slot("a"):
            try:
                async with release_place():
                    raise ValueError("down")
            finally:
                assert not slots.free
    assert slots.free == 1


async def test_wrong_secrets_are_counted_by_address_and_expired_tokens_are_none() -> None:
    refused: list[None] = []
    attempts = Attempts(Rate(2), lambda: refused.append(None))

    async def tried(host: str | None, code: str | None = "unauthorized") -> str:
        try:
            async with attempts.check_secret(host, "secret"):
                if code:
                    raise Unauthorized("", code=code)
        except (Unauthorized, RateLimited) as error:
            return error.code
        return "right"

    assert [await tried("203.0.113.9") for _ in range(4)] == ["unauthorized"] * 2 + ["too_many_attempts"] * 2
    assert await tried("203.0.113.9", None) == "right"
    assert await tried("203.0.113.8") == "unauthorized"
    assert {await tried(None) for _ in range(9)} == {"unauthorized"}
    assert {await tried("203.0.113.7", "user_token_expired") for _ in range(9)} == {"user_token_expired"}
    assert len(refused) == 2


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("我不想活了", True),
        ("I want to kill myself", True),
        ("充电宝起火了", True),
        ("孩子用了以后过敏住院", True),
        ("骗子！还我血汗钱！气死我了！！", True),
        ("退" * 5000 + "，我不想活了", True),
        ("怎么退货", False),
        ("你们几点上班", False),
        ("", False),
    ],
)
def test_what_is_urgent_is_told_without_a_model(text: str, wanted: bool) -> None:
    assert UrgentReplies(0.7).is_urgent(text) is wanted


async def test_turns_at_once_are_bounded_by_key_and_tenant() -> None:
    counted = limits(turns_per_key=2, turns_per_tenant=3)
    mine, theirs = Requester("mine"), Requester("theirs")
    leases = [taken(await counted.begin("t", sender)) for sender in (mine, mine, theirs)]
    for sender in (mine, theirs):
        refusal = await counted.begin("t", sender)
        assert isinstance(refusal, Overloaded) and refusal.code == "too_many_turns"
    with taken(await counted.begin("other", theirs)), leases.pop():
        pass
    with taken(await counted.begin("t", theirs)):
        assert counted.count_turns("t") == 3
    for lease in leases:
        lease.release()
    assert not counted.count_turns("t")


def taken(lease: Lease | Overloaded) -> Lease:
    assert isinstance(lease, Lease)
    return lease


@pytest.mark.parametrize(("text", "english"), [("怎么退货", False), ("how do I return it", True)])
async def test_a_turn_that_is_not_taken_is_told_so_in_the_customers_language(text: str, english: bool) -> None:
    counted, mine = limits(turns_per_key=1), Requester("mine")
    with taken(await counted.begin("t", mine)), pytest.raises(Overloaded) as raised:
        async with counted.open_turn("t", mine, text):
            pass
    assert raised.value.message == say("too_busy", english)


async def test_a_message_is_counted_once_for_its_session_and_an_urgent_one_is_taken() -> None:
    counted, mine = limits(rate_per_session=2), Requester("mine", server=True)
    for _ in range(2):
        assert (await counted.count_message("t", mine, "s", "怎么退货")).refusal is None
    with pytest.raises(RateLimited):
        await counted.count_message("t", mine, "s", "怎么退货")
    urgent = await counted.count_message("t", mine, "s", "我不想活了")
    async with counted.open_turn("t", urgent, "我不想活了") as is_within:
        assert not is_within


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    settings = {"rate_per_session": 9, "tickets_per_customer": 1, "handoffs_per_customer": 2, "turn_slots": 1}
    async with served(tmp_path, **settings) as server:
        yield server


async def key_of(server: Served, role: Role) -> dict[str, str]:
    key = create_key()
    await KeyRepository(server.container.base.database).create("default", role, "test", hash_key(key))
    server.container.keys._fresh_until = float("-inf")
    return {"Authorization": f"Bearer {key}"}


async def test_a_socket_is_told_in_a_frame_and_stays(server: Served) -> None:
    headers = await key_of(server, Role.CLIENT)
    async with talking(
        server.address, "/api/v1/conversations/s/ws?after=0", additional_headers=headers, proxy=None
    ) as customer:
        for number in range(12):
            await customer.send("message", content="你好", id=f"m{number}")
        refused = await customer.until(lambda frame: frame["type"] == "error")
        assert refused["error"]["code"] == "rate_limit_exceeded"
        assert refused["error"]["details"]["retry_after"] >= 1
        await customer.send("message", content="我不想活了", id="urgent")
        done = await customer.until(lambda frame: frame["type"] == "done" and frame.get("id") == "urgent")
        assert done["outcome"] == "high_stakes" and "12356" in done["reply"]


async def test_tickets_and_handoffs_of_a_customer_are_counted_by_the_hour(server: Served) -> None:
    headers = await key_of(server, Role.SERVER)
    async with httpx.AsyncClient(base_url=server.address, headers=headers, timeout=30) as http:

        async def say(session: str, text: str) -> str:
            body = {"message": text, "session_id": session, "user_id": "m1"}
            reply: str = (await http.post("/api/v1/chat", json=body)).json()["reply"]
            return reply

        replies = []
        for session, trouble in (("s1", "空调不制冷了，昨天开始的"), ("s2", "洗衣机一直漏水")):
            for text in ("帮我建个工单", trouble):
                await say(session, text)
            replies.append(await say(session, "确认"))
        assert "编号" in replies[0] and "暂时没有提交" in replies[1]
        asked = [await http.post(f"/api/v1/conversations/h{n}/handoff", json={"user_id": "m1"}) for n in range(3)]
        assert [answer.status_code for answer in asked] == [200, 200, 429]
        assert int(asked[2].headers["retry-after"]) > 60
        said = await http.post("/api/v1/chat", json={"message": "转人工", "session_id": "h9", "user_id": "m1"})
        assert "没有排进队列" in said.json()["reply"] and "handoff" not in said.json()["data"]
        other = await http.post("/api/v1/conversations/h10/handoff", json={"user_id": "m2"})
        assert other.status_code == 200


async def test_a_client_that_leaves_leaves_its_place(server: Served) -> None:
    """With one place: streams that are given up, waiting or running, must not keep it."""

    async def leave(number: int) -> None:
        async with httpx.AsyncClient(base_url=server.address, timeout=30) as http:
            body = {"message": f"第 {number} 个问题：退货运费谁出"}
            async with http.stream("POST", "/api/v1/chat/stream", json=body) as stream:
                assert stream.status_code == 200

    leaving = [asyncio.create_task(leave(number)) for number in range(40)]
    await asyncio.sleep(0.05)
    for task in leaving[::2]:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    async with httpx.AsyncClient(base_url=server.address, timeout=30) as http:
        assert (await http.post("/api/v1/chat", json={"message": "你好"})).status_code == 200
    counted = server.container.limits
    for _ in range(600):
        if not counted.count_turns("default") and counted.slots.free == 2:
            break
        await asyncio.sleep(0.05)
    assert not counted.count_turns("default") and counted.slots.free == 2


async def test_without_keys_nothing_is_counted(server: Served) -> None:
    async with httpx.AsyncClient(base_url=server.address, timeout=30) as http:
        answers = [await http.post("/api/v1/chat", json={"message": "你好", "session_id": "s"}) for _ in range(30)]
    assert {answer.status_code for answer in answers} == {200}
