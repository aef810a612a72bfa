from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import InvalidConfiguration, NotCalibrated
from knowledge.filters import Filter
from knowledge.fusion import RRF_K
from knowledge.gate import EvidenceGate
from knowledge.index import Snapshot
from knowledge.probability import CalibrationMap
from knowledge.rerankers.registry import get_reranker
from knowledge.scoring import RetrievalOptions
from knowledge.spelling import Correction
from knowledge.types import Candidate, GateVerdict, Matrix, QuestionVectors
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunk, chunks, document, faq

QUESTION = "退货的运费谁承担"


class Outage(HashEmbedder):
    """Embeds passages; questions fail while `out`."""

    out = True

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if kind == "query" and self.out:
            raise ConnectionError("model server is gone")
        return super()._encode(texts, kind)


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    base = await base_of(*chunks(*TEXTS))
    yield base
    await base.close()


async def test_a_question_finds_the_chunk_that_answers_it(base: Base) -> None:
    result = await base.retriever().search(QUESTION)
    assert result.candidates[0].chunk.id == "c0"
    assert (result.verdict, result.revision, result.degraded) == (GateVerdict.PASS, 1, ())
    assert result.confidence == max(candidate.probability for candidate in result.candidates)


async def test_an_unrelated_question_is_refused(base: Base) -> None:
    result = await base.retriever().search("宇宙飞船几点起飞")
    assert result.verdict is GateVerdict.REFUSE
    assert result.passing_candidates == ()
    assert result.candidates


async def test_every_number_that_decided_is_explained(base: Base) -> None:
    retriever, snapshot = base.retriever(), base.index.get_snapshot()
    result = await retriever.search(QUESTION, explain=True)
    vector, terms = await base.embedder.embed_question(QUESTION), ANALYZER.tokenize(QUESTION)
    dense = [hit.chunk_id for hit in await snapshot.search_dense(vector, 25)]
    lexical = [hit.chunk_id for hit in await snapshot.search_lexical(terms, 25)]
    for found in result.candidates:
        name = found.chunk.id
        assert found.vector_rank == dense.index(name) + 1
        assert found.keyword_rank == (lexical.index(name) + 1 if name in lexical else None)
        assert found.cosine == pytest.approx(float(snapshot.get_vectors([name])[0] @ vector), abs=1e-4)
        assert found.bm25 == pytest.approx(snapshot.score_bm25(terms, [name])[0], rel=1e-4)
        assert found.fused == pytest.approx(rrf(found))
        assert found.scorer == "lexical_dense"
        assert 0 < found.probability < 1
    assert result.terms == tuple(dict.fromkeys(terms))
    assert list(result.idf) == snapshot.get_idf(result.terms)
    assert set(result.timings_ms) == {"embed", "vector", "bm25", "fuse", "rerank", "gate"}


def rrf(found: Candidate) -> float:
    ranks = ((0.6, found.vector_rank), (0.4, found.keyword_rank))
    return sum(weight / (RRF_K + rank) for weight, rank in ranks if rank is not None)


async def test_candidates_come_by_score_and_probability(base: Base) -> None:
    candidates = (await base.retriever().search(QUESTION, explain=True)).candidates
    for numbers in ([c.score for c in candidates], [c.probability for c in candidates]):
        assert numbers == sorted(numbers, reverse=True)


async def test_without_explain_only_the_best_come_back(base: Base) -> None:
    retriever = base.retriever(options=RetrievalOptions(rerank_top_k=2))
    best, every = await retriever.search(QUESTION), await retriever.search(QUESTION, explain=True)
    assert len(every.candidates) == len(TEXTS)
    assert best.candidates == every.candidates[:2]
    assert best.verdict is every.verdict


async def test_each_recall_alone_can_bring_a_chunk_in() -> None:
    """The nearest by embedding shares no word; the one with the rare word is far by embedding."""
    base = await base_of(*chunks("甲乙丙丁", "戊己庚辛 ZX-1", *(f"甲乙丙 {n}" for n in range(5))))
    retriever = base.retriever(options=RetrievalOptions(vector_top_k=1, bm25_top_k=1))
    vector = await base.embedder.embed_question("甲乙丙丁")
    found = (await retriever.search("ZX-1", vectors=QuestionVectors(vector), explain=True)).candidates
    ranks = {item.chunk.id: (item.vector_rank, item.keyword_rank) for item in found}
    assert ranks == {"c0": (1, None), "c1": (None, 1)}
    await base.close()


async def test_recall_is_as_wide_as_the_options_say(base: Base) -> None:
    retriever = base.retriever(options=RetrievalOptions(vector_top_k=3, bm25_top_k=1))
    found = (await retriever.search(QUESTION, explain=True)).candidates
    assert sorted(c.vector_rank for c in found if c.vector_rank) == [1, 2, 3]
    assert [c.keyword_rank for c in found if c.keyword_rank] == [1]


async def test_a_given_embedding_is_used_instead_of_a_new_one(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    vector = await base.embedder.embed_question(QUESTION)
    expected = await base.retriever().search(QUESTION, explain=True)
    monkeypatch.setattr(HashEmbedder, "_encode", Outage._encode)
    result = await base.retriever().search(QUESTION, vectors=QuestionVectors(vector), explain=True)
    assert result.candidates == expected.candidates


async def test_filters_hold_for_everything_that_comes_back() -> None:
    one, two = document("one", "售前", ("vip",)), document("two", "售后")
    base = await base_of(*(chunk(f"{d.id}{n}", f"{TEXTS[0]}{n}", d) for n in range(10) for d in (one, two)))
    for where in (
        Filter(document_ids=frozenset({"one"})),
        Filter(categories=frozenset({"售前"})),
        Filter(tags=frozenset({"vip"})),
    ):
        found = (await base.retriever().search(QUESTION, where=where, explain=True)).candidates
        assert {item.chunk.document.id for item in found} == {"one"}
        assert len(found) == 10
    nothing = await base.retriever().search(QUESTION, where=Filter(tags=frozenset({"none"})))
    assert (nothing.candidates, nothing.verdict, nothing.confidence) == ((), GateVerdict.REFUSE, 0.0)
    await base.close()


async def test_a_filter_never_raises_a_probability(base: Base) -> None:
    """Without its competitors a chunk stands out more; that must not open the gate."""
    for question in (QUESTION, "发票和积分怎么弄", "密码忘了"):
        every = await base.retriever().search(question, explain=True)
        for found in every.candidates:
            where = Filter(document_ids=frozenset({found.chunk.document.id}))
            alone = (await base.retriever().search(question, where=where, explain=True)).candidates[0]
            assert alone.chunk == found.chunk
            assert alone.probability <= found.probability + 1e-3  # float32


async def test_a_rewrite_is_recalled_beside_the_original(base: Base) -> None:
    retriever = base.retriever(options=RetrievalOptions(vector_top_k=1, bm25_top_k=1))
    original, rewrite = "退货运费", "忘记密码怎么找回"
    alone = {c.chunk.id for c in (await retriever.search(original, explain=True)).candidates}
    both = {c.chunk.id for c in (await retriever.search(original, rewrite=rewrite, explain=True)).candidates}
    assert alone == {"c0"}
    assert both == {"c0", "c5"}


async def test_a_rewrite_is_searched_as_it_stands(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    corrected, retriever = list[str](), base.retriever()

    async def correct(text: str, snapshot: Snapshot | None = None) -> Correction:
        corrected.append(text)
        return Correction(text)

    monkeypatch.setattr(retriever.speller, "correct", correct)
    await retriever.search(QUESTION, rewrite="怎么退宽")
    await retriever.search(QUESTION)
    assert corrected == [QUESTION]


async def test_a_question_in_english_finds_what_its_chinese_words_find(base: Base) -> None:
    retriever = base.retriever()
    english = (await retriever.search("How much is the return shipping?", explain=True)).candidates
    chinese = (await retriever.search("多少钱 退货 运费", explain=True)).candidates
    assert english[0].chunk.id == chinese[0].chunk.id == "c0"
    assert english[0].probability == pytest.approx(chinese[0].probability, abs=1e-3)


async def test_a_chunk_counts_with_the_better_of_question_and_rewrite(base: Base) -> None:
    retriever = base.retriever()
    vague, clear = "那这个呢", QUESTION
    scores = {
        q: {c.chunk.id: c.score for c in (await retriever.search(q, explain=True)).candidates} for q in (vague, clear)
    }
    both = await retriever.search(vague, rewrite=clear, explain=True)
    for found in both.candidates:
        assert found.score == pytest.approx(max(scores[vague][found.chunk.id], scores[clear][found.chunk.id]), abs=1e-4)
    assert both.question == vague
    assert both.terms == tuple(dict.fromkeys(ANALYZER.tokenize(clear)))


async def test_variants_of_a_faq_entry_appear_once_with_the_best_one() -> None:
    variants = ("退货运费谁出", "退货的运费谁承担", "寄回来的钱谁付")
    entry = [faq(f"v{n}", question, "质量问题由我们承担。", "entry") for n, question in enumerate(variants)]
    base = await base_of(*entry, *chunks(*TEXTS[1:]))
    found = (await base.retriever().search("退货的运费谁承担", explain=True)).candidates
    assert [c.chunk.id for c in found if c.chunk.entry == "entry"] == ["v1"]
    assert found[0].chunk.id == "v1"
    await base.close()


async def test_fragments_of_one_document_are_all_kept() -> None:
    base = await base_of(*(chunk(f"c{n}", text) for n, text in enumerate(TEXTS)))
    assert len((await base.retriever().search(QUESTION, explain=True)).candidates) == len(TEXTS)
    await base.close()


async def test_without_the_embedder_keywords_answer_and_it_is_marked() -> None:
    base = await base_of(*chunks(*TEXTS), embedder=Outage())
    result = await base.retriever().search(QUESTION, explain=True)
    assert result.degraded == ("embedding",)
    assert result.candidates[0].chunk.id == "c0"
    assert {(c.scorer, c.vector_rank, c.cosine) for c in result.candidates} == {("lexical", None, 0.0)}
    assert "vector" not in result.timings_ms
    await base.close()


async def test_keywords_alone_pass_the_same_gate_by_their_own_calibration() -> None:
    base = await base_of(*chunks(*TEXTS), embedder=Outage())
    retriever = base.retriever()
    lexical = retriever.calibrations["lexical"]
    result = await retriever.search(QUESTION, explain=True)
    assert [c.probability for c in result.candidates] == [
        lexical.compute_probability(c.score) for c in result.candidates
    ]
    assert (await retriever.search("宇宙飞船几点起飞")).verdict is GateVerdict.REFUSE
    uncalibrated = base.retriever(calibrated=False)
    uncalibrated.set_calibration(CalibrationMap("lexical_dense", 0.05, 0.3, 0.6))
    with pytest.raises(NotCalibrated, match="lexical"):
        await uncalibrated.search(QUESTION)
    await base.close()


async def test_after_the_outage_nothing_is_marked() -> None:
    embedder = Outage()
    base = await base_of(*chunks(*TEXTS), embedder=embedder)
    retriever = base.retriever()
    assert (await retriever.search(QUESTION)).degraded
    embedder.out = False
    result = await retriever.search(QUESTION)
    assert (result.degraded, result.candidates[0].scorer) == ((), "lexical_dense")
    await base.close()


async def test_an_outage_finds_no_less_strict_a_gate() -> None:
    base = await base_of(*chunks(*TEXTS), embedder=Outage())
    retriever = base.retriever(options=RetrievalOptions(gate=EvidenceGate(threshold=1.0)))
    assert (await retriever.search(QUESTION)).passing_candidates == ()
    await base.close()


async def test_before_a_calibration_nothing_is_answered(base: Base) -> None:
    retriever = base.retriever(calibrated=False)
    with pytest.raises(NotCalibrated):
        await retriever.search(QUESTION)


async def test_what_a_retriever_shows_cannot_be_changed(base: Base) -> None:
    retriever = base.retriever()
    for name in ("index", "embedder", "analyzer", "options", "scorers", "speller", "calibrations"):
        with pytest.raises(AttributeError):
            setattr(retriever, name, None)
    with pytest.raises(TypeError):
        retriever.calibrations["cosine"] = CalibrationMap("cosine", 0.05, 0.3, 0.6)  # type: ignore[index]
    assert all(name.startswith("_") for name in vars(retriever))


async def test_another_scorers_calibration_does_not_count(base: Base) -> None:
    retriever = base.retriever(get_reranker("cosine"), calibrated=False)
    retriever.set_calibration(CalibrationMap("lexical_dense", 0.05, 0.3, 0.6))
    with pytest.raises(NotCalibrated, match=r"cosine"):
        await retriever.search(QUESTION)


async def test_an_empty_base_has_nothing_to_say_calibrated_or_not() -> None:
    base = await base_of()
    retriever = base.retriever(calibrated=False)
    result = await retriever.search(QUESTION)
    assert (result.candidates, result.verdict, result.confidence) == ((), GateVerdict.REFUSE, 0.0)
    await base.close()


@pytest.mark.parametrize("question", ["", "  ", "？？？", "\0\ud800\u200b"])
async def test_a_question_without_content_passes_no_gate(base: Base, question: str) -> None:
    assert (await base.retriever().search(question)).passing_candidates == ()


async def test_the_gate_of_the_options_decides(base: Base) -> None:
    closed = base.retriever(options=RetrievalOptions(gate=EvidenceGate(threshold=1.0, clarify=1.0)))
    opened = base.retriever(options=RetrievalOptions(gate=EvidenceGate(threshold=0.0)))
    assert (await closed.search(QUESTION)).passing_candidates == ()
    assert {c.verdict for c in (await opened.search("宇宙飞船几点起飞", explain=True)).candidates} == {GateVerdict.PASS}


async def test_a_rewrite_never_raises_a_probability_over_that_of_asking_it_alone(base: Base) -> None:
    """Being recalled twice is no evidence: asked twice, a question must not come nearer to the gate."""
    retriever = base.retriever()
    once = {c.chunk.id: c.probability for c in (await retriever.search(QUESTION, explain=True)).candidates}
    twice = (await retriever.search(QUESTION, rewrite=QUESTION, explain=True)).candidates
    assert {c.chunk.id: c.probability for c in twice} == pytest.approx(once, abs=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"vector_top_k": 0},
        {"bm25_top_k": 0},
        {"rerank_top_k": 0},
        {"rrf_k": 0},
        {"vector_weight": -0.1},
        {"vector_weight": 0.0, "keyword_weight": 0.0},
    ],
)
def test_impossible_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidConfiguration):
        dataclasses.replace(RetrievalOptions(), **wrong)  # type: ignore[arg-type]


async def test_scores_that_are_no_numbers_do_not_pass(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot_class = type(base.index.get_snapshot())
    monkeypatch.setattr(snapshot_class, "score_bm25", lambda self, terms, ids: [float(np.nan)] * len(ids))
    assert (await base.retriever().search(QUESTION)).passing_candidates == ()
