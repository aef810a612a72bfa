"""`http` and `ttft`: the product behind real uvicorn, next to a bare route, in alternating rounds of one run."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from app.retrieval import build_embedder_options
from app.settings import Settings
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from scripts.benchmarks.bare_route import measure_embedder
from scripts.benchmarks.servers import run_bare_route, run_measured_product
from scripts.benchmarks.synthetic import SAMPLES, generate_questions
from scripts.harness.load import Answers, measure_first_event, post_all
from scripts.harness.processes import measure_memory
from scripts.harness.servers import CHAT, ROOT, STREAM, Target, run_python
from scripts.harness.timing import compute_percentiles, compute_ratio

CONCURRENCY = 32
ROUNDS = 5
# Each round, about as long as the others: a bare route answers ten thousand a second, and what no cache knows has to be
# embedded. The last one is of a run, one request after the other.
BARE_REQUESTS, CACHED_REQUESTS, UNCACHED_REQUESTS, ALONE = 4000, 2000, 64, 100
CACHED_QUESTIONS, CACHED_ATTEMPTS = 20, 10
LLM_DELAY = 0.2


def run_http(settings: Settings, folder: Path | None, rounds: int = ROUNDS) -> dict[str, Any]:
    """Requests a second of a bare route, of cached and of uncached turns; every turn is counted in the database."""
    questions = generate_questions(folder or SAMPLES)
    embedder = get_embedder(settings.embedder, options=build_embedder_options(settings))
    with run_bare_route() as plain, run_measured_product(settings, folder) as server, closing(embedder):
        report = asyncio.run(_measure_rounds(plain, server, embedder, questions, rounds))
        return report | {"rss_mb": measure_memory(server.pid)}


async def _measure_rounds(
    plain: Target, server: Target, embedder: Embedder, questions: Iterator[str], rounds: int
) -> dict[str, Any]:
    turns = 0

    async def ask(bodies: Sequence[dict[str, str]], concurrency: int = CONCURRENCY) -> Answers:
        nonlocal turns
        load = await post_all(server.port, CHAT, bodies, concurrency)
        turns += len(bodies)
        return load

    async def ask_bare(count: int, concurrency: int = CONCURRENCY) -> Answers:
        return await post_all(plain.port, CHAT, popular * (count // len(popular)), concurrency)

    popular = await _select_popular(ask, questions)
    alone = await ask(_take_bodies(questions, ALONE), 1)
    bare_alone = await ask_bare(CACHED_REQUESTS, 1)
    loads: dict[str, list[Answers]] = {"bare": [], "cached": [], "uncached": []}
    await embedder.warm_up()
    encoded = []
    for _ in range(rounds):
        loads["bare"].append(await ask_bare(BARE_REQUESTS))
        loads["cached"].append(await _send_cached(ask, popular))
        asked = _take_bodies(questions, UNCACHED_REQUESTS)
        loads["uncached"].append(await ask(asked))
        encoded.append(await measure_embedder(embedder, [body["message"] for body in asked], CONCURRENCY))
    for load in [alone, *loads["uncached"]]:
        if _count_cached(load):
            raise OSError(f"{_count_cached(load)} 轮不该出自缓存")
    embedding = [_read_data(body)["timings_ms"]["embed"] for body in alone.bodies]
    persisted = _count_persisted(server)
    if persisted != turns:
        raise OSError(f"回答了 {turns} 轮，数据库里有 {persisted} 轮")
    rps = {kind: round(statistics.median(load.rps for load in made), 1) for kind, made in loads.items()}
    return {
        "concurrency": CONCURRENCY,
        "rounds": rounds,
        **{f"{kind}_rps": value for kind, value in rps.items()},
        "encode_rps": round(statistics.median(encoded), 1),
        "cached_over_bare": compute_ratio(rps["cached"], rps["bare"]),
        "uncached_throughput_over_encode": statistics.median(
            compute_ratio(load.rps, reached) for load, reached in zip(loads["uncached"], encoded, strict=True)
        ),
        "latency_ms": {
            kind: compute_percentiles([ms for load in made for ms in load.milliseconds]) for kind, made in loads.items()
        },
        "alone_ms": {
            "bare": compute_percentiles(bare_alone.milliseconds),
            "uncached": compute_percentiles(alone.milliseconds),
        },
        "embedding_ms": compute_percentiles(embedding),
        "uncached_over_embedding": compute_ratio(statistics.median(alone.milliseconds), statistics.median(embedding)),
        "turns": turns,
        "turns_persisted": persisted,
    }


def _take_bodies(questions: Iterator[str], count: int) -> list[dict[str, str]]:
    """Bodies of chat requests that no cache knows."""
    return [{"message": question} for question in islice(questions, count)]


async def _select_popular(ask: Any, questions: Iterator[str]) -> list[dict[str, str]]:
    """Questions whose answers the product keeps: those that come out of the cache when they are asked again."""
    bodies = _take_bodies(questions, 2 * CACHED_QUESTIONS)
    for _ in range(2):
        load = await ask(bodies, 1)
    kept = [body for body, answer in zip(bodies, load.bodies, strict=True) if _read_data(answer)["cached"]]
    if not kept:
        raise OSError("没有一个问题的回答进了缓存")
    return kept[:CACHED_QUESTIONS]


async def _send_cached(ask: Any, popular: list[dict[str, str]]) -> Answers:
    """A round of turns that all come out of the cache. A calibration that ends meanwhile empties it: then once more."""
    for _ in range(CACHED_ATTEMPTS):
        await ask(popular)
        load: Answers = await ask(popular * (CACHED_REQUESTS // len(popular)))
        if _count_cached(load) == len(load.bodies):
            return load
    raise OSError("缓存里的回答留不住")


def _count_cached(load: Answers) -> int:
    return sum(_read_data(body)["cached"] for body in load.bodies)


def _read_data(body: bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(body)["data"]
    return data


def _count_persisted(server: Target) -> int:
    with closing(sqlite3.connect(server.data_dir / "yingda.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM turns").fetchone()[0])


def run_ttft(settings: Settings, folder: Path | None, turns: int = ALONE) -> dict[str, Any]:
    """Time to the first token that the product adds to the language model's own delay and the embedding."""
    questions = generate_questions(folder or SAMPLES)
    command = ["scripts/scripted_llm.py", "--port", "0", "--first-token-delay", str(LLM_DELAY)]
    with run_bare_route() as plain, run_python(command, ROOT) as llm:
        model = {"LLM_BASE_URL": f"{llm.address}/v1", "LLM_API_KEY": "scripted", "LLM_MODEL": "scripted"}
        with run_measured_product(settings, folder, HOT_CACHE_MAX_SIZE="0", **model) as server:
            return asyncio.run(_measure_first_tokens(plain, server, questions, turns))


async def _measure_first_tokens(plain: Target, server: Target, questions: Iterator[str], turns: int) -> dict[str, Any]:
    first, embedding, added, bare_ms = [], [], [], []
    for body in _take_bodies(questions, turns):
        bare_ms += (await post_all(plain.port, CHAT, [body], 1)).milliseconds
        milliseconds, done = await measure_first_event(server.port, STREAM, body, "token")
        data = done["data"]
        if data["degraded"] or milliseconds < LLM_DELAY * 1000:
            continue  # a curated answer, a question back or a refusal: no language model was asked
        first.append(milliseconds)
        embedding.append(data["timings_ms"]["embed"])
        added.append(milliseconds - data["timings_ms"]["embed"] - LLM_DELAY * 1000)
    if not first:
        raise OSError("没有一轮用到大模型")
    p50 = compute_percentiles(added)["p50"]
    return {
        "turns": turns,
        "turns_with_llm": len(first),
        "llm_delay_ms": LLM_DELAY * 1000,
        "first_token_ms": compute_percentiles(first),
        "embedding_ms": compute_percentiles(embedding),
        "ttft_added_ms": p50,
        "ttft_added_ms_p95": compute_percentiles(added)["p95"],
        "bare_ms": compute_percentiles(bare_ms),
        "ttft_added_over_bare": compute_ratio(p50, compute_percentiles(bare_ms)["p50"]),
    }
