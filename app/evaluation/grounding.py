"""Finds what a reply made up: quantities and codes that nothing it leans on holds.

Coarser than `agents.verification`, which checks sentence by sentence, and independent of who wrote the reply: it asks
only whether a fact stands anywhere in what is cited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.types import RowSource, Source
from agents.verification.evidence import Statement
from agents.verification.quantities import COUNT, Quantity, is_known
from app.evaluation.text_match import remove_marks
from knowledge.text import fold
from knowledge.types import Chunk


def find_unfounded(reply: str, grounds: Iterable[str], *, rows: bool = False) -> tuple[str, ...]:
    """Returns the numbers with a unit, model names and codes of a reply that no ground contains, in a readable form.

    Args:
        reply: The reply.
        grounds: The full texts of the cited chunks and rows, and the question.
        rows: Whether it reports rows: how many there are is counted, and stands in none of them.
    """
    claim = Statement(fold(remove_marks(reply)))
    statements = [Statement(fold(text)) for text in grounds]
    known = frozenset(quantity for ground in statements for quantity in ground.numbers.known)
    passed_over = {"", COUNT} if rows else {""}
    numbers = [one for one in claim.numbers.stated if one[1] not in passed_over and not is_known(one, known)]
    codes = [
        code for code in claim.latin if _is_code(code) and not any(code in ground.joined_text for ground in statements)
    ]
    return tuple(sorted([*map(_join_quantity, numbers), *codes]))


def list_cited_texts(sources: Sequence[Source | RowSource], chunks: Sequence[Chunk], page: str) -> list[str]:
    """Returns the full texts behind the sources of an answer.

    chunks: of the knowledge base; page: the customer's page as text, which is source 0.
    """
    texts = []
    for source in sources:
        if isinstance(source, RowSource):
            texts.append("；".join([source.key, *source.fields.values()]))
        elif source.index == 0:
            texts.append(page)
        else:
            texts += [build_full_text(chunk) for chunk in find_cited_chunks(source, chunks)]
    return texts


def find_cited_chunks(source: Source, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Returns the chunks that a source may stand for: those of its document and place that contain its words.

    All chunks of the place if none does, as with words that were put together anew.
    """
    same_place = [
        chunk for chunk in chunks if chunk.document.id == source.document_id and _get_place(chunk) == source.heading
    ]
    quotes = [line.strip() for line in source.snippet.splitlines() if line.strip()]
    return [chunk for chunk in same_place if all(quote in chunk.text for quote in quotes)] or same_place


def build_full_text(chunk: Chunk) -> str:
    """Returns a chunk's text with title, day and headings, which say what its numbers are about."""
    above = f"{chunk.document.title} {chunk.document.dated}\n{' '.join(chunk.heading_path)}"
    return f"{above}\n{chunk.question or ''}\n{chunk.text}"


def _get_place(chunk: Chunk) -> str:
    return " > ".join(chunk.heading_path) if chunk.question is None else chunk.question


def _is_code(name: str) -> bool:
    return any(character.isdigit() for character in name)


def _join_quantity(quantity: Quantity) -> str:
    return " ".join(quantity)
