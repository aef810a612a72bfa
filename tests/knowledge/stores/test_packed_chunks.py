from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.stores.packed_chunks import PackedChunks
from knowledge.types import Chunk
from tests.knowledge.builders import document

SOURCES = (document("a", "售后", ("vip",)), document("b"), document("a", "售后", ("vip",)))
chunks = st.builds(
    Chunk,
    id=st.text(max_size=8),
    document=st.sampled_from(SOURCES),
    ordinal=st.integers(0, 10**9),
    text=st.text(st.characters(), max_size=20),
    heading_path=st.lists(st.text(max_size=4), max_size=3).map(tuple),
    page=st.none() | st.integers(1, 10**6),
    question=st.none() | st.text(max_size=8),
    entry=st.text(max_size=8),
)


@settings(max_examples=60, deadline=None)
@given(old=st.lists(chunks, max_size=6), added=st.lists(chunks, max_size=6), data=st.data())
def test_chunks_come_out_as_they_went_in(old: list[Chunk], added: list[Chunk], data: st.DataObject) -> None:
    every = [*old, *added]
    source = data.draw(st.permutations(range(len(every))))[: data.draw(st.integers(0, len(every)))]
    packed = PackedChunks.from_chunks(old).build_next(added, np.array(source, np.int64))
    assert [packed[row] for row in range(len(packed))] == [every[row] for row in source]
    assert packed.ids == tuple(every[row].id for row in source)
    assert set(packed.documents) == {every[row].document for row in source}
    assert [packed.documents[place] for place in packed.document_of] == [every[row].document for row in source]
