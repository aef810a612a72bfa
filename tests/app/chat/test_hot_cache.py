from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agents.base import Emit
from agents.types import Answer, AnswerEvent, Done, Evidence, Meta, Outcome, Page, Question, Source, Token, Usage
from agents.understanding.utterance import Utterance
from app.chat.hot_cache import CacheResult, Compute, HotCache, Version
from tests.agents.support import candidate, retrieval
from tests.app.chat.flights import read_all

ANSWER = Answer("三年。", Outcome.ANSWERED, "knowledge", "knowledge", timings_ms={"vector": 1.0}, usage=Usage(1, 20, 3))


class Kitchen:
    """Computes answers, counts them, and can be held up."""

    def __init__(self, answer: Answer = ANSWER, revision: int = 1) -> None:
        self.answer, self.revision = answer, revision
        self.version = Version(1, "config")
        self.started = self.cancelled = 0
        self.go = asyncio.Event()
        self.go.set()
        self.error: Exception | None = None
        self.now = 0.0

    async def versions(self, tenant: str) -> Version:
        return self.version

    def cache(self, max_size: int = 10, ttl: float = 60.0) -> HotCache:
        return HotCache(max_size, ttl, self.versions, lambda: self.now)

    def compute(self, text: str) -> Compute:
        async def answer(emit: Emit) -> Answer:
            self.started += 1
            try:
                emit(Meta("knowledge", "knowledge"))
                await self.go.wait()
                if self.error is not None:
                    raise self.error
                found = replace(retrieval(text, candidate("整机保修三年", number=7)), revision=self.revision)
                emit(Evidence(Question(Utterance(text)), found))
                emit(Token(self.answer.reply))
                return self.answer
            except asyncio.CancelledError:
                self.cancelled += 1
                raise

        return answer

    async def serve(
        self, cache: HotCache, text: str = "保修几年", tenant: str = "t", page: Page | None = None, caller: str = ""
    ) -> CacheResult:
        return await cache.serve_answer(tenant, Question(Utterance(text), page=page, caller=caller), self.compute(text))


async def told(served: CacheResult) -> list[AnswerEvent]:
    return await read_all(served.flight)


async def ask(kitchen: Kitchen, cache: HotCache, *args: Any, **options: Any) -> bool:
    """Whether it was answered without a computation."""
    served = await kitchen.serve(cache, *args, **options)
    assert (await told(served))[-1] == Done(kitchen.answer)
    return served.cached


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_second_question_gets_the_answer_of_the_first_in_one_piece() -> None:
    kitchen = Kitchen()
    cache = kitchen.cache()
    first = await told(await kitchen.serve(cache))
    again = await kitchen.serve(cache, " 保修几年？ ")
    assert again.cached
    assert await told(again) == [first[0], Token(kitchen.answer.reply), first[-1]]
    assert kitchen.started == 1


async def test_callers_share_what_is_kept_but_never_what_is_being_computed() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    cache = kitchen.cache()
    waiting = [asyncio.create_task(told(await kitchen.serve(cache, caller=caller))) for caller in ("m1", "m1", "m2")]
    await settled()
    assert kitchen.started == 2
    kitchen.go.set()
    await asyncio.gather(*waiting)
    assert (await kitchen.serve(cache, caller="m3")).cached


async def test_a_hundred_at_once_cost_one_computation_and_all_get_every_event() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    cache = kitchen.cache()
    waiting = [asyncio.create_task(told(await kitchen.serve(cache))) for _ in range(100)]
    await settled()
    late = asyncio.create_task(told(await kitchen.serve(cache)))
    await settled()
    kitchen.go.set()
    events = await asyncio.gather(*waiting, late)
    assert kitchen.started == 1
    assert all(item == events[0] and isinstance(item[-1], Done) for item in events)
    stats = cache.get_stats("t")
    assert (stats.misses, stats.shared, stats.hits) == (1, 100, 0)
    assert stats.hit_rate == pytest.approx(100 / 101)
    assert stats.saved_llm == Usage(100, 2000, 300)


async def test_the_computation_goes_on_while_somebody_waits_and_ends_with_the_last() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    cache = kitchen.cache()
    first, second = [asyncio.create_task(told(await kitchen.serve(cache))) for _ in range(2)]
    await settled()
    first.cancel()
    await settled()
    assert kitchen.cancelled == 0
    second.cancel()
    await settled()
    assert kitchen.cancelled == 1
    kitchen.go.set()
    assert not await ask(kitchen, cache)
    assert kitchen.started == 2


async def test_who_comes_after_everybody_left_gets_a_computation_of_his_own() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    cache = kitchen.cache()
    first = asyncio.create_task(told(await kitchen.serve(cache)))
    await settled()
    first.cancel()
    await asyncio.sleep(0)
    served = await kitchen.serve(cache)
    kitchen.go.set()
    assert not served.cached
    assert (await told(served))[-1] == Done(ANSWER)


async def test_an_error_reaches_everybody_and_is_not_kept() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    kitchen.error = RuntimeError("disk")
    cache = kitchen.cache()
    waiting = [asyncio.create_task(told(await kitchen.serve(cache))) for _ in range(3)]
    await settled()
    kitchen.go.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(result) for result in results] == ["disk"] * 3
    kitchen.error = None
    assert not await ask(kitchen, cache)


async def test_an_answer_is_kept_for_its_time() -> None:
    kitchen = Kitchen()
    cache = kitchen.cache(ttl=60)
    await ask(kitchen, cache)
    kitchen.now = 59
    assert await ask(kitchen, cache)
    kitchen.now = 61
    assert cache.count_entries("t") == 0
    assert not await ask(kitchen, cache)


async def test_the_answer_that_was_not_asked_for_longest_makes_room() -> None:
    kitchen = Kitchen()
    cache = kitchen.cache(max_size=2)
    for text in ("甲", "乙", "甲", "丙"):
        await ask(kitchen, cache, text)
    assert [await ask(kitchen, cache, text) for text in ("甲", "丙", "乙")] == [True, True, False]


async def test_without_room_every_question_is_computed() -> None:
    kitchen = Kitchen()
    cache = kitchen.cache(max_size=0)
    assert [await ask(kitchen, cache) for _ in range(2)] == [False, False]


@pytest.mark.parametrize("version", [Version(2, "config"), Version(1, "other")])
async def test_another_revision_or_configuration_has_other_answers(version: Version) -> None:
    kitchen = Kitchen()
    cache = kitchen.cache()
    await ask(kitchen, cache)
    kitchen.version = version
    assert not await ask(kitchen, cache)


async def test_an_answer_belongs_to_the_revision_that_was_searched() -> None:
    kitchen = Kitchen(revision=2)  # the index moves between the look-up and the search
    cache = kitchen.cache()
    await ask(kitchen, cache)
    assert not await ask(kitchen, cache)
    kitchen.version = Version(2, "config")
    assert await ask(kitchen, cache)


async def test_an_answer_whose_configuration_changed_meanwhile_is_not_kept() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    cache = kitchen.cache()
    waiting = asyncio.create_task(told(await kitchen.serve(cache)))
    await settled()
    kitchen.version = Version(1, "recalibrated")
    kitchen.go.set()
    await waiting
    assert cache.count_entries("t") == 0


async def test_tenants_and_pages_never_meet() -> None:
    kitchen = Kitchen()
    cache = kitchen.cache()
    page = Page(url="https://shop.example/a", text="甲")
    assert not await ask(kitchen, cache)
    assert not await ask(kitchen, cache, tenant="other")
    assert not await ask(kitchen, cache, page=page)
    assert not await ask(kitchen, cache, page=replace(page, text="乙"))
    assert await ask(kitchen, cache, page=replace(page))
    assert (cache.count_entries("t"), cache.count_entries("other")) == (3, 1)
    assert cache.get_stats("other").hits == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": outcome}
        for outcome in Outcome
        if outcome not in (Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED, Outcome.LOW_CONFIDENCE)
    ]
    + [{"degraded": ("llm",)}, {"agent": "business"}],
)
async def test_what_may_be_otherwise_next_time_is_not_kept(changes: dict[str, Any]) -> None:
    kitchen = Kitchen(replace(ANSWER, **changes))
    cache = kitchen.cache()
    assert [await ask(kitchen, cache) for _ in range(2)] == [False, False]


async def test_invalidation_reaches_what_it_names() -> None:
    source = Source(1, "cited", "标题", "", None, "三年", 0.9)
    kitchen = Kitchen(replace(ANSWER, sources=(source,)))
    cache = kitchen.cache()
    for text in ("甲", "乙", "丙"):
        await ask(kitchen, cache, text)
    await ask(kitchen, cache, "甲", tenant="other")
    assert await cache.invalidate("t", question="甲？") == 1
    assert await cache.invalidate("t", document_id="nothing") == 0
    assert [await ask(kitchen, cache, text) for text in ("甲", "乙")] == [False, True]
    assert await cache.invalidate("t", document_id="cited") == 3
    assert [await ask(kitchen, cache, text) for text in ("甲", "乙")] == [False, False]
    assert await cache.invalidate("t", document_id="d7") == 2
    await ask(kitchen, cache, "乙")
    assert await cache.invalidate("t") == 1
    assert cache.count_entries("other") == 1


async def test_what_is_being_computed_during_an_invalidation_is_not_kept_nor_joined() -> None:
    kitchen = Kitchen()
    kitchen.go.clear()
    cache = kitchen.cache()
    waiting = asyncio.create_task(told(await kitchen.serve(cache)))
    await settled()
    assert await cache.invalidate("t") == 0
    served = await kitchen.serve(cache)
    assert not served.cached
    later = asyncio.create_task(told(served))
    await settled()
    kitchen.go.set()
    assert (await waiting)[-1] == (await later)[-1] == Done(ANSWER)
    assert kitchen.started == 2
    await settled()
    assert cache.count_entries("t") == 1


async def test_a_tenant_may_keep_fewer_answers_for_a_shorter_time_or_none() -> None:
    kitchen = Kitchen()
    cache = kitchen.cache()
    kitchen.version = Version(1, "config", ttl=5.0, size=2)
    for text in ("甲", "乙", "甲", "丙"):
        await ask(kitchen, cache, text)
    assert cache.count_entries("t") == 2
    assert [await ask(kitchen, cache, text) for text in ("甲", "丙")] == [True, True]
    kitchen.now = 6.0
    assert not await ask(kitchen, cache, "甲")
    kitchen.version = Version(1, "config", size=0)
    assert [await ask(kitchen, cache, "丁") for _ in range(2)] == [False, False]
