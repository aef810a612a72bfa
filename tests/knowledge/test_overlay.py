from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from knowledge import overlay
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.filters import Filter
from knowledge.overlay import MAX_PASSAGE_CHARS, Overlay, PageReader, build_passage
from knowledge.rerankers.registry import get_reranker
from knowledge.types import PAGE_ID, Context, GateVerdict, Matrix, PageText
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunk, chunks, document

QUESTION = "空气炸锅的容量多大"
PAGE = PageText(
    "YS-K2 空气炸锅", ("首页", "空气炸锅的容量是 5.5 升。", "炸篮可以用洗碗机清洗。", "四十八小时内从宁波仓发货。")
)


class CountingEmbedder(HashEmbedder):
    """Remembers the passages that it embedded; fails on those when told to."""

    fails = False

    def __init__(self) -> None:
        super().__init__()
        self.passages_encoded: list[str] = []

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if kind == "passage":
            if self.fails:
                raise EmbeddingUnavailable("down")
            self.passages_encoded += texts
        return super()._encode(texts, kind)


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    base = await base_of(*chunks(*TEXTS), embedder=CountingEmbedder())
    yield base
    await base.close()


def embedder_of(base: Base) -> CountingEmbedder:
    assert isinstance(base.embedder, CountingEmbedder)
    base.embedder.passages_encoded.clear()
    return base.embedder


# --- The passage ---------------------------------------------------------------------------


def test_of_a_page_the_lines_near_the_question_stay_in_order() -> None:
    filler = [f"第{chr(0x4E00 + n)}条说明的文字，写得很长很长。" for n in range(200)]
    filler[150], filler[20] = "保修期为 24 个月。", "保修期自签收起算。"
    assert build_passage(PageText("", tuple(filler)), ["保修期多久"]).text == f"{filler[20]}\n{filler[150]}"


def test_a_passage_is_short_whatever_the_page_is_like() -> None:
    for lines in (("保修" * 500,), tuple(f"保修{n}年。" * 5 for n in range(100))):
        assert 0 < len(build_passage(PageText("", lines), ["保修"]).text) <= MAX_PASSAGE_CHARS


def test_a_rare_character_finds_the_line_that_says_it_in_another_word() -> None:
    page = PageText("循环扇", ("循环扇左右摇头。", "循环扇可以水洗。", "下单即赠送防尘罩。"))
    assert build_passage(page, ["买循环扇送什么"]).text == "下单即赠送防尘罩。"


def test_any_wording_of_the_question_finds_its_line() -> None:
    assert "洗碗机" in build_passage(PAGE, ["Is it dishwasher safe", "洗碗机能洗吗"]).text


def test_a_question_that_shares_nothing_is_read_beside_the_top_of_the_page() -> None:
    assert build_passage(PAGE, ["xyz"]).text.startswith("首页\n")


def test_the_passage_is_of_no_document() -> None:
    found = build_passage(PageText("标" * 500, ("正文。",)), [QUESTION])
    assert (found.id, found.entry, found.document.id, found.is_in_view) == (PAGE_ID, PAGE_ID, "", True)
    assert len(found.document.title) <= 100


def test_pages_that_differ_have_digests_that_differ() -> None:
    digests = {
        page.content_digest for page in (PAGE, PageText("另一页", PAGE.lines), PageText(PAGE.title, PAGE.lines[:2]))
    }
    assert len(digests) == 3
    assert PAGE.content_digest == PageText(PAGE.title, PAGE.lines).content_digest


# --- The view ------------------------------------------------------------------------------


async def overlaid(base: Base, page: PageText = PAGE, question: str = QUESTION) -> Overlay:
    reader = PageReader(base.embedder, ANALYZER)
    found = await reader.lay_page_over(base.index.get_snapshot(), page, [question], embed=True)
    assert isinstance(found, Overlay)
    return found


async def test_a_page_is_seen_as_if_it_stood_in_the_base(base: Base) -> None:
    """All numbers but those that lean on the title, which is not embedded."""
    page = PageText("", ("退货运费由商城承担。",))
    question = "退货运费谁出"
    terms, vector = ANALYZER.tokenize(question), await base.embedder.embed_question(question)
    seen = await overlaid(base, page, question)
    ids = ["c1", PAGE_ID, "c0"]
    assert seen.list_ids() == base.index.get_snapshot().list_ids() | {PAGE_ID}
    assert (len(seen), seen.revision) == (len(TEXTS) + 1, base.index.get_snapshot().revision)
    own = (await base.embedder.embed_passages(["退货运费由商城承担。"]))[0]
    assert seen.get_vectors(ids)[1] == pytest.approx(own)
    assert seen.compute_cosines(vector, ids)[1] == pytest.approx(float(own @ vector))
    assert seen.compute_centrality(ids)[1] == pytest.approx(float(own @ seen.centre))
    for numbers, of_base in (
        (seen.compute_cosines(vector, ids), base.index.get_snapshot().compute_cosines(vector, ["c1", "c0"])),
        (seen.score_bm25(terms, ids), base.index.get_snapshot().score_bm25(terms, ["c1", "c0"])),
    ):
        assert np.asarray(numbers)[[0, 2]] == pytest.approx(np.asarray(of_base))


async def test_both_recalls_have_it_in_its_place(base: Base) -> None:
    seen = await overlaid(base)
    vector, terms = await base.embedder.embed_question(QUESTION), ANALYZER.tokenize(QUESTION)
    for hits in (await seen.search_dense(vector, 3), await seen.search_lexical(terms, 3)):
        assert hits[0].chunk_id == PAGE_ID
        assert len(hits) <= 3
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert PAGE_ID not in {hit.chunk_id for hit in await seen.search_lexical(ANALYZER.tokenize("会员积分"), 9)}


async def test_a_filter_narrows_the_documents_and_leaves_the_page(base: Base) -> None:
    seen = await overlaid(base)
    hits = await seen.search_dense(
        await base.embedder.embed_question(QUESTION), 9, Filter(document_ids=frozenset({"d1"}))
    )
    assert {hit.chunk_id for hit in hits} == {"c1", PAGE_ID}


async def test_the_title_neither_answers_nor_need_be_covered(base: Base) -> None:
    seen = await overlaid(base)
    wanting, alone, named = (ANALYZER.tokenize(text) for text in ("空气炸锅工资", "容量多大", "空气炸锅 容量多大"))
    assert seen.score_bm25(wanting, [PAGE_ID]) == [0]
    shares = [seen.score_bm25(terms, [PAGE_ID])[0] / sum(seen.get_idf(terms)) for terms in (alone, named)]
    assert shares[0] == pytest.approx(shares[1])
    assert seen.score_bm25(["ys-k2"], [PAGE_ID])[0] > 0


@pytest.mark.parametrize("name", ["lexical", "cosine", "lexical_dense"])
async def test_every_reranker_scores_a_page_as_it_would_score_a_chunk(name: str) -> None:
    page, twin = PageText("", ("空气炸锅的容量是 5.5 升。",)), "空气炸锅的容量是 5.5 升。"
    base = await base_of(*chunks(*TEXTS), chunk("twin", twin, document("d9")))
    found = await base.retriever(get_reranker(name)).search(QUESTION, page=page, explain=True)
    scores = {candidate.chunk.id: candidate.score for candidate in found.candidates}
    assert scores[PAGE_ID] == pytest.approx(scores["twin"], abs=0.01)
    await base.close()


# --- The search ----------------------------------------------------------------------------


async def test_a_page_alone_passes_the_gate_and_nothing_passes_for_a_question_that_it_leaves_open(base: Base) -> None:
    retriever = base.retriever()
    assert (await retriever.search(QUESTION)).passing_candidates == ()
    found = await retriever.search(QUESTION, page=PAGE)
    assert [candidate.chunk.id for candidate in found.passing_candidates] == [PAGE_ID]
    assert found.verdict is GateVerdict.PASS
    assert found.confidence == found.passing_candidates[0].probability
    assert (await retriever.search("宇宙飞船几点起飞", page=PAGE)).passing_candidates == ()


async def test_a_page_does_not_lift_what_the_base_holds(base: Base) -> None:
    retriever = base.retriever()
    question = "退货运费谁承担"
    plain = {c.chunk.id: c.probability for c in (await retriever.search(question, explain=True)).candidates}
    found = (await retriever.search(question, page=PAGE, explain=True)).candidates
    assert all(c.probability <= plain[c.chunk.id] + 1e-6 for c in found if not c.chunk.is_in_view)


async def test_a_page_is_embedded_once_for_the_same_passage(base: Base) -> None:
    retriever, embedder = base.retriever(), embedder_of(base)
    for question in (QUESTION, QUESTION, "容量多大"):
        await retriever.search(question, page=PAGE)
    assert embedder.passages_encoded == ["空气炸锅的容量是 5.5 升。"]
    await retriever.search(QUESTION, page=PageText(PAGE.title, ("空气炸锅的容量是 6 升。",)))
    assert len(embedder.passages_encoded) == 2


async def test_without_the_embedder_a_page_is_found_by_its_words(base: Base) -> None:
    retriever, embedder = base.retriever(get_reranker("lexical")), embedder_of(base)
    embedder.fails = True

    async def down(text: str) -> None:
        raise EmbeddingUnavailable(text)

    embedder.embed_question = down  # type: ignore[assignment]
    found = await retriever.search(QUESTION, page=PAGE)
    assert found.passing_candidates[0].chunk.is_in_view
    assert found.degraded == ("embedding",)


async def test_a_page_that_cannot_be_embedded_is_left_out_and_that_is_said(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever, embedder = base.retriever(), embedder_of(base)
    embedder.fails = True
    found = await retriever.search("退货运费谁承担", page=PAGE)
    assert found.passing_candidates and not any(candidate.chunk.is_in_view for candidate in found.candidates)
    assert found.degraded == ("page",)
    embedder.fails = False
    monkeypatch.setattr(overlay, "PATIENCE_SECONDS", 0.0)
    assert (await retriever.search("退货运费谁承担", page=PAGE)).degraded == ("page",)


async def test_a_base_that_holds_nothing_has_no_gate_for_a_page() -> None:
    base = await base_of()
    retriever = base.retriever(calibrated=False)
    assert (await retriever.search(QUESTION, page=PAGE)).candidates == ()
    await base.close()


async def test_in_a_conversation_a_page_is_one_of_the_candidates(base: Base) -> None:
    context = Context(("退货运费谁承担",), "", frozenset({"d0"}), frozenset({("d0", "")}))
    found = await base.retriever().search(QUESTION, page=PAGE, context=context)
    assert any(candidate.chunk.is_in_view for candidate in found.passing_candidates)
