from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from knowledge.calibration import calibrator as module
from knowledge.calibration.calibrator import Calibrator, LabelledQuestion
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable, NotCalibrated
from knowledge.probability import CalibrationMap
from knowledge.rerankers.lexical_dense import LexicalDenseReranker
from knowledge.retriever import Retriever
from knowledge.scoring import RetrievalOptions
from knowledge.types import GateVerdict, Matrix
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunk, chunks, document

QUESTION = "退货的运费谁承担"
KINDS = {"lexical", "lexical_dense"}


class Store:
    """Keeps calibrations in a dict and remembers what was saved."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], tuple[int, CalibrationMap]] = {}
        self.saves: list[tuple[str, int]] = []

    async def load(self, scorer: str, key: str) -> tuple[int, CalibrationMap] | None:
        return self.rows.get((scorer, key))

    async def save(self, scorer: str, key: str, revision: int, calibration: CalibrationMap) -> None:
        self.rows[scorer, key] = (revision, calibration)
        self.saves.append((scorer, revision))


class Switch(HashEmbedder):
    """Fails while `out`, and counts the questions that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.out = False
        self.asked = self.failures = 0

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if self.out:
            self.failures += 1
            raise ConnectionError("model server is gone")
        self.asked += kind == "query"
        return super()._encode(texts, kind)


@pytest.fixture
async def base(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Base]:
    monkeypatch.setattr(module, "DEBOUNCE_SECONDS", 0.05)
    monkeypatch.setattr(module, "MAX_DEBOUNCE_SECONDS", 0.3)
    monkeypatch.setattr(module, "QUESTIONS", 100)
    base = await base_of(*chunks(*TEXTS), embedder=Switch())
    yield base
    await base.close()


def retriever_of(base: Base, options: RetrievalOptions | None = None) -> Retriever:
    return Retriever(base.index, base.embedder, ANALYZER, options=options)


def switch(base: Base) -> Switch:
    assert isinstance(base.embedder, Switch)
    return base.embedder


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what it waits for has no event
            await asyncio.sleep(0.01)


async def test_after_the_start_the_base_answers_its_own_questions_and_no_others(base: Base) -> None:
    retriever = retriever_of(base)
    with pytest.raises(NotCalibrated):
        await retriever.search(QUESTION)
    await Calibrator(retriever).start()
    assert set(retriever.calibrations) == KINDS
    assert (await retriever.search(QUESTION)).verdict is GateVerdict.PASS
    assert (await retriever.search("宇宙飞船几点起飞")).passing_candidates == ()


async def test_a_base_that_has_just_come_answers_by_a_few_questions_until_it_is_calibrated(base: Base) -> None:
    retriever = retriever_of(base)
    calibrator = Calibrator(retriever)
    await calibrator.ensure_calibrations()
    assert all(calibration.provisional for calibration in retriever.calibrations.values())
    found = await retriever.search(QUESTION)
    assert (found.verdict, found.degraded) == (GateVerdict.PASS, ("calibration",))
    assert (await retriever.search("宇宙飞船几点起飞")).passing_candidates == ()
    await until(lambda: not any(calibration.provisional for calibration in retriever.calibrations.values()))
    assert (await retriever.search(QUESTION)).degraded == ()
    await calibrator.ensure_calibrations()
    assert not any(calibration.provisional for calibration in retriever.calibrations.values())
    await calibrator.close()


async def test_each_scorer_is_fitted_on_its_own_scale(base: Base) -> None:
    retriever = retriever_of(base)
    await Calibrator(retriever).start()
    assert retriever.calibrations["lexical"].cutoff != retriever.calibrations["lexical_dense"].cutoff
    assert {calibration.scorer for calibration in retriever.calibrations.values()} == KINDS


async def test_an_empty_base_needs_no_calibration() -> None:
    base = await base_of(embedder=Switch())
    retriever = retriever_of(base)
    await Calibrator(retriever).start()
    assert retriever.calibrations == {}
    await base.close()


async def test_a_base_of_signs_only_is_calibrated_and_answers_nothing() -> None:
    base = await base_of(*chunks("！！！", "……"), embedder=Switch())
    retriever = retriever_of(base)
    await Calibrator(retriever).start()
    assert (await retriever.search(QUESTION)).passing_candidates == ()
    await base.close()


async def test_a_second_start_takes_what_was_saved(base: Base) -> None:
    store, first, second = Store(), retriever_of(base), retriever_of(base)
    await Calibrator(first, store).start()
    asked = switch(base).asked
    await Calibrator(second, store).start()
    assert second.calibrations == first.calibrations
    assert switch(base).asked == asked
    assert {kind for kind, _ in store.saves} == KINDS
    assert len(store.saves) == len(KINDS)


@pytest.mark.parametrize("kind", sorted(KINDS))
async def test_a_calibration_that_a_kill_kept_from_being_saved_is_fitted_at_the_next_start(
    base: Base, kind: str
) -> None:
    store = Store()
    await Calibrator(retriever_of(base), store).start()
    del store.rows[next(row for row in store.rows if row[0] == kind)]
    again = retriever_of(base)
    await Calibrator(again, store).start()
    assert set(again.calibrations) == KINDS


async def test_a_start_on_a_newer_revision_fits_again(base: Base) -> None:
    store = Store()
    await Calibrator(retriever_of(base), store).start()
    await base.apply([chunk("new", "新增的说明", document("new"))])
    await Calibrator(retriever_of(base), store).start()
    assert {revision for _, revision in store.saves[len(KINDS) :]} == {2}


async def test_other_options_do_not_reuse_a_calibration(base: Base) -> None:
    store = Store()
    await Calibrator(retriever_of(base), store).start()
    await Calibrator(retriever_of(base, RetrievalOptions(vector_top_k=2)), store).start()
    assert len(store.saves) == 2 * len(KINDS)


async def test_another_weight_of_the_scorer_does_not_reuse_a_calibration(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store()
    await Calibrator(retriever_of(base), store).start()
    monkeypatch.setattr(LexicalDenseReranker, "constants", (0.9,))
    await Calibrator(retriever_of(base), store).start()
    assert [kind for kind, _ in store.saves[len(KINDS) :]] == ["lexical_dense"]


async def test_a_refresh_on_the_same_revision_does_nothing(base: Base) -> None:
    store, retriever = Store(), retriever_of(base)
    calibrator = Calibrator(retriever, store)
    await calibrator.start()
    asked = switch(base).asked
    await asyncio.gather(*(calibrator.refresh() for _ in range(3)))
    assert (switch(base).asked, len(store.saves)) == (asked, len(KINDS))


async def test_many_changes_in_a_row_are_fitted_once_on_the_last(base: Base) -> None:
    store, retriever = Store(), retriever_of(base)
    calibrator = Calibrator(retriever, store)
    await calibrator.start()
    for number in range(5):
        await base.apply([chunk(f"n{number}", f"新增说明第 {number} 条", document(f"n{number}"))])
        calibrator.refresh_soon()
    await until(lambda: len(store.saves) == 2 * len(KINDS))
    await asyncio.sleep(0.2)
    assert store.saves[len(KINDS) :] == [(kind, 6) for kind in ("lexical", "lexical_dense")]
    await calibrator.close()


async def test_the_old_calibration_serves_while_the_new_one_is_fitted(base: Base) -> None:
    retriever = retriever_of(base)
    calibrator = Calibrator(retriever)
    await calibrator.start()
    old = dict(retriever.calibrations)
    await base.apply([chunk(f"n{n}", f"退货{n}须知", document(f"n{n}")) for n in range(20)])
    calibrator.refresh_soon()
    assert (await retriever.search(QUESTION)).candidates
    assert retriever.calibrations == old
    await until(lambda: all(retriever.calibrations[kind] != old[kind] for kind in KINDS))
    await calibrator.close()


async def test_changes_without_a_pause_do_not_put_the_fit_off_for_ever(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DEBOUNCE_SECONDS", 60.0)
    store = Store()
    calibrator = Calibrator(retriever_of(base), store)
    await calibrator.start()

    async def changes() -> None:
        while True:
            await base.apply([chunk("busy", "一直在变的说明", document("busy"))])
            calibrator.refresh_soon()
            await asyncio.sleep(0.02)

    busy = asyncio.create_task(changes())
    await until(lambda: len(store.saves) > len(KINDS))
    busy.cancel()
    await asyncio.wait([busy])
    await calibrator.close()


async def test_a_failed_fit_is_tried_again_without_another_change(base: Base) -> None:
    retriever = retriever_of(base)
    calibrator = Calibrator(retriever)
    switch(base).out = True
    calibrator.refresh_soon()
    await until(lambda: switch(base).failures > 0)
    assert set(retriever.calibrations) == {"lexical"}
    switch(base).out = False
    await until(lambda: set(retriever.calibrations) == KINDS)
    await calibrator.close()


async def test_keyword_recall_is_calibrated_while_the_embedder_is_out(base: Base) -> None:
    retriever = retriever_of(base)
    switch(base).out = True
    with pytest.raises(EmbeddingUnavailable):
        await Calibrator(retriever).start()
    result = await retriever.search(QUESTION)
    assert (result.degraded, result.verdict) == (("embedding",), GateVerdict.PASS)


async def test_closing_stops_what_runs_behind(base: Base) -> None:
    calibrator = Calibrator(retriever_of(base))
    calibrator.refresh_soon()
    await calibrator.close()
    await asyncio.sleep(0.1)
    assert switch(base).asked == 0


async def test_closing_twice_or_before_any_work_is_no_error(base: Base) -> None:
    calibrator = Calibrator(retriever_of(base))
    await calibrator.close()
    calibrator.refresh_soon()
    await calibrator.close()
    await calibrator.close()


async def test_labelled_questions_move_the_cutoff(base: Base) -> None:
    plain, taught = retriever_of(base), retriever_of(base)
    await Calibrator(plain).start()
    harsh = [LabelledQuestion(f"{TEXTS[n % 6]}{n}", answerable=True) for n in range(20)]
    harsh += [LabelledQuestion(f"退货运费怎么弄 {n}", answerable=False) for n in range(20)]
    labels = list(harsh)

    async def labelled() -> list[LabelledQuestion]:
        return labels

    calibrator = Calibrator(taught, labels=labelled)
    await calibrator.start()
    unlabelled = plain.calibrations["lexical_dense"].cutoff
    assert taught.calibrations["lexical_dense"].cutoff > unlabelled
    assert (await taught.search("退货运费怎么弄")).passing_candidates == ()
    labels.clear()
    await calibrator.refresh_quick()
    assert taught.calibrations["lexical_dense"].cutoff == unlabelled
