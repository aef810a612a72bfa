"""Tiny checkpoints in the layouts of bge-large-zh-v1.5 (BERT) and bge-reranker-base (XLM-R), written to a folder.

The library that loads them is the real one; only the weights are small.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

HIDDEN = 32
_CHARACTERS = [chr(code) for code in range(0x4E00, 0x9FA6)]
_ASCII = "abcdefghijklmnopqrstuvwxyz0123456789"
_LETTERS = [
    chr(code)
    for first, last in (
        (0xC0, 0x17F),  # Latin
        (0x391, 0x3C9),  # Greek
        (0x410, 0x44F),  # Cyrillic
        (0x5D0, 0x5EA),  # Hebrew
        (0x621, 0x64A),  # Arabic
        (0x904, 0x939),  # Devanagari
        (0xE01, 0xE4E),  # Thai
        (0x3041, 0x30FF),  # Kana
        (0xAC00, 0xD7A3),  # Hangul
        (0x1F600, 0x1F64F),  # faces
    )
    for code in range(first, last + 1)
]
_SMALL: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}


def write_embedder(folder: Path, seed: int = 0) -> Path:
    """A BERT whose [CLS] is the mean of the characters of the text, so that texts that share characters are near."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.manual_seed(seed)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_ASCII, *(f"##{sign}" for sign in _ASCII)]
    vocabulary += [*_CHARACTERS, *"，。？！：-"]
    model = BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=512, **_SMALL))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "LayerNorm" not in name:
                weight.zero_()
        words = model.embeddings.word_embeddings.weight
        words[5:] = torch.randn(len(vocabulary) - 5, HIDDEN)
        attention: Any = model.encoder.layer[0].attention  # equal to all tokens, which are handed on as they are
        attention.self.value.weight.copy_(torch.eye(HIDDEN))
        attention.output.dense.weight.copy_(torch.eye(HIDDEN))
    folder.mkdir(parents=True, exist_ok=True)
    BertTokenizer(vocab={token: row for row, token in enumerate(vocabulary)}).save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def write_reranker(folder: Path, seed: int = 0) -> Path:
    """An XLM-R with one logit and random weights, large enough that texts differ in it."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaTokenizer

    torch.manual_seed(seed)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", *_ASCII, *_CHARACTERS, *"，。？！：-", *_LETTERS, "<mask>"]
    shape = _SMALL | {
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "num_labels": 1,
        "initializer_range": 0.5,
    }
    config = XLMRobertaConfig(vocab_size=len(pieces), **shape)
    folder.mkdir(parents=True, exist_ok=True)
    XLMRobertaTokenizer(vocab=[(piece, 0.0 if piece in special else -1.0) for piece in pieces]).save_pretrained(folder)
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder
