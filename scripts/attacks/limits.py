"""Too much of everything: what one sender floods, the others do not feel, and it is told so honestly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from statistics import median
from time import perf_counter
from typing import Any

import httpx
from websockets.asyncio.client import connect

from app.limits.types import MINUTE
from scripts.harness.checks import Report
from scripts.harness.load import Flood, run_flood
from scripts.harness.servers import CHAT, COMPLETIONS, STREAM, Target

REFUSED = frozenset({429, 503})
CONNECTIONS, SECONDS, ASKED = 150, 10.0, 40
# Of another tenant's median beside the flood and alone; the slack is for machines that have other work as well.
RATIO, SLACK_SECONDS = 3.0, 0.15
URGENT = ("我不想活了，想从楼上跳下去", "充电宝起火了，我的手被烫伤")
# Requests until a limit has to show.
MOST_TRIED = 2500
# After which no request counts any more, for whatever is tried next from this address.
FORGOTTEN_SECONDS = 2 * MINUTE
# Connections that keep a limit reached while others are tried, and how often: now and then one is let through.
PRESSING, TRIES = 12, 6
# Counted as any message, and cheap.
_NOTHING = {"message": ""}
_SOME = "/api/v1/conversations/nobody/handoff"


async def run_attack(target: Target) -> Report:
    """Runs all checks, as heavily as the default limits of the product allow."""
    report = Report()
    if not target.client or not target.other_client:
        return report
    await check_other_tenants(target, report)
    await check_handoffs(target, report)
    await check_urgent(target, report)
    await check_sign_ins(target, report)
    await asyncio.sleep(FORGOTTEN_SECONDS)
    return report


async def check_other_tenants(
    target: Target, report: Report, connections: int = CONNECTIONS, seconds: float = SECONDS, asked: int = ASKED
) -> None:
    """Floods with one key, and measures another tenant's median alone and meanwhile."""
    async with target.open_client(target.other_client) as http:
        await _measure_median(http, "先问", asked // 2)  # what is built at its first use is not measured
        alone = await _measure_median(http, "单独问", asked)
        async with run_flood(Flood(target.port, target.client, "运费险怎么赔付", seconds, connections)) as counts:
            await asyncio.sleep(0.5)  # until all connections are at work
            beside = await _measure_median(http, "同时问", asked)
    report.check(beside <= RATIO * alone + SLACK_SECONDS, f"另一租户的中位数从 {alone:.3f} 秒升到 {beside:.3f} 秒")
    report.check(counts["429"] + counts["503"] > 0, f"{connections} 个连接没有一次被拒：{dict(counts)}")
    report.check(counts["200"] > 0, "一条也没有回答")
    report.check(counts["untold"] == 0, f"{counts['untold']} 次拒绝没有 Retry-After")
    report.check(set(counts) <= {"200", "429", "503", "untold"}, f"别的状态：{dict(counts)}")


async def check_handoffs(target: Target, report: Report, tried: int = 200) -> int:
    """Requests a person from ever new sessions. Returns how many requests got through."""
    async with target.open_client(target.client) as http:

        async def ask(number: int) -> httpx.Response:
            return await http.post(f"/api/v1/conversations/flood-{number}/handoff", json={})

        answers = await asyncio.gather(*map(ask, range(tried)))
        through = sum(answer.status_code == 200 for answer in answers)
        report.check(through < tried, f"{tried} 次请求人工都进了队列")
        report.check(
            all(_has_retry_after(answer) for answer in answers if answer.status_code != 200), "拒绝没有说多久后再试"
        )
        spoken = await http.post(CHAT, json={"message": "转人工", "session_id": "flood-said"})
        if spoken.status_code == 200:
            report.check("handoff" not in spoken.json()["data"], "说出来的请求没有被计数")
        else:
            report.check(_has_retry_after(spoken), "说出来的请求被拒，但没有说多久后再试")
    return through


async def check_urgent(target: Target, report: Report, tried: int = MOST_TRIED) -> None:
    """Beyond the limit of a session, and then of an address, urgent messages are answered all the same."""
    async with target.open_client(target.other_client) as http:
        for own in ({"session_id": "urgent-session"}, {}):
            limited = await _send_until_limited(http, own, tried)
            report.check(limited is not None, f"{tried} 次请求没有碰到上限")
            if limited is not None:
                report.check(_has_retry_after(limited), "429 没有 Retry-After 或 details.retry_after")
                async with _keep_limited(http, own):
                    await _check_refusals(http, own, report)
                    await _check_urgent_answers(http, own, report)


async def check_sign_ins(target: Target, report: Report, tried: int = 80) -> None:
    """Guesses from one address are not looked at any more, and right keys go on working."""
    async with target.open_client(target.client) as known, target.open_client() as http:
        wrong = [await http.get(_SOME, headers={"X-API-Key": f"yd-wrong-{number}"}) for number in range(tried)]
        statuses = [answer.status_code for answer in wrong]
        report.check(set(statuses) == {401, 429}, f"{tried} 个错误密钥：{sorted(set(statuses))}")
        report.check(statuses[-1] == 429, "错误的密钥不再缓答")
        report.check(
            all(_has_retry_after(answer) for answer in wrong if answer.status_code == 429), "429 没有 Retry-After"
        )
        right = await known.get(_SOME)
        report.check(right.status_code not in (401, 429), f"正确的密钥也被拒了：{right.status_code}")
        report.check(await _ask_socket(target, "yd-wrong-socket") == "too_many_attempts", "WebSocket 上还能再试")


async def _measure_median(http: httpx.AsyncClient, text: str, count: int) -> float:
    taken = []
    for number in range(count):
        started = perf_counter()
        answer = await http.post(CHAT, json={"message": f"{text}，第 {number} 个：退货运费谁出"})
        answer.raise_for_status()
        taken.append(perf_counter() - started)
    return median(taken)


async def _send_until_limited(http: httpx.AsyncClient, own: dict[str, str], most: int) -> httpx.Response | None:
    """Sends at most so many messages until one is refused. Returns the refusal."""
    for _ in range(0, most, 50):
        for answer in await asyncio.gather(*(http.post(CHAT, json=_NOTHING | own) for _ in range(50))):
            if answer.status_code == 429:
                return answer
    return None


@asynccontextmanager
async def _keep_limited(http: httpx.AsyncClient, own: dict[str, str]) -> AsyncIterator[None]:
    """Keeps a limit reached until the end of the block."""

    async def send_forever() -> None:
        while True:
            await http.post(CHAT, json=_NOTHING | own)

    tasks = [asyncio.create_task(send_forever()) for _ in range(PRESSING)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _is_answered(
    http: httpx.AsyncClient, path: str, body: dict[str, Any], held: Callable[[httpx.Response], bool]
) -> tuple[bool, str]:
    """Whether a request beyond the limit is answered as it should be, and how it was."""
    for _ in range(TRIES):
        answer = await http.post(path, json=body)
        if held(answer):
            return True, ""
    return False, f"{path} {answer.status_code} {answer.text[:200]}"


async def _check_refusals(http: httpx.AsyncClient, own: dict[str, str], report: Report) -> None:
    """Checks how an ordinary message beyond the limit is refused, at every interface."""
    report.check(*await _is_answered(http, STREAM, {"message": "你好"} | own, _has_retry_after))
    for stream in (False, True):
        report.check(
            *await _is_answered(
                http, COMPLETIONS, _build_completion("你好", stream=stream) | own, _has_openai_retry_after
            )
        )


async def _check_urgent_answers(http: httpx.AsyncClient, own: dict[str, str], report: Report) -> None:
    """Checks that urgent messages are answered; in a session only the first, then a person reads."""
    for text in URGENT:
        report.check(*await _is_answered(http, CHAT, {"message": text} | own, _is_cared_for))
        if own:
            return
        report.check(*await _is_answered(http, STREAM, {"message": text}, _is_streamed_with_care))
        report.check(*await _is_answered(http, COMPLETIONS, _build_completion(text), _is_cared_for))


def _build_completion(text: str, *, stream: bool = False) -> dict[str, Any]:
    return {"model": "yingda", "messages": [{"role": "user", "content": text}], "stream": stream}


def _has_retry_after(answer: httpx.Response) -> bool:
    """Whether a refusal says when to try again, in its header and in its body."""
    if answer.status_code not in REFUSED:
        return False
    seconds = answer.json()["error"]["details"].get("retry_after", 0)
    return bool(seconds >= 1) and answer.headers.get("retry-after") == str(seconds)


def _has_openai_retry_after(answer: httpx.Response) -> bool:
    if answer.status_code != 429:
        return False
    return answer.json()["error"]["type"] == "rate_limit_error" and int(answer.headers["retry-after"]) >= 1


def _is_cared_for(answer: httpx.Response) -> bool:
    """Whether it has the care agent's words and the way to a person."""
    if answer.status_code != 200:
        return False
    body = answer.json()
    outcome = body.get("outcome") or body["yingda"]["outcome"]
    reply = body.get("reply") or body["choices"][0]["message"]["content"]
    return bool(outcome == "high_stakes" and ("12356" in reply or "人工" in reply))


def _is_streamed_with_care(answer: httpx.Response) -> bool:
    return answer.status_code == 200 and '"outcome":"high_stakes"' in answer.text


async def _ask_socket(target: Target, key: str) -> str:
    """The error code that a socket answers to a key."""
    address = target.address.replace("http", "ws", 1) + "/api/v1/conversations/flood-socket/ws"
    async with connect(address, additional_headers={"X-API-Key": key}, proxy=None) as socket:
        await socket.send(json.dumps({"type": "hello"}))
        frame = json.loads(await socket.recv())
        return str(frame.get("error", {}).get("code", ""))
