"""Rerankers by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knowledge.errors import InvalidConfiguration
from knowledge.rerankers.base import Fallback, Reranker


@dataclass(frozen=True, slots=True)
class RerankerOptions:
    """Which cross-encoder, by name or folder, how many candidates it reads a question, the mirror that has it, and who
    scores while it cannot.
    """

    bge_model: str = "BAAI/bge-reranker-base"
    candidates: int = 20
    hub: str = ""
    fallback: Fallback = "lexical_dense"


def _lexical_dense(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.lexical_dense import LexicalDenseReranker

    return LexicalDenseReranker()


def _cosine(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.cosine import CosineReranker

    return CosineReranker()


def _lexical(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.lexical import LexicalReranker

    return LexicalReranker()


def _bge(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.bge import BgeReranker

    return BgeReranker(options.bge_model, options.candidates, options.hub, options.fallback)


RERANKERS: dict[str, Callable[[RerankerOptions], Reranker]] = {
    "bge": _bge,
    "lexical_dense": _lexical_dense,
    "cosine": _cosine,
    "lexical": _lexical,
}


def get_reranker(name: str, options: RerankerOptions | None = None) -> Reranker:
    """The reranker of that name. Raises InvalidConfiguration, MissingDependency."""
    if name not in RERANKERS:
        raise InvalidConfiguration(f"RERANKER={name} 不存在，可选：{', '.join(RERANKERS)}")
    return RERANKERS[name](options or RerankerOptions())
