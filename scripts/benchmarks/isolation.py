"""`embedder`: what it costs that the default embedder has a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from statistics import median
from time import perf_counter
from typing import Any

from agents.routing.anchors import shipped_anchors
from knowledge.embeddings.base import Embedder, Kind
from knowledge.embeddings.e5 import E5Embedder, load
from knowledge.types import Matrix
from scripts.benchmarks.timing import percentiles, ratio, rss_mb, since

ROUNDS = 12
QUESTIONS = 60


class Inside(E5Embedder):
    """The same without the wall: the library in this process."""

    def __init__(self) -> None:
        super().__init__()
        self._model = load()

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        return self._model(texts, kind)


async def run(rounds: int, questions: int) -> dict[str, Any]:
    """Each question is asked of both, of each first in turn, so that both meet the same machine."""
    sentences = [anchor.text for anchor in shipped_anchors().sentences]
    texts = sentences[:: max(1, len(sentences) // questions)][:questions]
    before = rss_mb()
    with closing(E5Embedder()) as apart:
        await apart.warm_up()
        outside = rss_mb()
        with closing(Inside()) as inside:
            await inside.warm_up()
            both: dict[str, Embedder] = {"own_process": apart, "inside": inside}
            times: dict[str, list[list[float]]] = {name: [] for name in both}
            for number in range(rounds):
                asked: dict[str, list[float]] = {name: [] for name in both}
                for place, text in enumerate(texts):
                    for name in sorted(both, reverse=(number + place) % 2 == 1):
                        asked[name].append(await _asked(both[name], text))
                for name, measured in asked.items():
                    times[name].append(measured)
            memory = {
                "rss_mb_own_process": round(outside - before + rss_mb(apart.pid), 1),
                "rss_mb_inside": round(rss_mb() - outside, 1),
            }
    pairs = zip(times["own_process"], times["inside"], strict=True)
    over = round(median(ratio(median(apart), median(inside)) for apart, inside in pairs), 3)
    report: dict[str, Any] = {"rounds": rounds, "questions": len(texts), "own_process_over_inside": over}
    for name, every in times.items():
        report[f"{name}_ms"] = percentiles([one for asked_in_round in every for one in asked_in_round])
    return report | memory


async def _asked(embedder: Embedder, text: str) -> float:
    started = perf_counter()
    await embedder.query(text)
    return since(started)
