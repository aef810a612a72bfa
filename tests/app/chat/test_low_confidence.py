"""A reply that is not sure shows what it quotes, whichever way it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from app.main import create_app
from app.settings import Settings
from tests.app.chat.test_chat import RETURNS, events

QUESTION = "退款在验货后几个工作日内原路退回"


async def test_a_reply_of_low_confidence_shows_the_sources_that_it_quotes_on_every_channel(tmp_path: Path) -> None:
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path,
        embedder="hash",
        vector_store="memory",
        samples_enabled=False,
        confident_threshold=1.0,
    )
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        await app.state.container.ingestion.add("default", [("退货.md", RETURNS.encode())])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
            body, asked = {"message": QUESTION}, {"messages": [{"role": "user", "content": QUESTION}]}
            whole = (await http.post("/api/v1/chat", json=body)).json()
            done = events((await http.post("/api/v1/chat/stream", json=body)).text)[-1][1]
            again = (await http.post("/api/v1/chat", json=body, headers={"Idempotency-Key": "k"})).json()
            completion = (await http.post("/v1/chat/completions", json=asked | {"model": "yingda"})).json()
            chunks = (await http.post("/v1/chat/completions", json=asked | {"model": "yingda", "stream": True})).text
    frames = [json.loads(line[6:]) for line in chunks.splitlines() if line.startswith("data: {")]
    told: list[tuple[str, str, Any]] = [(body["outcome"], body["reply"], body["data"]) for body in (whole, done, again)]
    said = completion["choices"][0]["message"]["content"]
    spoken = "".join(frame["choices"][0]["delta"].get("content") or "" for frame in frames if frame["choices"])
    told += [(data["outcome"], text, data) for text, data in ((said, completion["yingda"]), (spoken, _last(frames)))]
    for outcome, reply, data in told:
        assert outcome == "low_confidence" and "[1]" in reply
        assert [source["index"] for source in data["sources"]] == [1]
        assert data["sources"][0]["snippet"] in RETURNS


def _last(frames: list[dict[str, Any]]) -> Any:
    return next(frame["yingda"] for frame in reversed(frames) if "yingda" in frame)
