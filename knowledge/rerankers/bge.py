"""bge-reranker-base by onnxruntime or FlagEmbedding: a cross-encoder, which reads question and passage together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Event

from knowledge.checkpoint import AUTO, LazyModel, choose_device, require_package
from knowledge.errors import MissingDependency, RerankUnavailable
from knowledge.onnx_checkpoint import LIBRARY, TOKENIZER, Runtime, RuntimeCheckpoint
from knowledge.onnx_model import MAX_TOKENS, OnnxModel
from knowledge.rerankers.base import Fallback
from knowledge.rerankers.cross_encoder import MAX_PASSAGE_CHARS, CrossEncoder, Passages

BATCH = 32
# Searches of one call on CUDA. On a CPU each goes by itself: all of them together take as long, and the first would
# wait for the last.
GPU_SEARCHES = 8
_INSTALL = (
    "RERANKER=bge 需要 FlagEmbedding：请运行 pip install -r requirements.txt；"
    "或用 scripts/export_onnx.py 导出 ONNX 文件，这里就不需要它"
)

Score = Callable[[Sequence[tuple[str, str]]], Sequence[float]]


class BgeReranker(CrossEncoder):
    """The model's logit. 16-bit on CUDA only."""

    kind = "bge"

    def __init__(
        self,
        model: str,
        candidates: int,
        hub: str = "",
        fallback: Fallback = "lexical_dense",
        device: str = AUTO,
        runtime: Runtime = "auto",
    ) -> None:
        """hub: see `Checkpoint`; device: see `choose_device`."""
        if runtime == "torch":
            require_package(LIBRARY, _INSTALL)
        super().__init__(candidates, 1, fallback)
        self._device, self._on_gpu = device, Event()
        self._checkpoint = RuntimeCheckpoint(model, hub, runtime, device)
        self._model = LazyModel(model, self._load_model, RerankUnavailable)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")

    @property
    def elsewhere(self) -> bool:  # type: ignore[override]
        """Whether the model computes on another device, known once it is loaded."""
        return self._on_gpu.is_set()

    @property
    def batch(self) -> int:  # type: ignore[override]
        return GPU_SEARCHES if self.elsewhere else 1

    @property
    def constants(self) -> tuple[float | str, ...]:  # type: ignore[override]
        """What the scores depend on.

        Raises:
            RerankUnavailable: While a local folder is not there.
        """
        return self._get_identity(), self.candidates, MAX_TOKENS, MAX_PASSAGE_CHARS

    async def _score_passages(self, readings: list[Passages]) -> list[list[float]]:
        pairs = [(reading.question, passage) for reading in readings for passage in reading.texts]
        logits = iter(await asyncio.get_running_loop().run_in_executor(self._thread, self._compute_logits, pairs))
        return [list(islice(logits, len(reading.texts))) for reading in readings]

    def _compute_logits(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(score) for score in self._model.get()(list(pairs))]

    def _load_model(self) -> Score:
        self._get_identity()  # a folder that is not there must not be looked for on a hub
        graph = self._checkpoint.get_graph()
        if graph is None:
            return self._load_library()
        return OnnxModel(graph, graph.parents[1] / TOKENIZER, pairs=True, alone=self._checkpoint.is_int8).score

    def _load_library(self) -> Score:
        try:
            from FlagEmbedding import FlagReranker
        except ImportError as error:
            raise MissingDependency(_INSTALL) from error
        device, on_cuda = choose_device(self._device, FlagReranker)
        model = FlagReranker(
            self._checkpoint.model,
            use_fp16=on_cuda,
            devices=device,
            batch_size=BATCH,
            max_length=MAX_TOKENS,
            normalize=False,
        )
        if on_cuda:
            self._on_gpu.set()
        compute: Score = model.compute_score
        return compute

    def _get_identity(self) -> str:
        try:
            return self._checkpoint.get_identity()
        except FileNotFoundError as error:
            raise RerankUnavailable(str(error)) from error

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._model.close()
