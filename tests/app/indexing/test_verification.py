from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.indexing.verification import IndexVerification
from knowledge.stores.memory import MemoryIndex
from knowledge.types import IndexChange, IndexedChunk
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base
from tests.embedders import always

FILES = [
    (f"{name}.md", f"# {name}说明\n\n关于{name}的规定，第{number}条，请拨打{number * 111}。".encode())
    for number, name in enumerate(("退货", "运费", "发票", "保修", "会员"), start=1)
]
SOUND = {"missing": 0, "surplus": 0, "changed": 0, "terms": 0, "vectors": 0, "frequencies": 0}


@dataclass
class Context:
    tenant: str = "t"
    run_id: str = "r"
    parameters: dict[str, Any] = field(default_factory=lambda: {"repair": True})
    told: tuple[int, int] = (0, 0)

    async def report_progress(self, done: int, total: int) -> None:
        self.told = done, total


def verification(base: KnowledgeBase) -> IndexVerification:
    return IndexVerification(base.indexer, base.feed, base.knowledge, always(base.embedder))


async def damage(base: KnowledgeBase, index: MemoryIndex) -> dict[str, str]:
    """Whatever can be wrong of an index, each in a chunk of its own, without a revision that tells."""
    snapshot = index.get_snapshot()
    delta = await base.feed.load_all("t")
    rows = [IndexedChunk(chunk, snapshot.get_vectors([chunk.id])[0], terms) for chunk, terms in delta.added]
    missing, changed, terms, vectors, _ = rows
    nan = np.full_like(vectors.vector, np.nan)
    key = base.embedder.build_key(vectors.chunk.indexed_text, "passage")
    base.embedder.cache.drop_many([key])
    base.embedder.cache.put_many({key: nan})
    wrong = (
        replace(missing, chunk=replace(missing.chunk, id="stray")),
        replace(changed, chunk=replace(changed.chunk, text="别的文字")),
        replace(terms, terms=vectors.terms),
        replace(vectors, vector=nan),
    )
    await index.apply(IndexChange(snapshot.revision, wrong, frozenset({missing.chunk.id})))
    names = ("missing", "changed", "terms", "vectors")
    return dict(zip(names, (row.chunk.id for row in rows), strict=False)) | {"surplus": "stray"}


async def test_a_sound_index_is_left_alone(tmp_path: Path) -> None:
    async with knowledge_base(tmp_path) as base:
        await base.ingestion.add("t", FILES)
        context = Context()
        result = await verification(base).run(context)
        assert (result["differences"], result["repaired"], result["chunks"]) == (SOUND, False, 5)
        assert context.told == (5, 5)
        assert (await base.feed.load_heads())["t"].revision == result["revision"]


async def test_what_is_wrong_is_told_and_taken_anew_at_a_new_revision(tmp_path: Path) -> None:
    index = MemoryIndex()
    async with knowledge_base(tmp_path, open_index=lambda _: index) as base:
        await base.ingestion.add("t", FILES)
        right, revision = index.get_snapshot(), index.get_snapshot().revision
        damaged = await damage(base, index)
        looked = await verification(base).run(Context(parameters={"repair": False}))
        assert looked["examples"] == {name: [chunk_id] for name, chunk_id in damaged.items()}
        assert (looked["repaired"], index.get_snapshot().revision) == (False, revision)
        assert (await verification(base).run(Context()))["repaired"]
        again = await verification(base).run(Context())
        assert (again["differences"], again["revision"]) == (SOUND, revision + 1)
        ids = sorted(right.list_ids())
        np.testing.assert_array_equal(index.get_snapshot().get_vectors(ids), right.get_vectors(ids))
        assert index.get_snapshot().get_frequencies() == right.get_frequencies()


async def test_vectors_of_another_width_are_made_anew(tmp_path: Path) -> None:
    index = MemoryIndex()
    async with knowledge_base(tmp_path, open_index=lambda _: index) as base:
        await base.ingestion.add("t", FILES)
        delta = await base.feed.load_all("t")
        narrow = tuple(IndexedChunk(chunk, np.ones(3, np.float32), terms) for chunk, terms in delta.added)
        await index.apply(IndexChange(delta.revision, narrow))
        assert (await verification(base).run(Context()))["differences"] == SOUND | {"vectors": 5}
        assert (await verification(base).run(Context()))["differences"] == SOUND
