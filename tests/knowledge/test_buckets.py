from __future__ import annotations

import numpy as np

from knowledge.buckets import COUNT, Buckets, find_bucket
from knowledge.index import Snapshot, find_differences
from knowledge.view import View
from tests.knowledge.builders import TEXTS, base_of, chunk, chunks

NAMES = [f"chunk-{number}" for number in range(5000)]


def test_what_is_toggled_twice_leaves_no_trace() -> None:
    buckets = Buckets.from_ids(NAMES)
    assert buckets.toggle(NAMES[:10]).toggle(reversed(NAMES[:10])).find_differences(buckets) == frozenset()
    assert Buckets.from_ids(reversed(NAMES)).find_differences(buckets) == frozenset()


def test_only_the_buckets_of_what_is_other_differ() -> None:
    buckets = Buckets.from_ids(NAMES)
    other = buckets.toggle([NAMES[7], "new"])
    assert buckets.find_differences(other) == {find_bucket(NAMES[7]), find_bucket("new")}
    assert other.take_buckets(buckets, [find_bucket("new")]).find_differences(buckets) == {find_bucket(NAMES[7])} - {
        find_bucket("new")
    }


def test_they_take_the_same_memory_whatever_they_stand_for() -> None:
    assert Buckets.from_ids(NAMES).sums.nbytes == Buckets.from_ids(()).sums.nbytes == 8 * COUNT


def test_chunks_fall_into_all_buckets_alike() -> None:
    counts = np.bincount([find_bucket(f"{number}") for number in range(100 * COUNT)], minlength=COUNT)
    assert counts.min() > 50
    assert counts.max() < 150


async def test_no_more_than_the_buckets_that_differ_is_read() -> None:
    base = await base_of(*(chunk(name, f"第 {name} 条") for name in NAMES))
    read: list[int] = []

    class Counting(View):
        def list_ids(self, within: object = None) -> frozenset[str]:
            found = Snapshot.list_ids(base.index.get_snapshot(), within)  # type: ignore[arg-type]
            read.append(len(found))
            return found

    assert Counting is not None
    snapshot = base.index.get_snapshot()
    lacking, surplus = find_differences(snapshot, frozenset(NAMES[1:]) | {"new"})
    assert (lacking, surplus) == (frozenset({"new"}), frozenset({NAMES[0]}))
    assert len(snapshot.list_ids(snapshot.buckets.find_differences(Buckets.from_ids([*NAMES[1:], "new"])))) < 20
    await base.close()


async def test_a_view_differs_from_its_base_in_what_it_adds_and_hides() -> None:
    base = await base_of(*chunks(*TEXTS))
    snapshot = base.index.get_snapshot()
    added = chunk("page", "这一页")
    view = View(snapshot, [added], [("这",)], snapshot.get_vectors(["c0"]), frozenset({"c1"}))
    names = (snapshot.list_ids() - {"c1"}) | {"page"}
    assert view.buckets.find_differences(Buckets.from_ids(names)) == frozenset()
    assert view.list_ids() == {item.id for item in view.walk()} == {item.id for item in view.sample(100)} == names
    assert view.list_ids({find_bucket("page"), find_bucket("c1")}) >= {"page"}
    assert [item.id for item in view.walk({find_bucket("page")})][-1] == "page"
    assert view.find_existing(["page", "c1", "c0"]) == {"page", "c0"}
    assert view.list_ids_of_documents([added.document.id, "d1", "d2"]) == {"page", "c2"}
    await base.close()
