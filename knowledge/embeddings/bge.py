"""BGE through FlagEmbedding: bge-large-zh-v1.5 by default, from a hub, a mirror of it or a local folder."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from knowledge.checkpoint import AUTO, Checkpoint, LazyModel, device_of
from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind
from knowledge.errors import EmbeddingUnavailable, MissingDependency
from knowledge.types import Matrix

QUERY_INSTRUCTION = "为这个句子生成表示以用于检索相关文章："
"""What bge-*-zh-v1.5 was trained to read before a question (FlagEmbedding's model list); passages have none."""
MAX_TOKENS = 512
GPU_BATCH = 32
CPU_QUERIES = 8
"""Questions of one call on a CPU, where the weights are read from memory once for all of them."""
_INSTALL = "EMBEDDER=bge 需要 FlagEmbedding：请运行 pip install -r requirements.txt"


class BgeEmbedder(Embedder):
    """Loaded at the first use, 16-bit on CUDA only. The tokenizer is not safe in two threads, hence the lock, and
    questions that come while others are embedded go together.

    On a CPU passages go one by one, as a batch is no quicker there and questions would wait for all of it.
    """

    query_batch = CPU_QUERIES
    query_calls = 1

    def __init__(self, model: str, cache: EmbeddingCache | None = None, hub: str = "", device: str = AUTO) -> None:
        """hub: see `Checkpoint`; device: see `device_of`."""
        super().__init__(cache)
        self._device = device
        self._checkpoint = Checkpoint(model, hub)
        self._model = LazyModel(model, self._load, EmbeddingUnavailable)
        self._lock = Lock()
        self._dimension: int | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Raises EmbeddingUnavailable while a local folder is not there."""
        try:
            return f"bge/{self._checkpoint.identity()}"
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
        """Blocking where only the loaded model tells. Raises EmbeddingUnavailable, MissingDependency."""
        if self._dimension is None:
            self._dimension = self._checkpoint.hidden_size() or self._model.get().model.config.hidden_size
        return self._dimension

    @property
    def tokenizer_file(self) -> str:
        """Empty while it is neither in the folder nor in the hub's cache."""
        return str(self._checkpoint.file("tokenizer.json") or "")

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        model = self._model.get()
        encode = model.encode_queries if kind == "query" else model.encode_corpus
        with self._lock:
            return np.asarray(encode(list(texts)), dtype=np.float32)

    def _load(self) -> Any:
        self.name  # noqa: B018 - a folder that is not there must not be looked for on a hub
        try:
            from FlagEmbedding import FlagModel
        except ImportError as error:
            raise MissingDependency(_INSTALL) from error
        device, on_cuda = device_of(self._device, FlagModel)
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
        return model

    def close(self) -> None:
        super().close()
        self._model.close()
