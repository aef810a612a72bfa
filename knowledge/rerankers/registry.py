"""Rerankers by name."""

from __future__ import annotations

from collections.abc import Callable

from knowledge.errors import InvalidConfiguration
from knowledge.rerankers.base import Reranker


def _lexical_dense() -> Reranker:
    from knowledge.rerankers.lexical_dense import LexicalDenseReranker

    return LexicalDenseReranker()


def _cosine() -> Reranker:
    from knowledge.rerankers.cosine import CosineReranker

    return CosineReranker()


def _lexical() -> Reranker:
    from knowledge.rerankers.lexical import LexicalReranker

    return LexicalReranker()


RERANKERS: dict[str, Callable[[], Reranker]] = {
    "lexical_dense": _lexical_dense,
    "cosine": _cosine,
    "lexical": _lexical,
}


def get_reranker(name: str) -> Reranker:
    """The reranker of that name. Raises InvalidConfiguration."""
    if name not in RERANKERS:
        raise InvalidConfiguration(f"RERANKER={name} 不存在，可选：{', '.join(RERANKERS)}")
    return RERANKERS[name]()
