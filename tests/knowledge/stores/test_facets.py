from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from knowledge.filters import FILTER_KINDS, Filter
from knowledge.stores.facets import Facets
from knowledge.types import DocumentMeta

NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
documents = st.builds(
    DocumentMeta,
    id=names,
    name=names,
    title=st.just(""),
    category=st.sampled_from(("", *NAMES)),
    tags=st.lists(names, max_size=2).map(tuple),
    folder=st.lists(names, max_size=3).map("/".join),
    product=st.sampled_from(("", *NAMES)),
    product_version=st.sampled_from(("", *NAMES)),
)
wanted = st.frozensets(st.sampled_from((*NAMES, "stranger")), max_size=2)
kinds = dict.fromkeys((*FILTER_KINDS, "excluded"), wanted)
filters = st.builds(Filter, **kinds, within=st.none() | st.builds(Filter, **kinds))


@given(
    sources=st.lists(documents, min_size=1, max_size=6), places=st.lists(st.integers(0, 5), max_size=12), where=filters
)
def test_rows_are_those_of_the_documents_that_match(
    sources: list[DocumentMeta], places: list[int], where: Filter
) -> None:
    document_of = np.array([place % len(sources) for place in places], np.int32)
    expected = [row for row, place in enumerate(document_of) if where.matches(sources[place])]
    facets = Facets(sources, document_of)
    assert facets.find_rows(where).tolist() == facets.find_rows(where).tolist() == expected
