"""`ingest`: how quickly documents come in, next to bare calls of the embedder, and what customers notice meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import httpx

from app.retrieval import build_embedder_options, chunk_options
from app.settings import Settings
from knowledge.embeddings.base import Embedder, make_readable
from knowledge.embeddings.registry import get_embedder
from knowledge.evaluation.dataset import load_set
from knowledge.extraction import read_document
from knowledge.parsing.limits import ParsingLimits
from knowledge.types import DocumentMeta
from scripts.benchmarks.servers import run_measured_product
from scripts.benchmarks.synthetic import SAMPLES, generate_questions
from scripts.harness.load import post_all
from scripts.harness.servers import CHAT, DOCUMENTS, START_SECONDS, Target
from scripts.harness.timing import compute_percentiles, compute_ratio

ROUNDS = 4
# Of one upload; a paragraph fills a chunk.
FILES, PARAGRAPHS, PARAGRAPH_CHARS = 3, 10, 400
# Asked in each round while nothing comes in.
QUESTIONS = 40
MAX_BYTES = 10_000_000
File = tuple[str, bytes]


def run_ingest(settings: Settings, folder: Path | None, rounds: int) -> dict[str, Any]:
    """In each round, in turn: questions alone, bare encoding, an upload alone, an upload with questions beside it."""
    questions = generate_questions(folder or SAMPLES)
    model = get_embedder(settings.embedder, None, build_embedder_options(settings))
    with closing(model) as embedder, run_measured_product(settings, folder) as server:
        return asyncio.run(_measure_rounds(settings, embedder, server, questions, rounds))


async def _measure_rounds(
    settings: Settings, embedder: Embedder, server: Target, questions: Iterator[str], rounds: int
) -> dict[str, Any]:
    uploads = _generate_uploads()
    ratios, bare_rates, rates = [], [], []
    idle: list[float] = []
    during: list[float] = []
    chunks = 0
    await _measure_questions(server, questions, QUESTIONS)
    for _ in range(rounds):
        idle += await _measure_questions(server, questions, QUESTIONS)
        bare = await asyncio.to_thread(_measure_encoding, settings, embedder, next(uploads))
        rate, _ = await _measure_upload(server, next(uploads))
        bare_rates.append(bare)
        rates.append(rate)
        ratios.append(rate / bare)
        asked: list[float] = []
        upload = asyncio.create_task(_measure_upload(server, next(uploads)))
        while not upload.done():
            asked += await _measure_questions(server, questions, 1)
        chunks += (await upload)[1]
        during += asked
    idle_ms, during_ms = compute_percentiles(idle), compute_percentiles(during)
    return {
        "rounds": rounds,
        "chunks_an_upload": chunks // rounds,
        "bare_chunks_a_second": round(median(bare_rates), 2),
        "ingest_chunks_a_second": round(median(rates), 2),
        "ingest_over_bare": round(median(ratios), 3),
        "ingest_over_bare_of_rounds": [round(one, 3) for one in ratios],
        "chat_idle_ms": idle_ms,
        "chat_during_ingest_ms": during_ms,
        "questions_during_ingest": len(during),
        "chat_p50_during_over_idle": compute_ratio(during_ms["p50"], idle_ms["p50"]),
        "chat_p95_during_over_idle": compute_ratio(during_ms["p95"], idle_ms["p95"]),
    }


def _measure_encoding(settings: Settings, embedder: Embedder, files: Sequence[File]) -> float:
    """Chunks a second, of the texts that the product would make of the files, one call after the other."""
    texts = []
    for name, content in files:
        found = read_document(name, content, ParsingLimits(max_bytes=MAX_BYTES), chunk_options(settings))
        chunks = found.label_chunks(DocumentMeta(name, name, found.title, "", ()), name)
        texts += [chunk.indexed_text for chunk in chunks]
    started = perf_counter()
    for text in texts:
        embedder._encode([make_readable(text)], "passage")  # the model alone, without the queue before it
    return len(texts) / (perf_counter() - started)


async def _measure_upload(server: Target, files: Sequence[File]) -> tuple[float, int]:
    """Chunks a second, from the request to the answer that says they are found, and how many chunks there were."""
    async with httpx.AsyncClient(base_url=server.address, timeout=START_SECONDS) as client:
        started = perf_counter()
        response = await client.post(DOCUMENTS, files=[("files", file) for file in files])
        seconds = perf_counter() - started
        response.raise_for_status()
        known = (await client.get(DOCUMENTS, params={"limit": len(files)})).json()["items"]
    chunks = sum(document["chunks"] for document in known)
    return chunks / seconds, chunks


async def _measure_questions(server: Target, questions: Iterator[str], number: int) -> list[float]:
    """Milliseconds of so many questions, one after the other."""
    bodies = [{"message": next(questions)} for _ in range(number)]
    return (await post_all(server.port, CHAT, bodies, 1)).milliseconds


def _generate_uploads() -> Iterator[list[File]]:
    """Files of full chunks, never twice the same text, which a cache would know."""
    text = "".join("".join(chunk.text.split()) for chunk in load_set(SAMPLES).chunks)
    pieces = [text[start : start + PARAGRAPH_CHARS] for start in range(0, len(text) - PARAGRAPH_CHARS, PARAGRAPH_CHARS)]
    for number in count():
        files = []
        for place in range(FILES):
            first = (number * FILES + place) * PARAGRAPHS
            parts = [f"第 {first + i} 条。{pieces[(first + i) % len(pieces)]}" for i in range(PARAGRAPHS)]
            files.append((f"规则{first}.md", (f"# 规则 {first}\n\n" + "\n\n".join(parts)).encode()))
        yield files
