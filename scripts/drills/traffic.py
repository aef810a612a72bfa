"""A constant, bounded load of everything that a company's customers and people do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from secrets import token_hex
from time import monotonic
from uuid import uuid4

import httpx

from scripts.drills.clients import Client, Told, post_json, read_turn, stream_turn
from scripts.drills.fleet import Fleet
from scripts.drills.ledger import Deed, Ledger
from scripts.harness.servers import CHAT, DOCUMENTS

GOODS = ("游泳圈", "电饭煲", "吹风机", "台灯", "耳机", "充电宝", "雨伞", "背包", "水壶", "键盘", "风扇", "剃须刀")
TICKETS = "/api/v1/tickets"
_DESK, _AGENT = "/api/v1/agent/sessions", "drill"


@dataclass(frozen=True, slots=True)
class Pace:
    """workers of a kind, each of which begins something every `seconds`, or as soon as the last is done."""

    workers: int
    seconds: float


# About twelve requests a second in all: the machine that measures is also the fleet.
RATES = {
    Deed.CHAT: Pace(4, 0.8),
    Deed.STREAM: Pace(2, 1.0),
    Deed.UPLOAD: Pace(1, 2.0),
    Deed.TICKET: Pace(1, 0.8),
    Deed.CUSTOMER: Pace(2, 1.0),
    Deed.STAFF: Pace(2, 1.0),
}


class ConstantTraffic:
    """Runs from `start` to `stop`. sessions: those that a person has, with their secrets."""

    def __init__(self, fleet: Fleet, client_key: str, sessions: list[tuple[str, str]]) -> None:
        self.ledger = Ledger()
        self.client = Client(self.ledger, monotonic())
        self._fleet, self._key, self._sessions = fleet, client_key, sessions
        self._numbers: Iterator[int] = count(1)
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Starts all workers."""
        flows: dict[Deed, Callable[[httpx.AsyncClient, int], Awaitable[object]]] = {
            Deed.CHAT: self._send_chat,
            Deed.STREAM: self._send_streamed_chat,
            Deed.UPLOAD: self._send_document,
            Deed.TICKET: self._open_ticket,
            Deed.CUSTOMER: self._send_customer_message,
            Deed.STAFF: self._send_staff_message,
        }
        for place, (kind, rate) in enumerate(RATES.items()):
            key = self._key if kind in (Deed.CHAT, Deed.STREAM, Deed.CUSTOMER) else self._fleet.key
            for number in range(rate.workers):
                source = f"127.0.{place + 1}.{number + 1}"  # nginx spreads customers by their address
                self._tasks.append(asyncio.create_task(self._run_flow(flows[kind], key, source, number, rate.seconds)))

    async def stop(self) -> None:
        """Returns once everything that was begun is acknowledged, or given up. Raises what a worker raised."""
        self._stopping.set()
        await asyncio.gather(*self._tasks)

    async def _run_flow(
        self,
        flow: Callable[[httpx.AsyncClient, int], Awaitable[object]],
        key: str,
        source: str,
        number: int,
        seconds: float,
    ) -> None:
        async with self._fleet.open_client(key, source) as http:
            while not self._stopping.is_set():
                began = monotonic()
                await flow(http, number)
                await asyncio.sleep(max(0.0, began + seconds - monotonic()))

    async def _send_chat(self, http: httpx.AsyncClient, worker: int) -> None:
        """Sends a question, every other one of which was asked before."""
        number, session, key = next(self._numbers), f"c-{token_hex(8)}", str(uuid4())
        body = {"message": build_question(number, new=number % 2 == 0), "session_id": session}
        await self.client.send_until_acknowledged(
            Deed.CHAT, key, session, lambda: post_json(http, CHAT, key, body, read_turn)
        )

    async def _send_streamed_chat(self, http: httpx.AsyncClient, worker: int) -> None:
        number, session, key = next(self._numbers), f"s-{token_hex(8)}", str(uuid4())
        body = {"message": build_question(number, new=True), "session_id": session}
        await self.client.send_until_acknowledged(Deed.STREAM, key, session, lambda: stream_turn(http, key, body))

    async def _send_document(self, http: httpx.AsyncClient, worker: int) -> None:
        number, key = next(self._numbers), str(uuid4())
        part = f"PJ{token_hex(5).upper()}"
        files = [
            ("files", (f"{part}.md", f"# 配件 {part}\n\n配件 {part} 的保修期是 {number} 天，凭订单号办理。".encode()))
        ]

        async def send() -> httpx.Response | Told:
            response = await http.post(DOCUMENTS, files=files, headers={"Idempotency-Key": key})
            return (str(response.json()["job"]["id"]), ()) if response.is_success else response

        await self.client.send_until_acknowledged(Deed.UPLOAD, key, part, send)

    async def _open_ticket(self, http: httpx.AsyncClient, worker: int) -> None:
        key, subject = str(uuid4()), f"演练 {token_hex(8)}"

        def read_number(body: object) -> Told:
            assert isinstance(body, dict)
            return str(body["number"]), ()

        body = {"subject": subject}
        await self.client.send_until_acknowledged(
            Deed.TICKET, key, subject, lambda: post_json(http, TICKETS, key, body, read_number)
        )

    async def _send_customer_message(self, http: httpx.AsyncClient, worker: int) -> None:
        key, (session, token) = str(uuid4()), self._sessions[worker]
        body = {"message": f"顾客说 {key}", "session_id": session, "session_token": token}
        await self.client.send_until_acknowledged(
            Deed.CUSTOMER, key, session, lambda: post_json(http, CHAT, key, body, read_turn)
        )

    async def _send_staff_message(self, http: httpx.AsyncClient, worker: int) -> None:
        key, (session, _) = str(uuid4()), self._sessions[worker]
        body = {"content": f"客服说 {key}", "agent_id": _AGENT, "id": key}

        async def send() -> httpx.Response | Told:
            response = await http.post(f"{_DESK}/{session}/messages", json=body)
            return (str(response.json()["seq"]), ()) if response.is_success else response

        await self.client.send_until_acknowledged(Deed.STAFF, key, session, send)


def build_question(number: int, *, new: bool = False) -> str:
    """What is asked about one of the GOODS; new: in words that nobody has used before."""
    goods = GOODS[number % len(GOODS)]
    return f"{goods}的保修期是多久，我买了{number}个" if new else f"{goods}的保修期是多久"


async def prepare_traffic(fleet: Fleet) -> ConstantTraffic:
    """Puts up what the load asks for: documents, a key for customers, conversations that a person has."""
    async with fleet.open_client(fleet.key) as http:
        await upload_goods(http)
        made = await http.post("/api/v1/keys", json={"role": "client", "name": "drill"})
        key = str(made.raise_for_status().json()["key"])
        sessions = [await _request_person(http, fleet, key) for _ in range(RATES[Deed.STAFF].workers)]
    return ConstantTraffic(fleet, key, sessions)


async def upload_goods(http: httpx.AsyncClient) -> None:
    """Uploads a document about each of the GOODS; returns once all are found."""
    texts = [f"# {name}\n\n{name}的保修期是{days}天，凭订单号办理。" for days, name in enumerate(GOODS, 100)]
    files = [("files", (f"{name}.md", text.encode())) for name, text in zip(GOODS, texts, strict=True)]
    for part in (files[:10], files[10:]):
        (await http.post(DOCUMENTS, params={"wait": 60}, files=part)).raise_for_status()


async def _request_person(http: httpx.AsyncClient, fleet: Fleet, key: str) -> tuple[str, str]:
    session = f"d-{token_hex(8)}"
    async with fleet.open_client(key) as customer:
        asked = await customer.post(CHAT, json={"message": "台灯的保修期是多久", "session_id": session})
        token = str(asked.raise_for_status().json()["session_token"])
    (await http.post(f"/api/v1/conversations/{session}/handoff", json={})).raise_for_status()
    (await http.post(f"{_DESK}/{session}/accept", json={"agent_id": _AGENT})).raise_for_status()
    return session, token


@asynccontextmanager
async def run_traffic(fleet: Fleet) -> AsyncIterator[ConstantTraffic]:
    """Runs the load until the end of the block."""
    load = await prepare_traffic(fleet)
    load.start()
    try:
        yield load
    finally:
        await load.stop()
