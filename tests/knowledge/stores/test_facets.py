from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from knowledge.stores.facets import Facets
from knowledge.types import DocumentMeta, Filter

NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
documents = st.builds(
    DocumentMeta,
    id=names,
    name=names,
    title=st.just(""),
    category=st.sampled_from(("", *NAMES)),
    tags=st.lists(names, max_size=2).map(tuple),
)
wanted = st.frozensets(st.sampled_from((*NAMES, "stranger")), max_size=2)
filters = st.builds(Filter, document_ids=wanted, categories=wanted, tags=wanted)


@given(
    sources=st.lists(documents, min_size=1, max_size=6), places=st.lists(st.integers(0, 5), max_size=12), where=filters
)
def test_rows_are_those_of_the_documents_that_match(
    sources: list[DocumentMeta], places: list[int], where: Filter
) -> None:
    document_of = np.array([place % len(sources) for place in places], np.int32)
    expected = [row for row, place in enumerate(document_of) if where.matches(sources[place])]
    facets = Facets(sources, document_of)
    assert facets.rows(where).tolist() == facets.rows(where).tolist() == expected
