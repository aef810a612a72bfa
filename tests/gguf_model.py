"""A tiny instruct model in a GGUF file: Llama's architecture, a byte-level vocabulary and a ChatML template, written
here. The library that loads it is the real one.

The weights are made so that every token has one successor: after the assistant's mark it writes the same reply always,
whatever it is asked.
"""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from numpy.typing import NDArray

ENDS, BEGINS = "<|im_end|>", "<|im_start|>"
REPLY = "退款 5 天到账。[1]"
HIDDEN, LAYERS, HEADS, CONTEXT = 64, 2, 2, 32_768
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_NORMAL, _CONTROL = 1, 3
_SHARPNESS = 4.0


def write_gguf(path: Path, reply: list[str], *, known: str | None = None, endless: bool = False) -> Path:
    """A model that writes the pieces of `reply`, none of which stands twice in it; endless: again and again.

    known: pieces that are tokens, None for all of them; others are as many tokens as they have bytes.
    """
    vocabulary = _Vocabulary([piece for piece in reply if known is None or piece in known])
    tokens = [token for piece in reply for token in vocabulary.encode(piece)]
    start, end = vocabulary.encode("\n")[0], vocabulary.ids[ENDS]
    assert len({start, *tokens}) == len(tokens) + 1, "a token with two successors"
    random = np.random.default_rng(0)
    embeddings = random.standard_normal((len(vocabulary.texts), HIDDEN)).astype(np.float32)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    head = np.zeros_like(embeddings)
    for token, following in pairwise([start, *tokens, tokens[0] if endless else end]):
        head[following] += _SHARPNESS * embeddings[token]
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, vocabulary, embeddings, head)
    return path


@cache
def instruct_file() -> Path:
    """One that writes `REPLY`, for all tests of a process."""
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_gguf(folder / "tiny-instruct.gguf", split_pieces(REPLY))


def split_pieces(text: str) -> list[str]:
    """Characters, each with a space before it."""
    pieces: list[str] = []
    for character in text:
        if pieces and pieces[-1] == " ":
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


class _Vocabulary:
    """Bytes, the pieces that are to be tokens, and the template's marks."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = set(pieces)
        self._bytes = _byte_characters()
        of_pieces = [self._shown(piece) for piece in pieces if len(piece.encode()) > 1]
        self.texts = [*dict.fromkeys([*self._bytes, *of_pieces, BEGINS, ENDS])]
        self.ids = {text: number for number, text in enumerate(self.texts)}

    def encode(self, piece: str) -> list[int]:
        shown = self._shown(piece)
        return [self.ids[shown]] if piece in self._pieces else [self.ids[character] for character in shown]

    def _shown(self, text: str) -> str:
        return "".join(self._bytes[byte] for byte in text.encode())


def _byte_characters() -> list[str]:
    """The character that stands for each byte in byte-level vocabularies: GPT-2's."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def _write(path: Path, vocabulary: _Vocabulary, embeddings: NDArray[np.float32], head: NDArray[np.float32]) -> None:
    from gguf import GGUFWriter

    writer = GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(vocabulary.texts)
    writer.add_token_types([_CONTROL if text in (BEGINS, ENDS) else _NORMAL for text in vocabulary.texts])
    writer.add_token_merges([f"{vocabulary.texts[65]} {vocabulary.texts[66]}"])
    writer.add_eos_token_id(vocabulary.ids[ENDS])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    square, ones = np.zeros((HIDDEN, HIDDEN), np.float32), np.ones(HIDDEN, np.float32)
    tensors = {"token_embd": embeddings, "output_norm": ones, "output": head}
    for layer in range(LAYERS):  # layers add nothing: what comes next depends on the last token alone
        tensors |= {f"blk.{layer}.{name}": square for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
        tensors |= {f"blk.{layer}.{name}": square for name in ("ffn_gate", "ffn_up", "ffn_down")}
        tensors |= {f"blk.{layer}.{name}": ones for name in ("attn_norm", "ffn_norm")}
    for name, values in tensors.items():
        writer.add_tensor(f"{name}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
