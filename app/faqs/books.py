"""The curated answers of each tenant in memory, following the revision of its knowledge base."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from loguru import logger

from agents.curated.book import Book, Wording, list_wordings
from agents.curated.typical_meaning import compute_typical_meaning
from agents.types import CuratedEntry, CuratedMatch
from agents.understanding.reading import read
from app.faqs.types import Faq
from app.tasks import stop_tasks
from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Matrix, Vector

if TYPE_CHECKING:
    from agents.types import Question
    from app.faqs.repository import FaqRepository

# For entries that changed; a question that comes while more of them are read than that is answered without them.
WAIT_SECONDS = 1.0
# Between two tries while the embedder is away; until then questions meet entries by their words alone.
RETRY_SECONDS = 30.0
NOTHING = Book((), (), None, None)
# The revision that brought an entry, the entry, and what is known of its wordings.
Kept = tuple[int, CuratedEntry, list[Wording]]


@dataclass(slots=True)
class _TenantShelf:
    """One tenant's, of one embedder."""

    entries: dict[str, Kept] = field(default_factory=dict)
    book: Book = NOTHING
    # When meanings are to be asked for again, since the embedder was away.
    due: float = math.inf
    reading: asyncio.Task[None] | None = None


class FaqBooks:
    """Keeps the curated answers of each tenant in memory, with their vectors, for each embedder in use.

    Entries that did not change are neither read nor embedded again. The books of an embedder are dropped with it.
    """

    def __init__(self, stored: FaqRepository) -> None:
        self._stored = stored
        self._shelves: WeakKeyDictionary[Embedder, dict[str, _TenantShelf]] = WeakKeyDictionary()
        self._typical: WeakKeyDictionary[Embedder, Vector] = WeakKeyDictionary()

    async def get_book(self, tenant: str, embedder: Embedder, revision: int) -> Book | None:
        """Returns the curated answers that a knowledge base publishes at a revision, or at a later one.

        None if they could not be read, or not within the seconds that a turn waits for them.
        """
        shelf = self._shelves.setdefault(embedder, {}).setdefault(tenant, _TenantShelf())
        deadline = monotonic() + WAIT_SECONDS
        while (late := shelf.book.revision < revision) or shelf.due <= monotonic():
            if shelf.reading is None:
                reading = self._read(tenant, embedder, shelf, revision)
                shelf.reading = asyncio.create_task(reading, name="curated answers")
            if not late:  # meanings come in behind
                break
            done, _ = await asyncio.wait([shelf.reading], timeout=deadline - monotonic())
            if not done or any(one.exception() for one in done):
                return None
        return shelf.book

    async def close(self) -> None:
        """Stops reading."""
        shelves = [shelf for each in self._shelves.values() for shelf in each.values()]
        await stop_tasks(*(shelf.reading for shelf in shelves))

    async def _read(self, tenant: str, embedder: Embedder, shelf: _TenantShelf, revision: int) -> None:
        """Brings a tenant's shelf up to a revision: reads what changed, and builds the book anew only if needed."""
        try:
            published = await self._stored.load_published(tenant)
            known = {id: kept for id, kept in shelf.entries.items() if published.get(id) == kept[0]}
            missing = [id for id in published if id not in known]
            if missing or shelf.due <= monotonic() or len(known) < len(shelf.entries):
                made = [_build_entry(faq) for faq in await self._stored.load_entries(tenant, missing)]
                worded = await asyncio.to_thread(lambda: [list_wordings([entry]) for entry in made])
                found = {one.id: (published[one.id], one, each) for one, each in zip(made, worded, strict=True)}
                shelf.book, complete = await self._build_book(embedder, list((known | found).values()), revision)
                shelf.entries, shelf.due = known | found, math.inf if complete else monotonic() + RETRY_SECONDS
            else:
                shelf.book = shelf.book.copy_at_revision(revision)
        except Exception as error:
            logger.bind(tenant=tenant).opt(exception=error).warning("curated answers cannot be read")
            raise
        finally:
            shelf.reading = None

    async def _build_book(self, embedder: Embedder, kept: Sequence[Kept], revision: int) -> tuple[Book, bool]:
        """Builds a book; returns it, and whether it is complete: False if its wordings could not be embedded now."""
        entries = [entry for _, entry, _ in kept]
        wordings = [replace(one, entry=place) for place, (_, _, each) in enumerate(kept) for one in each]
        vectors: Matrix | None = None
        typical: Vector | None = None
        complete = True
        if wordings and embedder.has_meaning:
            try:
                typical = await self._get_typical(embedder)
                vectors = await embedder.embed_questions([read(one.text).normalized_text for one in wordings])
            except EmbeddingUnavailable as error:
                logger.opt(exception=error).warning("curated answers by their wordings alone")
                complete = False
        return await asyncio.to_thread(Book, entries, wordings, vectors, typical, revision), complete

    async def _get_typical(self, embedder: Embedder) -> Vector:
        if embedder not in self._typical:
            self._typical[embedder] = await compute_typical_meaning(embedder)
        return self._typical[embedder]


@dataclass(frozen=True, slots=True)
class TenantBook:
    """The curated answers of one tenant, as the chat asks them. revision: that of the index which is searched now."""

    books: FaqBooks
    tenant: str
    embedder: Embedder
    revision: Callable[[], int]

    async def match(self, question: Question, vector: Vector | None) -> CuratedMatch | None:
        """Finds the entry that answers a message: by its words, by the words of its completed form, else by the meaning
        of the latter.
        """
        book = await self.books.get_book(self.tenant, self.embedder, self.revision())
        if not book:
            return None
        meant = question.utterance.expanded.normalized_text
        worded = book.find_by_wording(question.utterance.normalized) or book.find_by_wording(meant)
        if worded is not None:
            return worded
        if meant != question.utterance.normalized:
            vector = await self._embed_text(meant)
        return book.find_similar(meant, vector) if vector is not None else None

    async def _embed_text(self, text: str) -> Vector | None:
        try:
            return await self.embedder.embed_question(text)
        except EmbeddingUnavailable as error:
            logger.opt(exception=error).warning("turn without an embedding of what it means")
            return None


def _build_entry(faq: Faq) -> CuratedEntry:
    return CuratedEntry(faq.id, faq.answer, faq.draft.wordings, faq.buttons)
