"""What a hit test found, as the retrievers for other frameworks hand it on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .types import SearchResponse


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document; score: the calibrated probability that it answers, 0 to 1."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


def read_passages(response: SearchResponse, *, gated: bool) -> Iterator[Passage]:
    """Best first. gated: those alone that the server would answer from, so that nothing comes back for a question
    that the knowledge base does not hold.
    """
    for candidate in response["candidates"]:
        if gated and candidate["stage"] != "passed":
            continue
        names = ("document_id", "document_name", "title", "heading", "page", "question")
        metadata: dict[str, Any] = {name: candidate[name] for name in names}  # type: ignore[literal-required]
        metadata["probability"] = candidate["probability"]
        yield Passage(candidate["chunk_id"], candidate["text"], candidate["probability"], metadata)
