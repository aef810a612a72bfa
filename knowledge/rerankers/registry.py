"""Rerankers by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knowledge.checkpoint import AUTO
from knowledge.errors import InvalidConfiguration
from knowledge.onnx_checkpoint import Runtime
from knowledge.rerankers.base import Fallback, Reranker
from knowledge.rerankers.remote import RerankEndpoint


@dataclass(frozen=True, slots=True)
class RerankerOptions(RerankEndpoint):
    """Where a rerank endpoint is; or which cross-encoder, by name or folder, the mirror that has it, and the device and
    the runtime that compute it. Also how many candidates it reads a question, and who scores while it cannot.

    template: the file of the prompt of a model that says yes or no, empty for the shipped one.
    """

    bge_model: str = "BAAI/bge-reranker-base"
    candidates: int = 20
    hub: str = ""
    fallback: Fallback = "lexical_dense"
    device: str = AUTO
    runtime: Runtime = "auto"
    template: str = ""


def _build_lexical_dense(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.lexical_dense import LexicalDenseReranker

    return LexicalDenseReranker()


def _build_cosine(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.cosine import CosineReranker

    return CosineReranker()


def _build_lexical(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.lexical import LexicalReranker

    return LexicalReranker()


def _build_bge(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.bge import BgeReranker

    where = options.hub, options.fallback, options.device, options.runtime
    return BgeReranker(options.bge_model, options.candidates, *where)


def _build_tei(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.tei import TeiReranker

    return TeiReranker(options, options.candidates, options.fallback)


def _build_jina(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.jina import JinaReranker

    return JinaReranker(options, options.candidates, options.fallback)


def _build_yes_no(options: RerankerOptions) -> Reranker:
    from knowledge.rerankers.yes_no import YesNoReranker

    return YesNoReranker(options, options.candidates, options.fallback, options.template)


RERANKERS: dict[str, Callable[[RerankerOptions], Reranker]] = {
    "bge": _build_bge,
    "tei": _build_tei,
    "jina": _build_jina,
    "yes_no": _build_yes_no,
    "lexical_dense": _build_lexical_dense,
    "cosine": _build_cosine,
    "lexical": _build_lexical,
}


def get_reranker(name: str, options: RerankerOptions | None = None) -> Reranker:
    """Creates the reranker of a name.

    Raises:
        InvalidConfiguration: If there is no such reranker, or its options cannot work.
        MissingDependency: If its package is not installed.
    """
    if name not in RERANKERS:
        raise InvalidConfiguration(f"RERANKER={name} 不存在，可选：{', '.join(RERANKERS)}")
    return RERANKERS[name](options or RerankerOptions())
