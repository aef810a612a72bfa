from __future__ import annotations

import numpy as np

from knowledge.buckets import COUNT, Buckets, bucket_of
from knowledge.index import Snapshot, difference
from knowledge.view import View
from tests.knowledge.builders import TEXTS, base_of, chunk, chunks

NAMES = [f"chunk-{number}" for number in range(5000)]


def test_what_is_toggled_twice_leaves_no_trace() -> None:
    buckets = Buckets.of(NAMES)
    assert buckets.toggled(NAMES[:10]).toggled(reversed(NAMES[:10])).differing(buckets) == frozenset()
    assert Buckets.of(reversed(NAMES)).differing(buckets) == frozenset()


def test_only_the_buckets_of_what_is_other_differ() -> None:
    buckets = Buckets.of(NAMES)
    other = buckets.toggled([NAMES[7], "new"])
    assert buckets.differing(other) == {bucket_of(NAMES[7]), bucket_of("new")}
    assert other.taking(buckets, [bucket_of("new")]).differing(buckets) == {bucket_of(NAMES[7])} - {bucket_of("new")}


def test_they_take_the_same_memory_whatever_they_stand_for() -> None:
    assert Buckets.of(NAMES).sums.nbytes == Buckets.of(()).sums.nbytes == 8 * COUNT


def test_chunks_fall_into_all_buckets_alike() -> None:
    counts = np.bincount([bucket_of(f"{number}") for number in range(100 * COUNT)], minlength=COUNT)
    assert counts.min() > 50
    assert counts.max() < 150


async def test_no_more_than_the_buckets_that_differ_is_read() -> None:
    base = await base_of(*(chunk(name, f"第 {name} 条") for name in NAMES))
    read: list[int] = []

    class Counting(View):
        def ids(self, within: object = None) -> frozenset[str]:
            found = Snapshot.ids(base.index.snapshot(), within)  # type: ignore[arg-type]
            read.append(len(found))
            return found

    assert Counting is not None
    snapshot = base.index.snapshot()
    lacking, surplus = difference(snapshot, frozenset(NAMES[1:]) | {"new"})
    assert (lacking, surplus) == (frozenset({"new"}), frozenset({NAMES[0]}))
    assert len(snapshot.ids(snapshot.buckets.differing(Buckets.of([*NAMES[1:], "new"])))) < 20
    await base.close()


async def test_a_view_differs_from_its_base_in_what_it_adds_and_hides() -> None:
    base = await base_of(*chunks(*TEXTS))
    snapshot = base.index.snapshot()
    added = chunk("page", "这一页")
    view = View(snapshot, [added], [("这",)], snapshot.vectors(["c0"]), frozenset({"c1"}))
    names = (snapshot.ids() - {"c1"}) | {"page"}
    assert view.buckets.differing(Buckets.of(names)) == frozenset()
    assert view.ids() == {item.id for item in view.walk()} == {item.id for item in view.sample(100)} == names
    assert view.ids({bucket_of("page"), bucket_of("c1")}) >= {"page"}
    assert [item.id for item in view.walk({bucket_of("page")})][-1] == "page"
    assert view.holding(["page", "c1", "c0"]) == {"page", "c0"}
    assert view.of_documents([added.document.id, "d1", "d2"]) == {"page", "c2"}
    await base.close()
