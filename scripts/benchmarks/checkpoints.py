"""Checkpoints of BGE's shape with random weights: as fast as the real ones, and nothing to download."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scripts.export_onnx import export_model

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789，。？！：-"
# One token a character, as the real tokenizers cut Chinese, or nearly.
_CHARACTERS = [*_ALPHABET, *(chr(code) for code in range(0x4E00, 0x9FA6))]
# bge-large-zh-v1.5's config.json, and its words.
_LARGE: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
_LARGE_WORDS, _BASE_WORDS = 21_128, 250_002
# bge-reranker-base's, which has .8 GB of words.
_BASE: dict[str, Any] = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}
_TINY: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


def write_embedder(folder: Path, *, tiny: bool) -> Path:
    """A BERT of bge-large-zh-v1.5's shape, and a tokenizer for it."""
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_CHARACTERS]
    vocabulary += [] if tiny else _build_unused_words(_LARGE_WORDS - len(vocabulary))
    BertTokenizer(vocab={token: row for row, token in enumerate(vocabulary)}).save_pretrained(folder)
    shape = _TINY if tiny else _LARGE
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=512, **shape)).save_pretrained(folder)
    return folder


def write_reranker(folder: Path, *, tiny: bool) -> Path:
    """An XLM-R of bge-reranker-base's shape, and a tokenizer for it."""
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", *_CHARACTERS]
    pieces += ["<mask>"] if tiny else [*_build_unused_words(_BASE_WORDS - len(pieces) - 1), "<mask>"]
    XLMRobertaTokenizer(vocab=[(piece, 0.0 if piece in special else -1.0) for piece in pieces]).save_pretrained(folder)
    shape = (_TINY if tiny else _BASE) | {"max_position_embeddings": 514, "type_vocab_size": 1, "num_labels": 1}
    XLMRobertaForSequenceClassification(XLMRobertaConfig(vocab_size=len(pieces), **shape)).save_pretrained(folder)
    return folder


def _build_unused_words(count: int) -> list[str]:
    """Words that no text has."""
    return [f"[unused{number}]" for number in range(count)]


def main() -> None:
    """Writes both checkpoints, and with --export their exports, unless they are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--export", action="store_true")
    options = parser.parse_args()
    for write, name in ((write_embedder, "embedder"), (write_reranker, "reranker")):
        place = options.folder / name
        if not (place / "model.safetensors").is_file():
            write(place, tiny=options.tiny)
        if options.export and not (place / "onnx").is_dir():
            export_model(str(place), place)


if __name__ == "__main__":
    main()
