from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.limits.slots import TurnSlots
from app.main import open_container
from app.search.calibration_set import load_calibration_set
from app.settings import Settings
from app.wiring.container import Container
from app.wiring.knowledge import build_searches, open_knowledge
from knowledge.calibration.calibrator import Calibrator
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable, InvalidConfiguration, NotCalibrated
from knowledge.types import Matrix

pytestmark = pytest.mark.as_shipped
FILES = [
    ("退货.md", "# 退货\n\n质量问题的退货运费由商城承担。\n\n## 时间\n\n退款在验货后五个工作日内原路退回。".encode()),
    ("保修.md", "# 保修\n\n路由器整机保修三年，耳机保修一年，人为损坏不在保修范围内。".encode()),
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of chunks of every fit, both scorers each."""
    seen: list[int] = []
    fit = Calibrator._fit_scorer

    async def counted(self: Calibrator, snapshot, scorer):  # type: ignore[no-untyped-def]
        seen.append(len(snapshot))
        return await fit(self, snapshot, scorer)

    monkeypatch.setattr(Calibrator, "_fit_scorer", counted)
    return seen


async def passes(container: Container, question: str) -> bool:
    retriever = (await container.tenants.get_parts("default")).retriever
    return bool((await retriever.search(question)).passing_candidates)


async def test_a_base_that_was_empty_answers_from_its_first_documents_at_once(settings: Settings) -> None:
    async with open_container(settings) as container:
        assert not await passes(container, "退货运费由谁承担")
        (report, *_) = await container.ingestion.add("default", FILES)
        assert report.ready
        assert await passes(container, "质量问题的退货运费由商城承担")


async def test_a_turn_that_waits_for_the_first_calibration_takes_no_place_from_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, fit, slots = asyncio.Event(), asyncio.Event(), TurnSlots(1, 60)
    real = Calibrator._fit_on_questions

    async def slow(self: Calibrator, snapshot, scorer, count, every):  # type: ignore[no-untyped-def]
        begun.set()
        await fit.wait()
        return await real(self, snapshot, scorer, count, every)

    async with open_container(settings) as container:
        await container.ingestion.add("default", FILES)
        retriever = (await container.tenants.get_parts("default")).retriever
        retriever.calibrator._revisions = dict.fromkeys(retriever.calibrator._revisions, -1)
        monkeypatch.setattr(Calibrator, "_fit_on_questions", slow)
        retriever._retriever._calibrations.clear()

        async def turn() -> bool:
            async with slots.open_slot("new"):
                found = bool((await retriever.search("质量问题的退货运费由商城承担")).passing_candidates)
                assert not slots.free
                return found

        answered = asyncio.create_task(turn())
        await begun.wait()
        async with slots.open_slot("other"):
            assert not answered.done()
        fit.set()
        assert await answered


async def test_turns_that_wait_for_a_tenant_to_be_opened_take_no_place_from_others(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, opened, slots = asyncio.Event(), asyncio.Event(), TurnSlots(1, 60)
    real = Calibrator.start

    async def slow(self: Calibrator) -> None:
        begun.set()
        await opened.wait()
        await real(self)

    monkeypatch.setattr(Calibrator, "start", slow)
    async with open_container(settings) as container:

        async def turn() -> None:
            async with slots.open_slot("new"), container.tenants.use_parts("new"):
                assert not slots.free

        turns = [asyncio.create_task(turn()) for _ in range(2)]
        await begun.wait()
        async with slots.open_slot("other"):
            assert not any(task.done() for task in turns)
        opened.set()
        await asyncio.gather(*turns)


async def test_a_second_start_uses_what_the_first_fitted(settings: Settings, fits: list[int]) -> None:
    async with open_container(settings) as container:
        await container.ingestion.add("default", FILES)
        await container.startup.prepare()
    assert len(fits) == 2
    async with open_container(settings) as container:
        await container.startup.prepare()
        assert await passes(container, "质量问题的退货运费由商城承担")
    assert len(fits) == 2


async def test_a_change_is_calibrated_behind_and_once(
    settings: Settings, fits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowledge.calibration.calibrator.DEBOUNCE_SECONDS", 0.1)
    async with open_container(settings) as container:
        await container.ingestion.add("default", FILES[:1])
        await container.startup.prepare()
        fits.clear()
        await container.ingestion.add("default", FILES[1:])
        assert await passes(container, "质量问题的退货运费由商城承担")
        async with asyncio.timeout(60):
            while len(fits) < 2:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.01)


class BrokenEmbedder(HashEmbedder):
    broken = False
    queries_encoded = 0

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if self.broken:
            raise RuntimeError("out of memory")
        self.queries_encoded += kind == "query"
        return super()._encode(texts, kind)


async def test_while_the_embedder_fails_keywords_answer_and_say_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.turns.types import Message

    embedder = BrokenEmbedder()
    monkeypatch.setattr("app.wiring.knowledge.get_embedder", lambda *_: embedder)
    uncached = {"hot_cache_max_size": 0, "retrieval_cache_ttl": 0.0}
    async with open_container(settings.model_copy(update=uncached)) as container:
        await container.ingestion.add("default", FILES)
        await container.startup.prepare()
        embedder.queries_encoded = 0
        sound = await container.chat.answer_message(Message("default", "s", "路由器整机保修三年，耳机保修一年"))
        assert embedder.queries_encoded == 1
        assert sound.answer.degraded == ()
        embedder.broken = True
        degraded = await container.chat.answer_message(Message("default", "t", "路由器整机保修三年，耳机保修一年"))
        assert degraded.answer.degraded == ("embedding",)
        assert "保修三年" in degraded.answer.reply


def test_a_calibration_set_is_read(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    rows = [{"text": "怎么退货", "answerable": True, "id": 1}, {"text": "今天天气", "answerable": False}]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", "utf-8")
    assert [(item.text, item.answerable) for item in load_calibration_set(path)] == [
        ("怎么退货", True),
        ("今天天气", False),
    ]


@pytest.mark.parametrize("line", ["{", "[]", '{"text": "a"}', '{"text": "", "answerable": true}', '{"text": 1}'])
def test_a_wrong_line_of_a_calibration_set_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"text": "怎么退货", "answerable": true}\n' + line, "utf-8")
    with pytest.raises(InvalidConfiguration, match=r"CALIBRATION_SET.*第 2 行"):
        load_calibration_set(path)


async def test_a_calibration_set_that_is_not_there_stops_the_start(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="CALIBRATION_SET"):
        async with open_container(settings.model_copy(update={"calibration_set": tmp_path / "none.jsonl"})):
            pass


async def test_a_calibration_that_failed_is_made_up_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_knowledge(settings, owns_index=True) as base:
        monkeypatch.setattr(type(base.embedder), "embed_questions", unavailable)
        searches = build_searches(settings, base)
        search = await searches.open("default", settings)
        await base.ingestion.add("default", FILES)
        with pytest.raises(NotCalibrated):
            await search.search("质量问题的退货运费由商城承担")
        await searches.catch_up()
        monkeypatch.undo()
        await searches.catch_up()
        assert (await search.search("质量问题的退货运费由商城承担")).passing_candidates
        await searches.close()


async def unavailable(*_: object) -> None:
    raise EmbeddingUnavailable("out of memory")
