"""What every index has to keep; a provider's test class inherits it and names its registry entry."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from knowledge.buckets import Buckets, find_bucket
from knowledge.filters import Filter
from knowledge.index import Snapshot, find_differences
from knowledge.stores.base import EXACT_SEARCH_MAX_CHUNKS, DenseRecall, IndexOptions
from knowledge.stores.registry import get_index
from knowledge.types import Chunk, Hit
from tests.knowledge.builders import ANALYZER, TEXTS, Base, chunk, chunks, document

QUESTION = "退货的运费谁承担"


class IndexContract:
    """Inherit, and set `name`; `limit` of exact search, and `recall`, which answers then; `server` of the store."""

    name: str
    server = ""
    limit = EXACT_SEARCH_MAX_CHUNKS
    recall = DenseRecall.EXACT

    def open(self, path: Path, base: Base | None = None, tenant: str = "t") -> Base:
        """A base on an index that is opened below `path`; `base` is the former process, whose terms SQL kept."""
        opened = Base()
        self.recalls: Counter[DenseRecall] = Counter()
        options = IndexOptions(self.limit, self.recalls, server=self.server)
        owner = f"{path} {tenant}" if self.server else tenant  # a server keeps what other tests wrote
        opened.index = get_index(self.name, path, owner, opened.embedder, options)
        if base is not None:
            opened.terms, opened.revision = base.terms, base.revision
        return opened

    async def test_a_new_index_is_empty_and_before_every_revision(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        snapshot = base.index.get_snapshot()
        assert (len(snapshot), snapshot.list_ids()) == (0, frozenset())
        assert snapshot.revision < 0
        await base.close()

    async def test_an_empty_base_finds_nothing_and_still_has_a_revision(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply()
        assert base.index.get_snapshot().revision == 1
        assert await both(base, QUESTION) == ([], [])
        assert base.index.get_snapshot().score_bm25(("退货",), []) == []
        assert len(base.index.get_snapshot().get_vectors([])) == 0
        await base.close()

    async def test_added_chunks_are_found_by_both_recalls_best_first(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        dense, lexical = await both(base, QUESTION)
        assert dense[0].chunk_id == lexical[0].chunk_id == "c0"
        for hits in (dense, lexical):
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len(dense) == len(TEXTS)
        assert all(hit.score > 0 for hit in lexical)
        await base.close()

    async def test_who_answers_a_dense_recall_is_counted(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await both(base, QUESTION)
        assert not self.recalls  # an empty base asks nobody
        await base.apply(chunks(*TEXTS))
        for k in (1, 3, 25):
            await both(base, QUESTION, k=k)
        assert self.recalls == {self.recall: 3}
        await base.close()

    async def test_dense_scores_are_cosines(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        vector, snapshot = await base.embedder.embed_question(QUESTION), base.index.get_snapshot()
        for hit in await snapshot.search_dense(vector, 10):
            expected = float(snapshot.get_vectors([hit.chunk_id])[0] @ vector)
            assert hit.score == pytest.approx(expected, abs=1e-3)
        await base.close()

    async def test_no_more_than_k_hits_come_back(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        whole = await both(base, QUESTION)
        assert await both(base, QUESTION, k=2) == (whole[0][:2], whole[1][:2])
        await base.close()

    async def test_a_snapshot_knows_its_chunks(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        added = chunks(*TEXTS)
        change = await base.apply(added)
        snapshot = base.index.get_snapshot()
        assert (snapshot.revision, len(snapshot)) == (1, len(added))
        assert snapshot.list_ids() == {item.id for item in added}
        assert [snapshot.get_chunk(item.id) for item in added] == list(added)
        with pytest.raises(KeyError):
            snapshot.get_chunk("stranger")
        stored = {item.chunk.id: item.vector for item in change.added}
        np.testing.assert_allclose(snapshot.get_vectors(["c3", "c1"]), [stored["c3"], stored["c1"]], atol=1e-4)
        np.testing.assert_allclose(snapshot.centre, np.mean(list(stored.values()), axis=0), atol=1e-4)
        await base.close()

    async def test_a_snapshot_is_read_in_parts(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        added = chunks(*TEXTS)
        await base.apply(added)
        snapshot, everything = base.index.get_snapshot(), {item.id for item in added}
        assert sorted(snapshot.walk(), key=lambda item: item.id) == list(added)
        assert [item.id for item in snapshot.sample(3)] == ["c0", "c2", "c4"]
        assert snapshot.sample(len(added)) == list(added)
        assert snapshot.find_existing(["c1", "stranger", "c5"]) == {"c1", "c5"}
        assert snapshot.list_ids_of_documents(["d2", "stranger", "d4"]) == {"c2", "c4"}
        assert snapshot.find_existing([]) == snapshot.list_ids_of_documents([]) == snapshot.list_ids(()) == frozenset()
        number = find_bucket("c3")
        near = {name for name in everything if find_bucket(name) == number}
        assert snapshot.list_ids({number}) == {item.id for item in snapshot.walk({number})} == near
        await base.close()

    async def test_what_it_lacks_is_found_at_every_revision(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        snapshots = [base.index.get_snapshot()]
        for added, removed in ((TEXTS, []), (TEXTS[:1], ["c1", "c4"]), ((), [f"c{row}" for row in range(6)])):
            await base.apply(chunks(*added), removed)
            snapshots.append(base.index.get_snapshot())
        wanted = frozenset({"c0", "c1", "new"})
        held = [frozenset(), frozenset(f"c{row}" for row in range(6)), frozenset({"c0", "c2", "c3", "c5"}), frozenset()]
        for snapshot, names in zip(snapshots, held, strict=True):
            assert find_differences(snapshot, wanted) == (wanted - names, names - wanted)
            assert snapshot.buckets.find_differences(Buckets.from_ids(names)) == frozenset()
        await base.close()

    async def test_similarities_of_named_chunks_are_products_of_their_embeddings(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        snapshot, vector, ids = base.index.get_snapshot(), await base.embedder.embed_question(QUESTION), ["c4", "c0"]
        for _ in range(2):  # before a recall, and with what it computed
            np.testing.assert_allclose(
                snapshot.compute_cosines(vector, ids), snapshot.get_vectors(ids) @ vector, atol=1e-4
            )
            await snapshot.search_dense(vector, 10)
        np.testing.assert_allclose(
            snapshot.compute_centrality(ids), snapshot.get_vectors(ids) @ snapshot.centre, atol=1e-4
        )
        await base.close()

    async def test_bm25_of_named_chunks_is_what_recall_says(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        snapshot, terms = base.index.get_snapshot(), ANALYZER.tokenize(QUESTION)
        recalled = {hit.chunk_id: hit.score for hit in await snapshot.search_lexical(terms, 10)}
        ids = ["c4", "c0", "c2"]
        assert snapshot.score_bm25(terms, ids) == pytest.approx(
            [recalled.get(chunk_id, 0.0) for chunk_id in ids], rel=1e-4
        )
        assert snapshot.score_bm25(["从未出现"], ids) == [0.0, 0.0, 0.0]
        await base.close()

    async def test_a_text_that_is_not_in_it_scores_as_if_it_were(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        snapshot, terms = base.index.get_snapshot(), [*ANALYZER.tokenize(QUESTION), "运费"]
        own = [snapshot.score_tokens(terms, ANALYZER.tokenize(text)) for text in TEXTS]
        assert own == pytest.approx(snapshot.score_bm25(terms, [f"c{row}" for row in range(len(TEXTS))]), rel=1e-4)
        assert snapshot.score_tokens(["从未出现"], ["从未出现"]) > snapshot.score_tokens(["运费"], ["运费"]) > 0
        assert snapshot.score_tokens([], ["运费"]) == snapshot.score_tokens(["运费"], []) == 0.0
        await base.close()

    async def test_idf_is_highest_for_what_occurs_nowhere(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        unseen, once, often = base.index.get_snapshot().get_idf(["从未出现", "积分", "承担"])
        assert unseen > once > 0
        assert once >= often > 0
        await base.close()

    async def test_the_most_frequent_terms_have_the_counts_of_all(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        await base.apply(removed=["c5"])
        snapshot = base.index.get_snapshot()
        counts = snapshot.get_frequencies()
        assert snapshot.list_frequent_terms(len(counts)) == counts
        few = snapshot.list_frequent_terms(3)
        assert 0 < len(few) <= 3
        assert few.items() <= counts.items()
        assert min(few.values()) > max(count for term, count in counts.items() if term not in few)
        await base.close()

    async def test_removed_chunks_are_not_found_again(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        await base.apply(removed=["c0"])
        dense, lexical = await both(base, QUESTION)
        assert "c0" not in {hit.chunk_id for hit in (*dense, *lexical)}
        assert base.index.get_snapshot().revision == 2
        assert "c0" not in base.index.get_snapshot().list_ids()
        await base.close()

    async def test_removing_an_unknown_chunk_is_no_error(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        await base.apply(removed=["stranger"])
        assert len(base.index.get_snapshot()) == len(TEXTS)
        await base.close()

    async def test_a_base_can_become_empty_and_fill_again(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        await base.apply(removed=[f"c{row}" for row in range(len(TEXTS))])
        assert await both(base, QUESTION) == ([], [])
        await base.apply([chunk("back", TEXTS[0])])
        assert await found(base, QUESTION) == {"back"}
        await base.close()

    async def test_a_chunk_that_one_change_removes_and_adds_stays(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        await base.apply([chunks(*TEXTS)[0]], removed=["c0", "c1"])
        dense, lexical = await both(base, QUESTION)
        assert dense[0].chunk_id == lexical[0].chunk_id == "c0"
        assert base.index.get_snapshot().list_ids() == {"c0", "c2", "c3", "c4", "c5"}
        await base.close()

    async def test_applying_a_change_twice_ends_in_the_same_state(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS[:3]))
        change = await base.apply(chunks(*TEXTS), removed=["c1"])
        before = state(base.index.get_snapshot()), await both(base, QUESTION)
        await base.index.apply(change)
        assert (state(base.index.get_snapshot()), await both(base, QUESTION)) == before
        await base.close()

    async def test_an_old_snapshot_goes_on_showing_its_revision(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        await base.apply(chunks(*TEXTS))
        old, before = base.index.get_snapshot(), await both(base, QUESTION)
        await base.apply([chunk(f"n{row}", f"退货的运费谁承担 {row}") for row in range(30)], removed=["c0", "c1"])
        assert same(await both(base, QUESTION, old), before)
        assert old.revision == 1
        assert old.list_ids() == {f"c{row}" for row in range(len(TEXTS))}
        assert old.get_chunk("c0").text == TEXTS[0]
        await base.close()

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Filter(), {"a", "b", "c", "d"}),
            (Filter(document_ids=frozenset({"one"})), {"a", "b"}),
            (Filter(document_ids=frozenset({"one", "two"})), {"a", "b", "c"}),
            (Filter(categories=frozenset({"售后"})), {"c", "d"}),
            (Filter(tags=frozenset({"vip"})), {"a", "b", "d"}),
            (Filter(tags=frozenset({"vip", "new"})), {"a", "b", "c", "d"}),
            (Filter(categories=frozenset({"售后"}), tags=frozenset({"vip"})), {"d"}),
            (Filter(document_ids=frozenset({"one"}), categories=frozenset({"售后"})), set()),
            (Filter(document_ids=frozenset({"stranger"})), set()),
            (Filter(folders=frozenset({"手册"})), {"a", "b", "c"}),
            (Filter(folders=frozenset({"手册/北区"})), {"c"}),
            (Filter(folders=frozenset({"手"})), set()),
            (Filter(products=frozenset({"YS-100"})), {"a", "b", "d"}),
            (Filter(products=frozenset({"YS-100", "YS-200"})), {"a", "b", "c", "d"}),
            (Filter(versions=frozenset({"2.3"})), {"c", "d"}),
            (Filter(excluded=frozenset({"one", "stranger"})), {"c", "d"}),
            (Filter(tags=frozenset({"vip"}), excluded=frozenset({"one"})), {"d"}),
            (Filter(folders=frozenset({"手册"}), within=Filter(products=frozenset({"YS-200"}))), {"c"}),
            (Filter(within=Filter(tags=frozenset({"vip"}), within=Filter(categories=frozenset({"售后"})))), {"d"}),
            (Filter(tags=frozenset({"vip"}), within=Filter(tags=frozenset({"new"}))), {"d"}),
            (Filter(tags=frozenset({"folders\0手册"})), set()),
        ],
    )
    async def test_filters_narrow_both_recalls(self, tmp_path: Path, where: Filter, expected: set[str]) -> None:
        base = self.open(tmp_path)
        one = replace(document("one", "售前", ("vip",)), folder="手册", product="YS-100", product_version="2.2")
        two = replace(document("two", "售后", ("new",)), folder="手册/北区", product="YS-200", product_version="2.3")
        three = document("three", "售后", ("vip", "new"))
        sources = {"a": one, "b": one, "c": two, "d": three}
        await base.apply([chunk(name, f"退货运费说明 {name}", source) for name, source in sources.items()])
        dense, lexical = await both(base, "退货运费", where=where)
        assert {hit.chunk_id for hit in dense} == {hit.chunk_id for hit in lexical} == expected
        await base.close()

    async def test_a_filter_looks_beyond_the_k_best_of_all(self, tmp_path: Path) -> None:
        base = self.open(tmp_path)
        near = [chunk(f"near{row}", f"退货运费 {row}") for row in range(40)]
        await base.apply([*near, chunk("far", "退货也可以到门店办理，店员会帮您登记", document("other"))])
        for where in (Filter(document_ids=frozenset({"other"})), Filter(excluded=frozenset({"d1"}))):
            dense, lexical = await both(base, "退货运费", k=5, where=where)
            assert [hit.chunk_id for hit in dense] == [hit.chunk_id for hit in lexical] == ["far"]
        await base.close()

    async def test_it_opens_again_at_any_revision(self, tmp_path: Path) -> None:
        first = self.open(tmp_path)
        await first.apply(chunks(*TEXTS))
        expected = await both(first, QUESTION)
        await first.close()
        again = self.open(tmp_path, first)
        assert again.index.get_snapshot().revision < 0
        await again.apply(chunks(*TEXTS))
        assert same(await both(again, QUESTION), expected)
        await again.close()

    async def test_tenants_whose_ids_sanitise_alike_never_meet(self, tmp_path: Path) -> None:
        tenants = ["a b", "a-b", "a_b", "A-B", "a/b", "租户", "租 户", ""]
        bases = [self.open(tmp_path, tenant=tenant) for tenant in tenants]
        for row, base in enumerate(bases):
            await base.apply([chunk(f"own{row}", f"退货运费由第 {row} 家承担")])
        for row, base in enumerate(bases):
            assert await found(base, "退货运费") == {f"own{row}"}
            await base.close()


async def both(
    base: Base, question: str, snapshot: Snapshot | None = None, *, k: int = 25, where: Filter | None = None
) -> tuple[list[Hit], list[Hit]]:
    """Dense and lexical hits."""
    view = snapshot or base.index.get_snapshot()
    vector, filtered = await base.embedder.embed_question(question), where or Filter()
    return await view.search_dense(vector, k, filtered), await view.search_lexical(
        ANALYZER.tokenize(question), k, filtered
    )


async def found(base: Base, question: str) -> set[str]:
    dense, lexical = await both(base, question)
    return {hit.chunk_id for hit in (*dense, *lexical)}


def state(snapshot: Snapshot) -> tuple[int, dict[str, Chunk]]:
    return snapshot.revision, {chunk_id: snapshot.get_chunk(chunk_id) for chunk_id in snapshot.list_ids()}


def same(left: tuple[list[Hit], list[Hit]], right: tuple[list[Hit], list[Hit]]) -> bool:
    """Equal hits, scores within float32."""
    return all(
        [hit.chunk_id for hit in mine] == [hit.chunk_id for hit in other]
        and np.allclose([hit.score for hit in mine], [hit.score for hit in other], atol=1e-3)
        for mine, other in zip(left, right, strict=True)
    )
