"""BGE through onnxruntime or FlagEmbedding: bge-large-zh-v1.5 by default, from a hub, a mirror of it or a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np

from knowledge.checkpoint import AUTO, LazyModel, choose_device
from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind
from knowledge.errors import EmbeddingUnavailable, MissingDependency
from knowledge.onnx_checkpoint import TOKENIZER, Runtime, RuntimeCheckpoint
from knowledge.onnx_model import MAX_TOKENS, OnnxModel
from knowledge.types import Matrix

# What bge-*-zh-v1.5 was trained to read before a question (FlagEmbedding's model list); passages have none.
QUERY_INSTRUCTION = "为这个句子生成表示以用于检索相关文章："
GPU_BATCH = 32
# Questions of one call on a CPU, where the weights are read from memory once for all of them.
CPU_QUERIES = 8
_INSTALL = (
    "EMBEDDER=bge 需要 FlagEmbedding：请运行 pip install -r requirements.txt；"
    "或用 scripts/export_onnx.py 导出 ONNX 文件，这里就不需要它"
)


@dataclass(frozen=True, slots=True)
class _Loaded:
    encode: Callable[[list[str], Kind], Matrix]
    dimension: int


class BgeEmbedder(Embedder):
    """Loaded at the first use, 16-bit on CUDA only; questions that come while others are embedded go together.

    On a CPU passages go one by one, as a batch is no quicker there and questions would wait for all of it.
    """

    query_batch = CPU_QUERIES
    query_calls = 1

    def __init__(
        self,
        model: str,
        cache: EmbeddingCache | None = None,
        hub: str = "",
        device: str = AUTO,
        runtime: Runtime = "auto",
    ) -> None:
        """hub: see `Checkpoint`; device: see `choose_device`."""
        super().__init__(cache)
        self._device = device
        self._checkpoint = RuntimeCheckpoint(model, hub, runtime, device)
        self._model = LazyModel(model, self._load_model, EmbeddingUnavailable)
        self._dimension: int | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the vector space.

        Raises:
            EmbeddingUnavailable: While a local folder is not there.
        """
        try:
            return f"bge/{self._checkpoint.get_identity()}"
        except FileNotFoundError as error:
            raise EmbeddingUnavailable(str(error)) from error

    @property
    def title(self) -> str:
        try:
            return self.name
        except EmbeddingUnavailable:
            return f"bge/{self._checkpoint.model}"

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Width of the vectors. Blocking if only the loaded model knows it.

        Raises:
            EmbeddingUnavailable, MissingDependency: If the model cannot be loaded.
        """
        if self._dimension is None:
            self._dimension = self._checkpoint.read_hidden_size() or self._model.get().dimension
        return self._dimension

    @property
    def tokenizer_file(self) -> str:
        """Path of the tokenizer; empty while it is neither in the folder nor in the hub's cache."""
        return str(self._checkpoint.find_file(TOKENIZER) or "")

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        return self._model.get().encode(list(texts), kind)

    def _load_model(self) -> _Loaded:
        self.name  # noqa: B018 - a folder that is not there must not be looked for on a hub
        graph = self._checkpoint.get_graph()
        return self._load_library() if graph is None else self._load_graph(graph)

    def _load_graph(self, graph: Path) -> _Loaded:
        model = OnnxModel(graph, graph.parents[1] / TOKENIZER, pairs=False, alone=self._checkpoint.is_int8)
        instructions: dict[Kind, str] = {"query": QUERY_INSTRUCTION, "passage": ""}
        return _Loaded(
            lambda texts, kind: model.embed([instructions[kind] + text for text in texts]), dimension=model.width
        )

    def _load_library(self) -> _Loaded:
        try:
            from FlagEmbedding import FlagModel
        except ImportError as error:
            raise MissingDependency(_INSTALL) from error
        device, on_cuda = choose_device(self._device, FlagModel)
        model = FlagModel(
            self._checkpoint.model,
            query_instruction_for_retrieval=QUERY_INSTRUCTION,
            normalize_embeddings=True,
            use_fp16=on_cuda,
            devices=device,
            batch_size=GPU_BATCH,
            query_max_length=MAX_TOKENS,
            passage_max_length=MAX_TOKENS,
        )
        if on_cuda:
            self.batch_size = self.query_batch = GPU_BATCH
            self.elsewhere = True
        lock = Lock()

        def encode(texts: list[str], kind: Kind) -> Matrix:
            with lock:  # its tokenizer is not safe in two threads
                return np.asarray((model.encode_queries if kind == "query" else model.encode_corpus)(texts), np.float32)

        return _Loaded(encode, model.model.config.hidden_size)

    def close(self) -> None:
        super().close()
        self._model.close()
