"""Chunks and terms as rows of Milvus, and back."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from knowledge.blocks import checked
from knowledge.buckets import bucket_of
from knowledge.errors import IndexUnavailable
from knowledge.filters import FILTER_KINDS, Filter
from knowledge.stores.base import StoredRow
from knowledge.stores.rows import FOREVER, Seen, TermRow
from knowledge.types import Chunk, DocumentMeta, IndexedChunk

MAX_BYTES = 65_535
"""The longest text that a field of Milvus holds."""
READ = ["key", "payload", "terms", "vector"]
SEEN = ["key", "chunk", "content", "since", "until"]
STORED = [*READ, *SEEN[1:], "tenant", "name", "bucket", "document", "category", "tags"]
ID = ["key", "name"]
TERM = ["term", "number", "history"]
_FIELDS = {"document_ids": "document", "categories": "category"}
_IN_TAGS = tuple(kind for kind in FILTER_KINDS if kind not in _FIELDS)
NO_VECTOR = [0.0, 0.0]
"""Milvus has no collection without one."""


def named(text: str) -> str:
    """An id, a category or a tag as filters name it: ASCII of one length, whatever it holds."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def encoded(tenant: str, dimension: int, added: IndexedChunk, since: int) -> dict[str, Any]:
    """The row of a chunk that came with the revision `since`. Raises IndexUnavailable where it is too long."""
    chunk, document = added.chunk, added.chunk.document
    payload = base64.b64encode(zlib.compress(json.dumps(asdict(chunk), ensure_ascii=False).encode())).decode()
    terms = " ".join(f"t{number}" for number in added.terms.tolist())
    if max(len(payload), len(terms)) > MAX_BYTES:
        raise IndexUnavailable(f"chunk {chunk.id} is too long for Milvus")
    held = "\n".join((tenant, chunk.id, payload, terms)).encode() + added.vector.tobytes()
    item = {
        "content": hashlib.sha256(held).hexdigest()[:32],
        "tenant": tenant,
        "chunk": named(chunk.id),
        "name": json.dumps(chunk.id),
        "bucket": bucket_of(chunk.id),
        "document": named(document.id),
        "category": named(document.category),
        "tags": [_label(kind, label) for kind in _IN_TAGS for label in document.labels(kind)],
        "payload": payload,
        "terms": terms,
        # Of a base that could not be embedded; no search by embedding looks at it.
        "vector": added.vector.tolist() or [0.0] * dimension,
    }
    return again(item, since, FOREVER)


def again(item: dict[str, Any], since: int, until: int) -> dict[str, Any]:
    """A row that holds the same, seen by other revisions."""
    return item | {"key": named(f"{item['content']} {since}"), "since": since, "until": until}


def seen(item: dict[str, Any]) -> Seen:
    """Of a row as it is stored."""
    return Seen(*(item[field] for field in SEEN))


def chunk_id(item: dict[str, Any]) -> str:
    """Of the chunk of a row."""
    name: str = json.loads(item["name"])
    return name


def decoded(item: dict[str, Any]) -> StoredRow:
    """What a row holds."""
    terms = np.fromstring(item["terms"].replace("t", ""), np.int32, sep=" ") if item["terms"] else np.zeros(0, np.int32)
    vector = np.array(item["vector"], np.float32)
    return StoredRow(item["key"], decoded_chunk(item), terms, vector if vector.any() else vector[:0])


def decoded_chunk(item: dict[str, Any]) -> Chunk:
    """The chunk of a row."""
    content = json.loads(zlib.decompress(base64.b64decode(item["payload"])))
    source = content.pop("document")
    document = DocumentMeta(**source | {"tags": tuple(source["tags"])})
    layout = content.pop("layout", None)
    return Chunk(
        document=document,
        **content | {"heading_path": tuple(content["heading_path"])},
        layout=None if layout is None else checked(layout, len(content["text"])),
    )


def term_key(tenant: str, term: str) -> str:
    """Of the row of a term."""
    return named(f"{tenant} {term}")


def encoded_term(tenant: str, row: TermRow) -> dict[str, Any]:
    """Its row; `chunks`, `latest`: its last count, and the revision of that."""
    latest, chunks = row.history[-1] if row.history else (-1, 0)
    return {
        "key": term_key(tenant, row.term),
        "tenant": tenant,
        "term": json.dumps(row.term),
        "number": row.number,
        "latest": latest,
        "chunks": chunks,
        "history": json.dumps(row.history),
        "vector": NO_VECTOR,
    }


def decoded_term(item: dict[str, Any]) -> TermRow:
    """See `encoded_term`."""
    history = tuple((since, count) for since, count in json.loads(item["history"]))
    return TermRow(json.loads(item["term"]), item["number"], history)


def conditions(where: Filter) -> Iterator[str]:
    """Expressions that all have to hold."""
    for kind, wanted in where.conditions():
        if field := _FIELDS.get(kind):
            yield f"{field} in {_list(map(named, wanted))}"
        else:
            yield f"array_contains_any(tags, {_list(_label(kind, each) for each in wanted)})"
    if where.excluded:
        yield f"document not in {_list(map(named, where.excluded))}"


def _label(kind: str, label: str) -> str:
    """What stands in the field of tags, which labels of other kinds share: no hash of a tag has a capital."""
    return named(label) if kind == "tags" else f"{kind[0].upper()}{named(label)[1:]}"


def _list(names: Iterable[str]) -> str:
    return json.dumps(sorted(names))
