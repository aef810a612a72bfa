"""Embedders turn text into L2-normalised vectors; the base handles empty input, cleaning and the disk cache."""

from __future__ import annotations

import asyncio
import hashlib
import math
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from threading import Event
from time import monotonic
from typing import Literal, NewType, Protocol

import numpy as np

from knowledge.batching import Batcher
from knowledge.breaker import Breaker
from knowledge.errors import EmbeddingRefused, EmbeddingUnavailable, InvalidConfiguration
from knowledge.text import clean, drop_expanding, simplify
from knowledge.types import Matrix, Vector
from knowledge.work_place import release_place

Kind = Literal["query", "passage"]
# Text that no embedder stumbles over; only `make_readable` makes it, and `_encode` gets nothing else.
Readable = NewType("Readable", str)

# e5 costs 8 ms for a usual question and 294 ms for 400 characters: longer questions are cut here.
MAX_QUERY_CHARS = 256


# How long a passage gives way to questions: under steady traffic documents still get in, two passages a second.
PATIENCE_SECONDS = 0.5
# Batches handed to the thread of passages at once: while one's vectors are taken in, it is at the next already.
AHEAD = 2
# Vectors of one write to the cache: what a killed process has to embed again.
SAVED_AT_ONCE = 32


def make_readable(text: str, limit: int | None = None) -> Readable:
    """Prepares a text for embedding; its vector is cached under the result.

    It has no NUL, no lone surrogate, and nothing that an embedder's own NFKC expands beyond its buffer.

    Args:
        text: The text.
        limit: The most characters to keep.

    Returns:
        A text that is never longer than `text`, nor than `limit`.
    """
    return Readable(simplify(drop_expanding(clean(text)))[:limit])


class EmbeddingCache(Protocol):
    """Vectors by content, on disk. Safe to use from several threads."""

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Returns the vectors that are stored; missing keys are absent."""

    def put_many(self, vectors: dict[str, Vector]) -> None:
        """Stores vectors durably."""

    def drop_many(self, keys: Sequence[str]) -> None:
        """Deletes vectors; missing keys are ignored."""


class NoCache:
    """A cache that stores nothing."""

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        return {}

    def put_many(self, vectors: dict[str, Vector]) -> None:
        pass

    def drop_many(self, keys: Sequence[str]) -> None:
        pass


class QueryLane:
    """Lets passages wait for questions. All embedders of a process share one, since they share its processors."""

    def __init__(self) -> None:
        self._waiting = 0
        self._free = Event()
        self._free.set()

    @contextmanager
    def hold_question(self) -> Iterator[None]:
        """Marks for a block that a question waits for its embedding. On the event loop."""
        self._waiting += 1
        self._free.clear()
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._free.set()

    def wait_for_questions(self) -> None:
        """Returns once no question waits, or after PATIENCE_SECONDS. Blocking."""
        self._free.wait(PATIENCE_SECONDS)


class Embedder(ABC):
    """Base of the embedders. A provider sets `name` and `dimension` and writes `_encode`; callers use the async
    methods.

    `name` identifies the vector space: it is recorded in every index and every cache key. Questions have threads of
    their own and passages are embedded batch by batch between them, so that a customer waits for one batch at most
    while documents are imported. A provider that calls a server has larger batches and more threads.
    """

    name: str
    dimension: int
    # Passages that one call of `_encode` gets.
    batch_size = 1
    # Questions, of as many customers, that one call of `_encode` gets where they come together. With 1 none waits.
    query_batch = 1
    # Whether another server or a GPU does the work, and a turn that waits for it needs no processor.
    elsewhere = False
    # Two keep two processors busy; a tenant's third turn fills the moments that they leave, and one more is
    # another's, so that its short question need not wait for two long ones to end.
    query_threads = 4
    # Calls of `_encode` at once; the questions that come meanwhile go together with the next.
    query_calls = query_threads
    # Of a server that is asked over the network: while it is open, questions are answered without it at once.
    breaker: Breaker | None = None
    # Whether sentences that mean the same are near each other: what learns from examples needs that.
    has_meaning = True

    def __init__(self, cache: EmbeddingCache | None = None) -> None:
        self.cache: EmbeddingCache = cache or NoCache()
        self._queries = ThreadPoolExecutor(self.query_threads, thread_name_prefix="embed-query")
        self._passages = ThreadPoolExecutor(1, thread_name_prefix="embed-passage")
        self.lane = QueryLane()
        self._last_passage = -math.inf
        self._together: Batcher[Readable, Vector] = Batcher(
            self._encode_questions, lambda: self.query_batch, self.query_calls, EmbeddingRefused
        )

    @property
    def title(self) -> str:
        """`name`, or what was configured while the name cannot be known; for people and for caches of this process."""
        return self.name

    @property
    def details(self) -> str:
        """How it computes on this machine, for people; may be empty. Blocking: it may load weights."""
        return ""

    @property
    def tokenizer_file(self) -> str:
        """Path of a tokenizer.json by which chunks are measured; empty if there is none, and tokens are estimated."""
        return ""

    @abstractmethod
    def _encode(self, texts: Sequence[Readable], kind: Kind) -> Matrix:
        """Embeds at least one clean, non-empty text. Blocking.

        Returns:
            Vectors, shape (len(texts), dimension).
        """

    async def warm_up(self) -> None:
        """Loads the weights before the first customer asks.

        Raises:
            EmbeddingUnavailable, MissingDependency: If it cannot embed.
        """
        await self._run_in_pool(self._queries, [make_readable("预热")], "query")

    async def embed_question(self, text: str) -> Vector:
        """Embeds one question.

        Returns:
            Its vector, shape (dimension,).

        Raises:
            EmbeddingUnavailable, MissingDependency: If it cannot embed.
        """
        question = make_readable(text, MAX_QUERY_CHARS)
        if not question.strip():
            return np.zeros(await self._get_dimension(), dtype=np.float32)
        with self.lane.hold_question():
            if self.query_batch == 1:
                return (await self._encode_questions([question]))[0]
            async with release_place() if self.elsewhere else nullcontext():
                return await self._together.compute(question)

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        """Embeds many questions (anchors, FAQ variants, evaluation) through the cache."""
        return await self._embed_many([make_readable(text, MAX_QUERY_CHARS) for text in texts], "query", None)

    async def embed_passages(self, texts: Sequence[str], progress: Callable[[int], object] | None = None) -> Matrix:
        """Embeds chunks through the cache.

        Args:
            texts: The texts of the chunks.
            progress: Called with the number of texts done since its last call.

        Returns:
            Vectors, shape (len(texts), dimension).
        """
        return await self._embed_many([make_readable(text) for text in texts], "passage", progress)

    async def get_cached_passages(self, texts: Sequence[str]) -> Matrix | None:
        """Returns the vectors of passages if all of them are in the cache, otherwise None."""
        if not texts:
            return np.zeros((0, await self._get_dimension()), dtype=np.float32)
        readables = [make_readable(text) for text in texts]
        keys, found = await self._load_cached(readables, "passage")
        return np.stack([found[key] for key in keys]) if all(key in found for key in keys) else None

    async def find_uncached(self, texts: Sequence[str]) -> list[str]:
        """Returns the passages of which the cache has no vector, in their order."""
        keys, found = await self._load_cached([make_readable(text) for text in texts], "passage")
        return [text for key, text in zip(keys, texts, strict=True) if key not in found]

    async def forget(self, texts: Sequence[str]) -> None:
        """Deletes the cached vectors of these passages, so that they are embedded again."""
        keys = [self.build_key(make_readable(text), "passage") for text in texts]
        await asyncio.to_thread(self.cache.drop_many, keys)

    @property
    def quiet_seconds(self) -> float:
        """Seconds since a passage was last embedded; small while documents are being imported."""
        return monotonic() - self._last_passage

    def build_key(self, text: str, kind: Kind) -> str:
        """Builds the cache key of a text: model, kind and content."""
        return hashlib.sha256(f"{self.name}\0{kind}\0{text}".encode()).hexdigest()

    async def _embed_many(self, texts: list[Readable], kind: Kind, progress: Callable[[int], object] | None) -> Matrix:
        if not texts:
            return np.zeros((0, await self._get_dimension()), dtype=np.float32)
        keys, found = await self._load_cached(texts, kind)
        times = Counter(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        step = progress or (lambda _: None)
        if found:
            step(sum(times[key] for key in found))
        async for done in self._encode_missing(missing, kind):
            found.update(done)
            step(sum(times[key] for key in done))
        return np.stack([found[key] for key in keys])

    async def _load_cached(self, texts: list[Readable], kind: Kind) -> tuple[list[str], dict[str, Vector]]:
        """Returns the key of every text, and by key the vectors that need no encoding."""
        keys = [self.build_key(text, kind) for text in texts]
        found = await asyncio.to_thread(self.cache.get_many, keys)
        for key, text in zip(keys, texts, strict=True):
            if key not in found and not text.strip():
                found[key] = np.zeros(await self._get_dimension(), dtype=np.float32)
        return keys, found

    async def _encode_missing(self, missing: dict[str, Readable], kind: Kind) -> AsyncIterator[dict[str, Vector]]:
        """Yields vectors by key, batch by batch; those of a run that fails half way stay in the cache."""
        waiting = deque(
            list(missing)[start : start + self.batch_size] for start in range(0, len(missing), self.batch_size)
        )
        begun, unsaved = deque[tuple[list[str], asyncio.Task[Matrix]]](), dict[str, Vector]()
        try:
            while waiting or begun:
                while waiting and len(begun) < AHEAD:
                    batch = waiting.popleft()
                    texts = [missing[key] for key in batch]
                    call = self._run_in_pool(self._passages, texts, kind, self._encode_in_turn)
                    begun.append((batch, asyncio.create_task(call)))
                batch, running = begun.popleft()
                done = dict(zip(batch, await running, strict=True))
                unsaved |= done
                if len(unsaved) >= SAVED_AT_ONCE:
                    await asyncio.to_thread(self.cache.put_many, unsaved)
                    unsaved = {}
                yield done
        finally:
            for _, running in begun:
                running.cancel()
            await asyncio.gather(*(running for _, running in begun), return_exceptions=True)
            if unsaved:
                await asyncio.to_thread(self.cache.put_many, unsaved)

    async def _encode_questions(self, questions: list[Readable]) -> list[Vector]:
        with self.breaker.guard_server_call(EmbeddingUnavailable, EmbeddingRefused) if self.breaker else nullcontext():
            return list(await self._run_in_pool(self._queries, questions, "query"))

    async def _get_dimension(self) -> int:
        return await asyncio.to_thread(lambda: self.dimension)  # it may take a model to know

    def _encode_in_turn(self, texts: Sequence[Readable], kind: Kind) -> Matrix:
        """Encodes passages once no question waits, or after PATIENCE_SECONDS.

        It waits in the passages' thread: the event loop, busy with other things, need not take part between two
        passages.
        """
        self.lane.wait_for_questions()
        try:
            return self._encode(texts, kind)
        finally:
            if kind == "passage":
                self._last_passage = monotonic()

    async def _run_in_pool(
        self,
        pool: ThreadPoolExecutor,
        texts: list[Readable],
        kind: Kind,
        encode: Callable[[list[Readable], Kind], Matrix] | None = None,
    ) -> Matrix:
        try:
            async with release_place() if self.elsewhere else nullcontext():
                return await asyncio.get_running_loop().run_in_executor(pool, encode or self._encode, texts, kind)
        except (InvalidConfiguration, EmbeddingUnavailable):  # the first is permanent: a package is missing
            raise
        except Exception as error:  # a provider may raise anything; the caller knows one reaction
            raise EmbeddingRefused(f"embedder {self.name} failed: {error}") from error

    def close(self) -> None:
        """Stops the threads; running work is finished."""
        self._queries.shutdown()
        self._passages.shutdown()
