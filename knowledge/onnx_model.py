"""A BERT-like encoder in onnxruntime with its tokenizer; neither PyTorch nor transformers is imported."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knowledge.checkpoint import require_package
from knowledge.onnx_session import open_session
from knowledge.types import Matrix

MAX_TOKENS = 512
# Of a question that is read together with a passage, as FlagEmbedding cuts it.
MAX_QUESTION_TOKENS = MAX_TOKENS * 3 // 4
SHORT_TOKENS = 64
BATCH = 8
# A call reads the weights once, which costs as much as 5 tokens: texts below SHORT_TOKENS of nearly the same length
# go together (8 of 16 tokens in three quarters of the time, 8 of 32 in nine tenths), longer ones one by one.
PADDING = 4
_INSTALL = "BGE 的 ONNX 文件需要 onnxruntime 与 tokenizers：请运行 pip install -r requirements-lite.txt"


class OnnxModel:
    """Safe to use from several threads."""

    def __init__(self, graph: Path, tokenizer: Path, *, pairs: bool, alone: bool) -> None:
        """pairs: whether it reads a question and a passage, and not one text; alone: one text a call, so that none
        depends on its company.

        Raises MissingDependency, and whatever a broken file raises.
        """
        require_package("onnxruntime", _INSTALL)
        require_package("tokenizers", _INSTALL)
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        if pairs:
            self._tokenizer.no_truncation()
        else:
            self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = open_session(graph, _count_processors())
        self._inputs = [given.name for given in self._session.get_inputs()]
        self._output = self._session.get_outputs()[0]
        self._alone = alone
        if len(self._output.shape) != (2 if pairs else 3):
            raise ValueError(f"{graph} 不是{'重排' if pairs else '向量'}模型的导出")

    @property
    def width(self) -> int:
        """Width of a token's state."""
        return int(self._output.shape[-1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Returns the normalised state of the first token of each text, shape (len(texts), width)."""
        states = self._compute_outputs([self._tokenizer.encode(text) for text in texts])
        return np.asarray(states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12), dtype=np.float32)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Returns the logit of each question with its passage.

        The tokens are those of training. FlagEmbedding 1.4 on transformers 5 turns them into text and back, by which a
        character that the tokenizer does not know loses the blank before it.
        """
        questions = {question: self._encode_text(question, MAX_QUESTION_TOKENS) for question, _ in pairs}
        marks = self._tokenizer.num_special_tokens_to_add(True)
        encodings = []
        for question, passage in pairs:
            begun = questions[question]
            rest = self._encode_text(passage, MAX_TOKENS - marks - len(begun)) if passage else None
            encodings.append(self._tokenizer.post_process(begun, rest))
        return [float(logit) for logit in self._compute_outputs(encodings).reshape(len(pairs))]

    def _encode_text(self, text: str, limit: int) -> Any:
        """Encodes a text without the special tokens around it."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        encoding.truncate(limit)
        return encoding

    def _compute_outputs(self, encodings: Sequence[Any]) -> Matrix:
        """Runs the model over encodings; returns for each the state of its first token, or its logits."""
        results: dict[int, Matrix] = {}
        for rows in self._group_rows([len(encoding) for encoding in encodings]):
            together = [encodings[row] for row in rows]
            for encoding in together:
                encoding.pad(max(map(len, together)))
            values = self._session.run([self._output.name], self._build_inputs(together))[0]
            results.update(zip(rows, values[:, 0] if values.ndim == 3 else values, strict=True))
        return np.stack([results[row] for row in range(len(encodings))])

    def _group_rows(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Yields the rows of each call."""
        groups: dict[object, list[int]] = defaultdict(list)
        for row, length in enumerate(lengths):
            groups[row + MAX_TOKENS if self._alone or length > SHORT_TOKENS else -(-length // PADDING)].append(row)
        for rows in groups.values():
            yield from (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))

    def _build_inputs(self, encodings: Sequence[Any]) -> dict[str, Any]:
        known = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        return {
            name: np.array([getattr(encoding, known[name]) for encoding in encodings], dtype=np.int64)
            for name in self._inputs
        }


def _count_processors() -> int:
    """Returns how many processors this process may use."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) or 1
