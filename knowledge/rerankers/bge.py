"""bge-reranker-base through FlagEmbedding: a cross-encoder, which reads question and passage together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any, Self

from knowledge.checkpoint import Checkpoint, LazyModel, require
from knowledge.embeddings.base import MAX_QUERY_CHARS
from knowledge.errors import InvalidConfiguration, RerankUnavailable
from knowledge.index import Snapshot
from knowledge.rerankers.base import Fallback, Query, Reranker
from knowledge.text import clean, simplify

MAX_TOKENS = 512
MAX_PASSAGE_CHARS = 1000
"""More would not fit into MAX_TOKENS; cut first, since tokenising costs by the character."""
BATCH = 32
UNSCORED = -100.0
"""Below any logit of the model, which are within about 12 of zero: what it did not read passes no gate."""
_INSTALL = "RERANKER=bge 需要 FlagEmbedding：请运行 pip install -r requirements.txt"


class BgeReranker(Reranker):
    """The model's logit for the `candidates` best of fusion; the others follow in the order of fusion."""

    kind = "bge"

    def __init__(self, model: str, candidates: int, hub: str = "", fallback: Fallback = "lexical_dense") -> None:
        """hub: see `Checkpoint`. fallback: see `Reranker`."""
        require("FlagEmbedding", _INSTALL)
        self._candidates = candidates
        self.fallback = fallback
        self._checkpoint = Checkpoint(model, hub)
        self._model = LazyModel(model, self._load, RerankUnavailable)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")

    @property
    def constants(self) -> tuple[float | str, ...]:  # type: ignore[override]
        """Raises RerankUnavailable while a local folder is not there."""
        return self._identity(), self._candidates, MAX_TOKENS, MAX_PASSAGE_CHARS

    def reading(self, candidates: int) -> Self:
        """With the same model and its thread."""
        other = copy(self)
        other._candidates = candidates
        return other

    async def _scores(self, query: Query, snapshot: Snapshot, fused: Mapping[str, float]) -> list[float]:
        ranked = sorted(fused, key=lambda chunk_id: -fused[chunk_id])
        question = simplify(clean(query.text))[:MAX_QUERY_CHARS]
        read = ranked[: self._candidates]
        pairs = [(question, _passage(snapshot, chunk_id)) for chunk_id in read]
        try:
            logits = await asyncio.get_running_loop().run_in_executor(self._thread, self._compute, pairs)
        except (InvalidConfiguration, RerankUnavailable):
            raise
        except Exception as error:  # the library may raise anything; the caller knows one reaction
            raise RerankUnavailable(f"reranker bge failed: {error}") from error
        scores = {chunk_id: UNSCORED - rank for rank, chunk_id in enumerate(ranked)}
        scores.update(zip(read, logits, strict=True))
        return [scores[chunk_id] for chunk_id in fused]

    def _compute(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(score) for score in self._model.get().compute_score(list(pairs))]

    def _load(self) -> Any:
        self._identity()  # a folder that is not there must not be looked for on a hub
        from FlagEmbedding import FlagReranker

        device = FlagReranker.get_target_devices(None)[0]  # one: a second would be a process of its own
        return FlagReranker(
            self._checkpoint.model,
            use_fp16=device.startswith("cuda"),
            devices=device,
            batch_size=BATCH,
            max_length=MAX_TOKENS,
            normalize=False,
        )

    def _identity(self) -> str:
        try:
            return self._checkpoint.identity()
        except FileNotFoundError as error:
            raise RerankUnavailable(str(error)) from error

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._model.close()


def _passage(snapshot: Snapshot, chunk_id: str) -> str:
    return simplify(clean(snapshot.chunk(chunk_id).indexed_text))[:MAX_PASSAGE_CHARS]
