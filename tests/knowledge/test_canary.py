from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from knowledge.canary import CanaryIndex, Replacement, replace_versions
from knowledge.filters import Filter
from knowledge.types import Chunk, GateVerdict
from knowledge.view import AT_ONCE, View
from tests.knowledge.builders import ANALYZER, TEXTS, Base, base_of, chunk, chunks, document

NEW = "退货运费由商城承担，上门取件免费。"
QUESTION = "退货运费由谁承担"


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    base = await base_of(*chunks(*TEXTS), chunk("c0b", "退货地址见包裹上的面单。", document("d0")))
    yield base
    await base.close()


async def draft(base: Base, *added: Chunk) -> Replacement:
    vectors = await base.embedder.embed_passages([each.indexed_text for each in added])
    tokens = tuple(tuple(ANALYZER.tokenize(each.indexed_text)) for each in added)
    return Replacement(added[0].document, added, tokens, vectors)


async def seen(base: Base) -> View:
    return replace_versions(base.index.get_snapshot(), [await draft(base, chunk("n0", NEW, document("d0")))])


async def test_a_version_stands_in_the_place_of_what_its_document_has(base: Base) -> None:
    canary, live = await seen(base), base.index.get_snapshot()
    assert canary.list_ids() == live.list_ids() - {"c0", "c0b"} | {"n0"}
    assert (len(canary), canary.revision, canary.get_chunk("n0").text) == (len(TEXTS), live.revision, NEW)
    with pytest.raises(KeyError):
        canary.get_chunk("c0")
    vector, terms = await base.embedder.embed_question(QUESTION), ANALYZER.tokenize(QUESTION)
    for hits in (await canary.search_dense(vector, 3), await canary.search_lexical(terms, 3)):
        assert hits[0].chunk_id == "n0" and len(hits) == 3 and not {"c0", "c0b"} & {hit.chunk_id for hit in hits}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert live.list_ids() == (await base_of(*chunks(*TEXTS))).index.get_snapshot().list_ids() | {"c0b"}


async def test_its_numbers_are_those_of_the_base_and_nearly_those_once_it_is_published(base: Base) -> None:
    canary, live, ids = await seen(base), base.index.get_snapshot(), ["c1", "n0", "c2"]
    vector, terms = await base.embedder.embed_question(QUESTION), ANALYZER.tokenize(QUESTION)
    tried = [
        canary.compute_cosines(vector, ids),
        np.asarray(canary.score_bm25(terms, ids)),
        canary.compute_centrality(ids),
    ]
    kept = [
        live.compute_cosines(vector, ["c1", "c2"]),
        np.asarray(live.score_bm25(terms, ["c1", "c2"])),
        live.compute_centrality(["c1", "c2"]),
    ]
    for mixed, of_base in zip(tried, kept, strict=True):
        assert mixed[[0, 2]] == pytest.approx(of_base)
    await base.apply([chunk("n0", NEW, document("d0"))], ["c0", "c0b"])
    published = base.index.get_snapshot()
    assert canary.get_vectors(ids) == pytest.approx(published.get_vectors(ids))
    assert tried[0] == pytest.approx(published.compute_cosines(vector, ids))
    assert tried[1][1] == pytest.approx(published.score_bm25(terms, ["n0"])[0], rel=0.3)


async def test_a_long_version_is_scored_as_a_short_one_is(base: Base) -> None:
    document_of = document("d0")
    texts = [NEW, *(f"退货说明第 {n} 条。" for n in range(2 * AT_ONCE))]
    pieces = [chunk(f"n{n}", text, document_of) for n, text in enumerate(texts)]
    long, terms = replace_versions(base.index.get_snapshot(), [await draft(base, *pieces)]), ANALYZER.tokenize(QUESTION)
    short = await seen(base)
    best, own = (await long.search_lexical(terms, 200)), await short.search_lexical(terms, 9)
    assert best[0] == own[0] and len(best) > AT_ONCE


async def test_a_filter_holds_for_versions_too(base: Base) -> None:
    canary, vector = await seen(base), await base.embedder.embed_question(QUESTION)
    for where, wanted in (({"d0"}, ["n0"]), ({"d1"}, ["c1"])):
        hits = await canary.search_dense(vector, 9, Filter(document_ids=frozenset(where)))
        assert [hit.chunk_id for hit in hits] == wanted


async def test_a_trial_is_gated_as_the_base_is_and_leaves_it_alone(base: Base) -> None:
    retriever, question = base.retriever(), "上门取件免费吗"
    assert (await retriever.search(question)).verdict is not GateVerdict.PASS
    trial = retriever.copy_for_index(CanaryIndex(base.index, [await draft(base, chunk("n0", NEW, document("d0")))]))
    found = await trial.search(question)
    assert [candidate.chunk.id for candidate in found.passing_candidates] == ["n0"]
    assert (await retriever.search(question)).verdict is not GateVerdict.PASS
    await base.apply([chunk("c9", "上门取件每单十元。", document("d9"))])
    assert "c9" in {candidate.chunk.id for candidate in (await trial.search(question, explain=True)).candidates}
