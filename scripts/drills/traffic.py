"""A constant, bounded load of everything that a company's customers and people do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from secrets import token_hex
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx

from scripts.drills.fleet import Fleet
from scripts.drills.ledger import Deed, Ledger, StreamFailed
from scripts.harness.servers import CHAT, DOCUMENTS, STREAM
from scripts.harness.uploads import read_events

GOODS = ("游泳圈", "电饭煲", "吹风机", "台灯", "耳机", "充电宝", "雨伞", "背包", "水壶", "键盘", "风扇", "剃须刀")
_DESK, _AGENT = "/api/v1/agent/sessions", "drill"

# How many workers do what, each of which begins something every so many seconds, or as soon as the last is done: about
# twelve requests a second in all, because the machine that measures is also the fleet.
RATES = {
    Deed.CHAT: (4, 0.8),
    Deed.STREAM: (2, 1.0),
    Deed.UPLOAD: (1, 2.0),
    Deed.TICKET: (1, 0.8),
    Deed.CUSTOMER: (2, 1.0),
    Deed.STAFF: (2, 1.0),
}
OF_CUSTOMERS = frozenset({Deed.CHAT, Deed.STREAM, Deed.CUSTOMER})


@asynccontextmanager
async def run_traffic(fleet: Fleet) -> AsyncIterator[Ledger]:
    """Runs the load until the end of the block, and then until all that was begun is acknowledged, or given up."""
    async with fleet.open_client(fleet.key) as http:
        await _upload_goods(http)
        made = await http.post("/api/v1/keys", json={"role": "client", "name": "drill"})
        customers_key = str(made.raise_for_status().json()["key"])
        sessions = [await _request_person(http, fleet, customers_key) for _ in range(RATES[Deed.STAFF][0])]
    clients, stopping = _Clients(sessions), asyncio.Event()

    async def work(kind: Deed, source: str, worker: int, seconds: float) -> None:
        key = customers_key if kind in OF_CUSTOMERS else fleet.key
        async with fleet.open_client(key, source) as http:
            while not stopping.is_set():
                began = monotonic()
                await clients.flows[kind](http, worker)
                await asyncio.sleep(max(0.0, began + seconds - monotonic()))

    async with asyncio.TaskGroup() as group:
        for place, (kind, (workers, seconds)) in enumerate(RATES.items(), 1):
            for worker in range(workers):  # nginx spreads customers by their address
                group.create_task(work(kind, f"127.0.{place}.{worker + 1}", worker, seconds))
        try:
            yield clients.ledger
        finally:
            stopping.set()


class _Clients:
    """What each kind of worker does. sessions: those that a person has, with their secrets, one for each worker."""

    def __init__(self, sessions: list[tuple[str, str]]) -> None:
        self.ledger = Ledger()
        self.flows: dict[Deed, Callable[[httpx.AsyncClient, int], Awaitable[None]]] = {
            Deed.CHAT: self._send_chat,
            Deed.STREAM: self._send_streamed_chat,
            Deed.UPLOAD: self._send_document,
            Deed.TICKET: self._open_ticket,
            Deed.CUSTOMER: self._send_customer_message,
            Deed.STAFF: self._send_staff_message,
        }
        self._sessions = sessions
        self._numbers = count(1)

    async def _send_chat(self, http: httpx.AsyncClient, worker: int) -> None:
        """Sends a question, every other one of which was asked before."""
        number, session, key = next(self._numbers), f"c-{token_hex(8)}", str(uuid4())
        body = {"message": build_question(number, new=number % 2 == 0), "session_id": session}

        async def send() -> str:
            return str((await _post(http, CHAT, key, json=body))["message_id"])

        await self.ledger.send_until_acknowledged(Deed.CHAT, key, session, send)

    async def _send_streamed_chat(self, http: httpx.AsyncClient, worker: int) -> None:
        session, key = f"s-{token_hex(8)}", str(uuid4())
        body = {"message": build_question(next(self._numbers), new=True), "session_id": session}

        async def send() -> str:
            last: dict[str, Any] = {}
            async with http.stream("POST", STREAM, json=body, headers={"Idempotency-Key": key}) as response:
                if not response.is_success:
                    await response.aread()  # the ledger reads why
                response.raise_for_status()
                async for event in read_events(response):
                    last = event
            if last.get("type") == "done":
                return str(last["message_id"])
            raise StreamFailed(str(last["error"]["code"]) if last.get("type") == "error" else "")

        await self.ledger.send_until_acknowledged(Deed.STREAM, key, session, send)

    async def _send_document(self, http: httpx.AsyncClient, worker: int) -> None:
        part, key = f"PJ{token_hex(5).upper()}", str(uuid4())
        text = f"# 配件 {part}\n\n配件 {part} 的保修期是 {next(self._numbers)} 天，凭订单号办理。"

        async def send() -> str:
            answer = await _post(http, DOCUMENTS, key, files=[("files", (f"{part}.md", text.encode()))])
            return str(answer["job"]["id"])

        await self.ledger.send_until_acknowledged(Deed.UPLOAD, key, part, send)

    async def _open_ticket(self, http: httpx.AsyncClient, worker: int) -> None:
        subject, key = f"演练 {token_hex(8)}", str(uuid4())

        async def send() -> str:
            return str((await _post(http, "/api/v1/tickets", key, json={"subject": subject}))["number"])

        await self.ledger.send_until_acknowledged(Deed.TICKET, key, subject, send)

    async def _send_customer_message(self, http: httpx.AsyncClient, worker: int) -> None:
        (session, token), key = self._sessions[worker], str(uuid4())
        body = {"message": f"顾客说 {key}", "session_id": session, "session_token": token}

        async def send() -> str:
            return str((await _post(http, CHAT, key, json=body))["message_id"])

        await self.ledger.send_until_acknowledged(Deed.CUSTOMER, key, session, send)

    async def _send_staff_message(self, http: httpx.AsyncClient, worker: int) -> None:
        (session, _), key = self._sessions[worker], str(uuid4())
        body = {"content": f"客服说 {key}", "agent_id": _AGENT, "id": key}  # known by its id, without a header

        async def send() -> str:
            answer = await http.post(f"{_DESK}/{session}/messages", json=body)
            return str(answer.raise_for_status().json()["seq"])

        await self.ledger.send_until_acknowledged(Deed.STAFF, key, session, send)


def build_question(number: int, *, new: bool = False) -> str:
    """What is asked about one of the GOODS; new: in words that nobody has used before."""
    goods = GOODS[number % len(GOODS)]
    return f"{goods}的保修期是多久，我买了{number}个" if new else f"{goods}的保修期是多久"


async def _post(http: httpx.AsyncClient, path: str, key: str, **content: Any) -> Any:
    """Sends a request with its Idempotency-Key. Returns the body of the answer."""
    return (await http.post(path, headers={"Idempotency-Key": key}, **content)).raise_for_status().json()


async def _upload_goods(http: httpx.AsyncClient) -> None:
    """Uploads a document about each of the GOODS; returns once all are found."""
    texts = [f"# {name}\n\n{name}的保修期是{days}天，凭订单号办理。" for days, name in enumerate(GOODS, 100)]
    files = [("files", (f"{name}.md", text.encode())) for name, text in zip(GOODS, texts, strict=True)]
    for part in (files[:10], files[10:]):
        (await http.post(DOCUMENTS, params={"wait": 60}, files=part)).raise_for_status()


async def _request_person(http: httpx.AsyncClient, fleet: Fleet, key: str) -> tuple[str, str]:
    """A conversation of a customer that a person has taken, and its secret."""
    session = f"d-{token_hex(8)}"
    async with fleet.open_client(key) as customer:
        asked = await customer.post(CHAT, json={"message": "台灯的保修期是多久", "session_id": session})
        token = str(asked.raise_for_status().json()["session_token"])
    (await http.post(f"/api/v1/conversations/{session}/handoff", json={})).raise_for_status()
    (await http.post(f"{_DESK}/{session}/accept", json={"agent_id": _AGENT})).raise_for_status()
    return session, token
