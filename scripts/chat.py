"""The chat in a terminal: `python scripts/chat.py [--trace] [--url http://127.0.0.1:8000] [question]`.

Without `--url` this process answers itself, over the same ChatService as the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx

from agents.types import Evidence, Routed
from app.auth.principal import DEFAULT_TENANT
from app.chat.event_format import build_frame
from app.chat.flight import start_turn_flight
from app.chat.service import ChatService
from app.errors import describe
from app.hit_test.schemas import SearchResponse
from app.hit_test.trial import TrialResult
from app.ids import create_id
from app.logging import configure_logging
from app.main import open_container
from app.private import keep_private
from app.settings import load_settings
from app.turns.types import Message
from app.types import Proof
from knowledge.errors import InvalidConfiguration, KnowledgeError

SESSION_TOKEN = "X-Session-Token"
# Kind and data, as on the wire; `routed` and `evidence` exist only here.
Event = tuple[str, dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when the chat could not be opened or a single question failed."""
    options = _parse_arguments(arguments)
    try:
        return asyncio.run(_ask_remote(options) if options.url else _answer_here(options))
    except (KeyboardInterrupt, EOFError):
        print()
        return 0
    except InvalidConfiguration as error:
        print(f"{error}\n服务正在运行时，请用 --url 连接它，例如 --url http://127.0.0.1:8000", file=sys.stderr)
    except KnowledgeError as error:
        print(describe(error).message, file=sys.stderr)
    except httpx.HTTPError as error:
        print(f"连接不上 {options.url}：{error}", file=sys.stderr)
    return 1


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/chat.py", description="在终端里对话")
    parser.add_argument("question", nargs="*", help="只问这一句；不给则逐句对话，空行或 Ctrl-D 结束")
    parser.add_argument("--url", help="已在运行的服务的地址；不给则由本进程回答")
    parser.add_argument("--key", help="该服务的密钥；不给则用 API_KEY")
    parser.add_argument("--session", default=None, help="接着某个会话编号继续")
    parser.add_argument("--session-token", default="", help="该会话的凭据；用 client 密钥接着一个会话时要给")
    parser.add_argument(
        "--trace", action="store_true", help="显示每一步：意图、各智能体的把握、改写、召回、融合、重排、门槛、耗时"
    )
    return parser.parse_args(arguments)


async def _answer_here(options: argparse.Namespace) -> int:
    configure_logging("WARNING")  # lines of the log would stand between those of the conversation
    settings = load_settings()
    keep_private(settings.data_dir)
    async with open_container(settings) as container:
        await container.startup.prepare()
        await container.learning.learn(container.startup)  # else rules alone would route what is asked here

        def ask(text: str, session: str) -> AsyncIterator[Event]:
            message = Message(DEFAULT_TENANT, session, text, trace_id=create_id(), proof=Proof(trusted=True))
            return _stream_service(container.chat, message)

        return await _run_conversation(ask, options)


async def _ask_remote(options: argparse.Namespace) -> int:
    key = options.key or load_settings().api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    headers |= {SESSION_TOKEN: options.session_token} if options.session_token else {}
    async with httpx.AsyncClient(base_url=options.url.rstrip("/"), headers=headers, timeout=120) as client:

        def ask(text: str, session: str) -> AsyncIterator[Event]:
            return _stream_server(client, text, session, trace=options.trace)

        return await _run_conversation(ask, options)


async def _run_conversation(ask: Any, options: argparse.Namespace) -> int:
    session = options.session or create_id()
    if options.question:
        return await _show_turn(ask(" ".join(options.question), session), options.trace)
    print(f"会话 {session}。请输入问题，空行结束。")
    while text := (await asyncio.to_thread(input, "\n您：")).strip():
        await _show_turn(ask(text, session), options.trace)
    return 0


async def _stream_service(chat: ChatService, message: Message) -> AsyncIterator[Event]:
    try:
        with start_turn_flight(partial(chat.run_turn, message)).follow() as turn:
            while (event := await turn.read_event()) is not None:
                match event:
                    case Routed():
                        yield "routed", _describe_choice(event)
                    case Evidence(question, retrieval):
                        timings, degraded = retrieval.timings_ms, retrieval.degraded
                        tried = TrialResult(question.utterance.normalized, retrieval, timings, degraded)
                        found = SearchResponse.from_result(tried, None, explain=False).model_dump(mode="json")
                        yield "evidence", found | {"rewrite": question.utterance.rewrite}
                    case _:
                        if frame := build_frame(event):
                            yield frame
    except KnowledgeError as error:
        yield "error", describe(error).build_body(message.trace_id)


async def _stream_server(client: httpx.AsyncClient, text: str, session: str, *, trace: bool) -> AsyncIterator[Event]:
    if trace:
        found = await client.post("/api/v1/knowledge/search", json={"query": text, "explain": True})
        if found.is_success:
            yield "evidence", found.json()
    body = {"message": text, "session_id": session, "channel": "terminal"}
    async with client.stream("POST", "/api/v1/chat/stream", json=body) as response:
        if not response.is_success:
            await response.aread()
            yield "error", response.json()
            return
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                if token := data.get("session_token"):
                    client.headers[SESSION_TOKEN] = token  # a client key has to show it from the second turn on
                yield data["type"], data


async def _show_turn(events: AsyncIterator[Event], trace: bool) -> int:
    failed, speaking = 0, False
    async for kind, data in events:
        match kind:
            case "meta":
                if trace:
                    print(f"  [路由] 智能体 {data['agent']}，意图 {data['intent']}")
            case "routed" if trace:
                print(_format_choice(data))
            case "evidence" if trace:
                print(_format_evidence(data))
            case "token":
                print(data["text"] if speaking else f"应答：{data['text']}", end="", flush=True)
                speaking = True
            case "replace":
                print(f"\n（更正）{data['text']}", end="", flush=True)
            case "done":
                print(_format_closing(data, trace))
            case "error":
                failed = 1
                print(f"\n出错了：{data['error']['message']}（{data['error']['code']}）", file=sys.stderr)
    return failed


def _describe_choice(routed: Routed) -> dict[str, Any]:
    """Where the message was sent, and what the agents bid."""
    trace, decision = routed.route.trace, routed.decision
    return {"tier": trace.tier, "verdict": trace.verdict} | decision.to_json()


def _format_choice(choice: dict[str, Any]) -> str:
    lines = [f"  [意图] {choice['verdict']}（{choice['tier']}）", f"  [决定] {choice['why']}"]
    for bid in choice["bids"]:
        lines.append(f"    {bid['probability']:.3f} {bid['rank']:8} {bid['intent']:16} {bid['why']}")
    return "\n".join(lines)


def _format_evidence(found: dict[str, Any]) -> str:
    lines = []
    if found.get("rewrite"):
        lines.append(f"  [改写] {found['rewrite']}")
    terms = "、".join(f"{term} {weight:.1f}" for term, weight in found["terms"].items())
    lines.append(f"  [分词] {terms}")
    lines.append("  [候选] 向量名次 词名次   余弦    BM25   融合    打分  概率  判定")
    for candidate in found["candidates"]:
        ranks = f"{candidate['vector_rank'] or '-':>8} {candidate['keyword_rank'] or '-':>6}"
        scores = (
            f"{candidate['cosine']:7.3f} {candidate['bm25']:7.2f} {candidate['fused']:.4f} {candidate['score']:7.3f}"
        )
        where = candidate["question"] or f"{candidate['title']} > {candidate['heading']}"
        lines.append(f"    {ranks} {scores} {candidate['probability']:.3f} {candidate['verdict']:8} {where[:40]}")
    degraded = f"，降级 {found['degraded']}" if found["degraded"] else ""
    lines.append(f"  [门槛] {found['verdict']}，知识库版本 {found['revision']}{degraded}")
    return "\n".join(lines)


def _format_closing(response: dict[str, Any], trace: bool) -> str:
    data = response["data"]
    lines = [""]
    for source in data["sources"]:
        place = " > ".join(part for part in (source["title"], source["heading"]) if part)
        lines.append(f"  [{source['index']}] {place}（{source['score']:.2f}）")
    if trace:
        timings = "，".join(f"{stage} {milliseconds:.1f} ms" for stage, milliseconds in data["timings_ms"].items())
        lines.append(f"  [结果] {response['outcome']}，置信度 {data['confidence']:.2f}；{timings}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
