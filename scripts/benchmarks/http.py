"""`http` and `ttft`: the product behind real uvicorn, next to a bare route, in alternating rounds of one run."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from app.retrieval import build_embedder_options
from app.settings import Settings
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.evaluation.dataset import load_set
from scripts.benchmarks.bare import encode
from scripts.benchmarks.load import Load, first_event, post_all
from scripts.benchmarks.servers import Server, bare, product, scripted_llm
from scripts.benchmarks.synthetic import SAMPLES
from scripts.benchmarks.timing import percentiles, ratio, service_rss_mb

CONCURRENCY = 32
ROUNDS = 5
# Each round; the last one in each run, one request after the other.
BARE_REQUESTS, CACHED_REQUESTS, UNCACHED_REQUESTS, ALONE = 4000, 2000, 64, 100
CACHED_QUESTIONS, CACHED_ATTEMPTS = 20, 10
LLM_DELAY = 0.2
_CHAT = "/api/v1/chat"


class _Questions:
    """Questions of the set, each as often as a run needs, never twice in the same words."""

    def __init__(self, folder: Path) -> None:
        data = load_set(folder)
        self._texts = [question.text for question in data.answerable]
        self._taken = 0

    def take(self, count: int) -> list[dict[str, str]]:
        """`count` bodies of chat requests that no cache knows."""
        taken = range(self._taken, self._taken + count)
        self._taken += count
        rounds = [divmod(number, len(self._texts)) for number in taken]
        return [{"message": self._texts[place] + f"（第 {again} 次问）" * bool(again)} for again, place in rounds]


def http(settings: Settings, folder: Path | None, rounds: int = ROUNDS) -> dict[str, Any]:
    """Requests a second of a bare route, of cached and of uncached turns; every turn is counted in the database."""
    questions = _Questions(folder or SAMPLES)
    embedder = get_embedder(settings.embedder, options=build_embedder_options(settings))
    with bare() as plain, product(settings, folder) as server, closing(embedder):
        report = asyncio.run(_rounds(plain, server, embedder, questions, rounds))
        return report | {"rss_mb": service_rss_mb(server.pid)}


async def _rounds(
    plain: Server, server: Server, embedder: Embedder, questions: _Questions, rounds: int
) -> dict[str, Any]:
    turns = 0

    async def ask(bodies: Sequence[dict[str, str]], concurrency: int = CONCURRENCY) -> Load:
        nonlocal turns
        load = await post_all(server.port, _CHAT, bodies, concurrency)
        turns += len(bodies)
        return load

    async def ask_bare(count: int, concurrency: int = CONCURRENCY) -> Load:
        return await post_all(plain.port, _CHAT, popular * (count // len(popular)), concurrency)

    popular = await _popular(ask, questions)
    alone = await ask(questions.take(ALONE), 1)
    bare_alone = await ask_bare(CACHED_REQUESTS, 1)
    loads: dict[str, list[Load]] = {"bare": [], "cached": [], "uncached": []}
    await embedder.warm_up()
    encoded = []
    for _ in range(rounds):
        loads["bare"].append(await ask_bare(BARE_REQUESTS))
        loads["cached"].append(await _cached(ask, popular))
        asked = questions.take(UNCACHED_REQUESTS)
        loads["uncached"].append(await ask(asked))
        encoded.append(await encode(embedder, [body["message"] for body in asked], CONCURRENCY))
    for load in [alone, *loads["uncached"]]:
        if _from_cache(load):
            raise OSError(f"{_from_cache(load)} 轮不该出自缓存")
    embedding = [_data(body)["timings_ms"]["embed"] for body in alone.bodies]
    persisted = _persisted(server)
    if persisted != turns:
        raise OSError(f"回答了 {turns} 轮，数据库里有 {persisted} 轮")
    rps = {kind: round(statistics.median(load.rps for load in made), 1) for kind, made in loads.items()}
    return {
        "concurrency": CONCURRENCY,
        "rounds": rounds,
        **{f"{kind}_rps": value for kind, value in rps.items()},
        "encode_rps": round(statistics.median(encoded), 1),
        "cached_over_bare": ratio(rps["cached"], rps["bare"]),
        "uncached_throughput_over_encode": statistics.median(
            ratio(load.rps, reached) for load, reached in zip(loads["uncached"], encoded, strict=True)
        ),
        "latency_ms": {
            kind: percentiles([ms for load in made for ms in load.milliseconds]) for kind, made in loads.items()
        },
        "alone_ms": {"bare": percentiles(bare_alone.milliseconds), "uncached": percentiles(alone.milliseconds)},
        "embedding_ms": percentiles(embedding),
        "uncached_over_embedding": ratio(statistics.median(alone.milliseconds), statistics.median(embedding)),
        "turns": turns,
        "turns_persisted": persisted,
    }


async def _popular(ask: Any, questions: _Questions) -> list[dict[str, str]]:
    """Questions whose answers the product keeps: those that come out of the cache when they are asked again."""
    bodies = questions.take(2 * CACHED_QUESTIONS)
    for _ in range(2):
        load = await ask(bodies, 1)
    kept = [body for body, answer in zip(bodies, load.bodies, strict=True) if _data(answer)["cached"]]
    if not kept:
        raise OSError("没有一个问题的回答进了缓存")
    return kept[:CACHED_QUESTIONS]


async def _cached(ask: Any, popular: list[dict[str, str]]) -> Load:
    """A round of turns that all come out of the cache. A calibration that ends meanwhile empties it: then once more."""
    for _ in range(CACHED_ATTEMPTS):
        await ask(popular)
        load: Load = await ask(popular * (CACHED_REQUESTS // len(popular)))
        if _from_cache(load) == len(load.bodies):
            return load
    raise OSError("缓存里的回答留不住")


def _from_cache(load: Load) -> int:
    return sum(_data(body)["cached"] for body in load.bodies)


def _data(body: bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(body)["data"]
    return data


def _persisted(server: Server) -> int:
    with closing(sqlite3.connect(server.data_dir / "yingda.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM turns").fetchone()[0])


def ttft(settings: Settings, folder: Path | None, turns: int = ALONE) -> dict[str, Any]:
    """Time to the first token that the product adds to the language model's own delay and the embedding."""
    questions = _Questions(folder or SAMPLES)
    with bare() as plain, scripted_llm(LLM_DELAY) as llm:
        model = {"LLM_BASE_URL": f"{llm.address}/v1", "LLM_API_KEY": "scripted", "LLM_MODEL": "scripted"}
        with product(settings, folder, HOT_CACHE_MAX_SIZE="0", **model) as server:
            return asyncio.run(_first_tokens(plain, server, questions, turns))


async def _first_tokens(plain: Server, server: Server, questions: _Questions, turns: int) -> dict[str, Any]:
    first, embedding, added, bare_ms = [], [], [], []
    for body in questions.take(turns):
        bare_ms += (await post_all(plain.port, _CHAT, [body], 1)).milliseconds
        milliseconds, done = await first_event(server.port, f"{_CHAT}/stream", body, "token")
        data = done["data"]
        if data["degraded"] or milliseconds < LLM_DELAY * 1000:
            continue  # a curated answer, a question back or a refusal: no language model was asked
        first.append(milliseconds)
        embedding.append(data["timings_ms"]["embed"])
        added.append(milliseconds - data["timings_ms"]["embed"] - LLM_DELAY * 1000)
    if not first:
        raise OSError("没有一轮用到大模型")
    p50 = percentiles(added)["p50"]
    return {
        "turns": turns,
        "turns_with_llm": len(first),
        "llm_delay_ms": LLM_DELAY * 1000,
        "first_token_ms": percentiles(first),
        "embedding_ms": percentiles(embedding),
        "ttft_added_ms": p50,
        "ttft_added_ms_p95": percentiles(added)["p95"],
        "bare_ms": percentiles(bare_ms),
        "ttft_added_over_bare": ratio(p50, percentiles(bare_ms)["p50"]),
    }
