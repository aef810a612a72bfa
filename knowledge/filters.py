"""Filters that narrow a search. Like `types`, this module imports nothing else of the package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.types import DocumentMeta

# By what a filter narrows.
FILTER_KINDS = ("document_ids", "categories", "tags", "folders", "products", "versions")
# A document that names no product is about all of them, one that names no version about each.
_GENERAL = frozenset({"products", "versions"})


@dataclass(frozen=True, slots=True)
class Filter:
    """Narrows recall. An empty field does not restrict; the fields are joined by AND.

    folders: with all folders below them; products, versions: a document that names none belongs to each; excluded: ids
    of documents to leave out; within: another filter that has to match as well.
    """

    document_ids: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    products: frozenset[str] = frozenset()
    versions: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    within: Filter | None = None

    def __bool__(self) -> bool:
        return bool(self.excluded) or any(True for _ in self.list_conditions())

    @property
    def stated_fields(self) -> dict[str, list[str]]:
        """The fields that restrict, as plain lists for JSON; `build_filter` reads them back."""
        return {kind: sorted(values) for kind in FILTER_KINDS if (values := getattr(self, kind))}

    @property
    def key(self) -> str:
        """A short text that tells filters apart in cache keys shared by several processes; empty if nothing is
        restricted.
        """
        if not self:
            return ""
        parts = self.stated_fields, sorted(self.excluded), self.within.key if self.within else ""
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def list_conditions(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yields the kinds of label and for each the labels of which a document needs one."""
        for kind in FILTER_KINDS:
            if wanted := getattr(self, kind):
                yield kind, wanted | {""} if kind in _GENERAL else wanted
        if self.within is not None:
            yield from self.within.list_conditions()

    def matches(self, document: DocumentMeta) -> bool:
        """Returns whether the filter lets a document through."""
        every = all(not wanted.isdisjoint(document.list_labels(kind)) for kind, wanted in self.list_conditions())
        return every and document.id not in self.excluded


EVERYTHING = Filter()


def build_filter(named: Mapping[str, Sequence[str]]) -> Filter:
    """Builds the filter from what `Filter.stated_fields` returned."""
    fields: dict[str, Any] = {kind: frozenset(values) for kind, values in named.items()}
    return Filter(**fields)
