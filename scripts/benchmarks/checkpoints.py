"""Checkpoints of BGE's shape with random weights: as fast as the real ones, and nothing to download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789，。？！：-"
_CHARACTERS = [*_ALPHABET, *(chr(code) for code in range(0x4E00, 0x9FA6))]
"""One token a character, as the real tokenizers cut Chinese, or nearly."""
_LARGE: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
"""bge-large-zh-v1.5's config.json; its vocabulary of 21,128 words weighs memory, not time."""
_BASE: dict[str, Any] = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
"""bge-reranker-base's; its vocabulary has 250,002 pieces, .7 GB more than is measured here."""
_TINY: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


def write_embedder(folder: Path, *, tiny: bool) -> Path:
    """A BERT of bge-large-zh-v1.5's shape, and a tokenizer for it."""
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_CHARACTERS]
    BertTokenizer(vocab={token: row for row, token in enumerate(vocabulary)}).save_pretrained(folder)
    shape = _TINY if tiny else _LARGE
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=512, **shape)).save_pretrained(folder)
    return folder


def write_reranker(folder: Path, *, tiny: bool) -> Path:
    """An XLM-R of bge-reranker-base's shape, and a tokenizer for it."""
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", *_CHARACTERS, "<mask>"]
    XLMRobertaTokenizer(vocab=[(piece, 0.0 if piece in special else -1.0) for piece in pieces]).save_pretrained(folder)
    shape = (_TINY if tiny else _BASE) | {"max_position_embeddings": 514, "type_vocab_size": 1, "num_labels": 1}
    XLMRobertaForSequenceClassification(XLMRobertaConfig(vocab_size=len(pieces), **shape)).save_pretrained(folder)
    return folder
