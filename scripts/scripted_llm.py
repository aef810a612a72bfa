"""A scripted OpenAI-compatible model: `python scripts/scripted_llm.py [--port 8100] [--script obey] [--seed 1]`.

It answers from the fragments in the prompt, or misbehaves as told: for tests, benchmarks and rehearsals of an outage.
Plain asyncio streams, because a web framework cannot drop a connection on purpose.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import re
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self


class Behaviour(StrEnum):
    """What happens to a request."""

    ANSWER = "answer"  # quotes the fragments, with their numbers
    UNKNOWN_CITATION = "unknown_citation"  # cites fragments that were not given
    INVENT = "invent"  # a number and a model name of no fragment
    OBEY = "obey"  # does what a text in the prompt orders
    CANNOT = "cannot"  # says in the agreed way that the fragments do not answer
    EMPTY = "empty"
    STALL_FIRST = "stall_first"  # before the first token
    STALL_MIDWAY = "stall_midway"
    DROP_FIRST = "drop_first"
    DROP_MIDWAY = "drop_midway"
    TOO_MANY = "too_many"  # 429
    BROKEN = "broken"  # 500
    UNAUTHORIZED = "unauthorized"  # 401
    GARBAGE_BODY = "garbage_body"  # 200 with a page of HTML
    GARBAGE_STREAM = "garbage_stream"  # events that are no JSON, midway


@dataclass(frozen=True, slots=True)
class Say:
    """Replies with these very words; thoughts come in a field of their own, before them."""

    text: str
    thoughts: str = ""


@dataclass(frozen=True, slots=True)
class CallTools:
    """Calls these tools, with these arguments as they stand, where the request offers any; else says the text."""

    calls: Sequence[tuple[str, str]]
    text: str = ""


Step = Behaviour | Say | CallTools
_ERRORS = {Behaviour.TOO_MANY: 429, Behaviour.BROKEN: 500, Behaviour.UNAUTHORIZED: 401}
_FRAGMENT = re.compile(r"^\[(\d+)\][^\n]*\n(.*?)(?=^\[\d+\]|^</)", re.MULTILINE | re.DOTALL)
_QUESTION = re.compile(r"顾客的问题：(.+)")
_SENTENCE = re.compile(r"[^。！？\n]+[。！？]?")
_ORDERED = re.compile(r"[“\"]([^”\"]*[A-Z]{2,}\d[A-Z0-9]{4,}[^”\"]*)[”\"]|(?<![A-Za-z0-9])([A-Z]{2,}\d[A-Z0-9]{4,})")
_CANNOT = "[无依据]"
_MESSAGE = re.compile(r"<消息 \w+>\n(.*?)\n</", re.DOTALL)
_CLAIMS = re.compile(r"<待核对的说法 \w+>\n(.*?)\n</", re.DOTALL)
_CLAIM = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A request and the way back."""

    step: Step
    body: dict[str, Any]
    text: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def thoughts(self) -> str:
        """What is thought before the text, in a field of its own."""
        return self.step.thoughts if isinstance(self.step, Say) else ""


class ScriptedLLM:
    """`async with ScriptedLLM(Behaviour.ANSWER) as llm:` serves at `llm.base_url` until the end of the block.

    The steps are taken in order, one a request, and the last one stays; with a seed each request takes any of them.
    Delays are in seconds. obeys: question -> what OBEY says to it, even when no order reached the prompt. judges:
    prompt -> log-odds that a passage states the answer, for requests of one token with its probabilities, which take no
    step. refuses: fields and kinds of `response_format` that it answers with status 400; where a tool has to be
    called, its text is the arguments. `asked` is set by a request, `left` when a connection is closed; `connections`
    counts those that were opened.
    """

    def __init__(
        self,
        *script: Step,
        first_token_delay: float = 0.0,
        token_delay: float = 0.0,
        stall: float = 3600.0,
        seed: int | None = None,
        obeys: Mapping[str, str] | None = None,
        judges: Callable[[str], float] | None = None,
        refuses: Sequence[str] = (),
    ) -> None:
        self.script: Sequence[Step] = script or (Behaviour.ANSWER,)
        # the last ones alone, since a soak asks for thousands
        self.bodies: deque[dict[str, Any]] = deque(maxlen=100)
        self.headers: deque[dict[str, str]] = deque(maxlen=100)
        self.taken: Counter[str] = Counter()
        self.base_url = ""
        self.finish = "stop"
        self.asked, self.left = asyncio.Event(), asyncio.Event()
        self._first, self._between, self._stall = first_token_delay, token_delay, stall
        self._random = None if seed is None else random.Random(seed)
        self._obeys = obeys or {}
        self._judges = judges
        self.refuses = frozenset(refuses)
        self.judged = self.refused = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.connections = 0

    @property
    def requests(self) -> int:
        """Completions asked for so far."""
        return self.taken.total()

    @property
    def prompt(self) -> str:
        """The last message of the last request."""
        return str(self.bodies[-1]["messages"][-1]["content"])

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listens; port 0 takes a free one."""
        self._server = await asyncio.start_server(self._accept_connection, host, port)
        self.base_url = f"http://{host}:{self._server.sockets[0].getsockname()[1]}/v1"

    async def close(self) -> None:
        """Ends everything that is still stalling."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):  # clients leave as they like
                while not writer.is_closing():
                    await self._serve_request(reader, writer)
            self.left.set()
        except asyncio.CancelledError:
            pass  # only close() cancels; a cancelled handler would be reported as an error of the server
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"^content-length: *(\d+)", head, re.MULTILINE | re.IGNORECASE)
        body = await reader.readexactly(int(length.group(1))) if length else b""
        method, path, _ = head.split(" ", 2)
        if method == "POST" and path.endswith("/chat/completions"):
            lines = (line.partition(":") for line in head.split("\r\n")[1:])
            self.headers.append({name.lower(): value.strip() for name, _, value in lines if name})
            await self._answer_completion(json.loads(body), reader, writer)
        elif method == "GET" and path.endswith("/models"):
            await _send_response(writer, 200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        else:
            await _send_response(writer, 404, {"error": {"message": f"no {method} {path}"}})

    async def _answer_completion(
        self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self._judges is not None and body.get("logprobs"):
            self.judged += 1
            await _send_response(writer, 200, _build_judgement(self._judges(str(body["messages"][-1]["content"]))))
            return
        if self.refuses & {*body, str(body.get("response_format", {}).get("type"))}:
            self.refused += 1
            await _send_response(writer, 400, {"error": {"message": "unsupported parameter"}})
            return
        step = self._take_step()
        self.bodies.append(body)
        self.taken[step.value if isinstance(step, Behaviour) else "say"] += 1
        self.asked.set()
        if step in _ERRORS:
            await _send_response(writer, _ERRORS[step], {"error": {"message": f"scripted {step}", "type": step}})
        elif step is Behaviour.GARBAGE_BODY:
            await _send_response(writer, 200, "<html><body>502 Bad Gateway</body></html>")
        elif step is Behaviour.DROP_FIRST:
            writer.transport.abort()
        else:
            if step is Behaviour.STALL_FIRST:
                await self._keep_silent(reader)
            text = self._write_text(step, body) if isinstance(step, Behaviour) else step.text
            answer = self._send_stream if body.get("stream") else self._send_whole
            await answer(_Exchange(step, body, text, reader, writer))

    def _take_step(self) -> Step:
        if self._random is not None:
            return self._random.choice(self.script)
        return self.script[min(self.requests, len(self.script) - 1)]

    def _write_text(self, step: Behaviour, body: dict[str, Any]) -> str:
        prompt = str(body["messages"][-1]["content"])
        question = found.group(1).strip() if (found := _QUESTION.search(prompt)) else ""
        quotes = _select_quotes(prompt, question)
        honest = "".join(f"{sentence}[{number}]" for number, sentence in quotes) or prompt.strip().splitlines()[-1]
        claims, message = _CLAIMS.search(prompt), _MESSAGE.search(prompt)
        match step:
            case Behaviour.EMPTY:
                return ""
            case _ if claims:
                return _build_critique(prompt, claims.group(1))
            case _ if message:
                return _build_understanding(step, message.group(1))
            case Behaviour.CANNOT:
                return _CANNOT
            case Behaviour.STALL_MIDWAY | Behaviour.DROP_MIDWAY | Behaviour.GARBAGE_STREAM:
                return honest * 2  # one sentence and more is out by then
            case Behaviour.UNKNOWN_CITATION:
                return re.sub(r"\[\d+\]", "[97]", honest) + "[98][99]"
            case Behaviour.INVENT:
                return f"{honest}另外需要 9876.5 元和 QX-77421 配件[1]。"
            case Behaviour.OBEY:
                order = _ORDERED.search(prompt)
                said = self._obeys.get(question) or (order and (order.group(1) or order.group(2)))
                return f"{said}[1]。{honest}{said}" if said else honest
            case _:
                return honest

    async def _keep_silent(self, reader: asyncio.StreamReader) -> None:
        """Silence, unless the client gives up; what it sends meanwhile is not looked at."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._stall):
                await reader.read()
                raise ConnectionResetError

    async def _send_whole(self, to: _Exchange) -> None:
        await asyncio.sleep(self._first)
        if to.step is Behaviour.STALL_MIDWAY:
            await self._keep_silent(to.reader)
        if to.step in (Behaviour.DROP_MIDWAY, Behaviour.GARBAGE_STREAM):
            to.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
            await to.writer.drain()
            to.writer.close()
            return
        message: dict[str, Any] = {"role": "assistant", "content": to.text}
        if isinstance(to.step, CallTools) and to.body.get("tools"):
            functions = ({"name": name, "arguments": arguments} for name, arguments in to.step.calls)
            message["tool_calls"] = [{"id": "call", "type": "function", "function": each} for each in functions]
        elif isinstance(to.body.get("tool_choice"), dict):
            call = {"id": "call", "type": "function", "function": {"name": "reply", "arguments": to.text}}
            message |= {"content": None, "tool_calls": [call]}
        message |= {"reasoning_content": to.thoughts} if to.thoughts else {}
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        answer = _build_completion(to.body, "chat.completion") | {"choices": [choice], "usage": _count_tokens(to)}
        await _send_response(to.writer, 200, answer)

    async def _send_stream(self, to: _Exchange) -> None:
        to.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        await asyncio.sleep(self._first)
        async for event in self._generate_events(to):
            if event is None:
                await to.writer.drain()
                to.writer.transport.abort()
                return
            data = f"data: {event}\n\n".encode()
            to.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await to.writer.drain()
        to.writer.write(b"0\r\n\r\n")
        await to.writer.drain()

    async def _generate_events(self, to: _Exchange) -> AsyncIterator[str | None]:
        """The data of every event; None drops the connection."""
        pieces = re.findall(r"[\s\S]{1,2}", to.text)
        head = _build_completion(to.body, "chat.completion.chunk")
        for thought in re.findall(r"[\s\S]{1,2}", to.thoughts):
            yield json.dumps(head | {"choices": [_build_delta({"reasoning_content": thought})]}, ensure_ascii=False)
        for number, piece in enumerate([*pieces, ""]):
            if number == len(pieces) // 2 + 1:
                if to.step is Behaviour.STALL_MIDWAY:
                    await self._keep_silent(to.reader)
                elif to.step is Behaviour.DROP_MIDWAY:
                    yield None
                elif to.step is Behaviour.GARBAGE_STREAM:
                    yield "{not json at all"
            if piece:
                await asyncio.sleep(self._between if number else 0.0)
                yield json.dumps(head | {"choices": [_build_delta({"content": piece})]}, ensure_ascii=False)
        yield json.dumps(head | {"choices": [_build_delta({}, self.finish)]})
        if (to.body.get("stream_options") or {}).get("include_usage"):
            yield json.dumps(head | {"choices": [], "usage": _count_tokens(to)})
        yield "[DONE]"


def _build_judgement(odds: float) -> dict[str, Any]:
    """A reply of one token, 有 or 没, with the probabilities of both."""
    yes = 1 / (1 + math.exp(-odds))
    told = [{"token": "有", "logprob": math.log(yes)}, {"token": "没", "logprob": math.log(1 - yes)}]
    told.sort(key=lambda each: -float(str(each["logprob"])))
    choice = {"index": 0, "message": {"role": "assistant", "content": told[0]["token"]}, "finish_reason": "length"}
    logprobs = {"content": [{**told[0], "top_logprobs": told}]}
    usage = {"prompt_tokens": 200, "completion_tokens": 1, "total_tokens": 201}
    return {"object": "chat.completion", "choices": [{**choice, "logprobs": logprobs}], "usage": usage}


def _select_quotes(prompt: str, question: str) -> list[tuple[int, str]]:
    """The sentence of each of the first two fragments that has most in common with the question."""
    pairs = {question[at : at + 2] for at in range(len(question) - 1)}
    found = []
    for number, text in _FRAGMENT.findall(prompt)[:2]:
        sentences = [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]
        if sentences:
            found.append((int(number), max(sentences, key=lambda s: sum(pair in s for pair in pairs) / len(s) ** 0.5)))
    return found


def _build_understanding(step: Behaviour, message: str) -> str:
    """A message as it stands, about which nothing is known; INVENT adds what nobody said."""
    question = f"{message} 9876.5 元和 QX-77421" if step is Behaviour.INVENT else message
    return json.dumps({"questions": [question], "intents": [], "slots": {}, "language": "zh"}, ensure_ascii=False)


def _build_critique(prompt: str, claims: str) -> str:
    """A fair second reading: a claim holds where a fragment has half of its pairs of characters."""
    fragments = [(int(number), text) for number, text in _FRAGMENT.findall(prompt)]
    judged = []
    for number, claim in _CLAIM.findall(claims):
        pairs = {claim[at : at + 2] for at in range(len(claim) - 1)}
        holding = [fragment for fragment, text in fragments if sum(pair in text for pair in pairs) * 2 >= len(pairs)]
        judged.append({"claim": int(number), "supported": bool(holding), "fragments": holding[:1]})
    verdict = "FULLY" if all(item["supported"] for item in judged) else "PARTIALLY"
    return json.dumps({"verdict": verdict, "quality": 95, "relevance": 0.95, "claims": judged})


def _build_completion(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "scripted-1", "object": kind, "created": 1_700_000_000, "model": body.get("model", "scripted")}


def _build_delta(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _count_tokens(to: _Exchange) -> dict[str, int]:
    """One token for each character: easy to check."""
    prompt = sum(len(str(message["content"])) for message in to.body["messages"])
    return {"prompt_tokens": prompt, "completion_tokens": len(to.text), "total_tokens": prompt + len(to.text)}


async def _send_response(writer: asyncio.StreamWriter, status: int, body: Any) -> None:
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    kind = "text/html" if isinstance(body, str) else "application/json"
    data = text.encode()
    writer.write(f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
    await writer.drain()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until interrupted."""
    parser = argparse.ArgumentParser(prog="scripts/scripted_llm.py", description="按脚本应答的 OpenAI 兼容大模型")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8100, help="0 为任意空闲端口")
    parser.add_argument("--script", nargs="+", type=Behaviour, default=[Behaviour.ANSWER], choices=list(Behaviour))
    parser.add_argument("--seed", type=int, help="给出后每次请求从脚本里随机取一种")
    parser.add_argument("--first-token-delay", type=float, default=0.0, metavar="秒")
    parser.add_argument("--orders", type=Path, metavar="FILE", help="JSONL：question、attack、canary；obey 时照说")
    options = parser.parse_args(arguments)
    rows = map(json.loads, options.orders.read_text("utf-8").splitlines()) if options.orders else ()
    llm = ScriptedLLM(
        *options.script,
        first_token_delay=options.first_token_delay,
        seed=options.seed,
        obeys={row["question"]: row.get("canary") or row["attack"] for row in rows},
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_forever(llm, options.host, options.port))
    return 0


async def _serve_forever(llm: ScriptedLLM, host: str, port: int) -> None:
    await llm.start(host, port)
    print(llm.base_url, flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await llm.close()


if __name__ == "__main__":
    sys.exit(main())
