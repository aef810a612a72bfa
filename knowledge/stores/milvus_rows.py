"""Converts chunks and terms to rows of Milvus and back."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from knowledge.blocks import validate_layout
from knowledge.buckets import find_bucket
from knowledge.errors import IndexUnavailable
from knowledge.filters import FILTER_KINDS, Filter
from knowledge.stores.base import StoredRow
from knowledge.stores.rows import FOREVER, RowLifetime, TermRow
from knowledge.types import Chunk, DocumentMeta, IndexedChunk

# The longest text that a field of Milvus holds.
MAX_BYTES = 65_535
READ = ["key", "payload", "terms", "vector"]
SEEN = ["key", "chunk", "content", "since", "until"]
STORED = [*READ, *SEEN[1:], "tenant", "name", "bucket", "document", "category", "tags"]
ID = ["key", "name"]
TERM = ["term", "number", "history"]
_FIELDS = {"document_ids": "document", "categories": "category"}
_IN_TAGS = tuple(kind for kind in FILTER_KINDS if kind not in _FIELDS)
# Milvus has no collection without one.
NO_VECTOR = [0.0, 0.0]


def hash_name(text: str) -> str:
    """Returns the form in which filters name an id, a category or a tag: ASCII of fixed length."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def encode_chunk(tenant: str, dimension: int, added: IndexedChunk, since: int) -> dict[str, Any]:
    """Builds the row of a chunk that came with the revision `since`.

    Raises:
        IndexUnavailable: If it is too long.
    """
    chunk, document = added.chunk, added.chunk.document
    payload = base64.b64encode(zlib.compress(json.dumps(asdict(chunk), ensure_ascii=False).encode())).decode()
    terms = " ".join(f"t{number}" for number in added.terms.tolist())
    if max(len(payload), len(terms)) > MAX_BYTES:
        raise IndexUnavailable(f"chunk {chunk.id} is too long for Milvus")
    content = "\n".join((tenant, chunk.id, payload, terms)).encode() + added.vector.tobytes()
    item = {
        "content": hashlib.sha256(content).hexdigest()[:32],
        "tenant": tenant,
        "chunk": hash_name(chunk.id),
        "name": json.dumps(chunk.id),
        "bucket": find_bucket(chunk.id),
        "document": hash_name(document.id),
        "category": hash_name(document.category),
        "tags": [_encode_label(kind, label) for kind in _IN_TAGS for label in document.list_labels(kind)],
        "payload": payload,
        "terms": terms,
        # Of a base that could not be embedded; no search by embedding looks at it.
        "vector": added.vector.tolist() or [0.0] * dimension,
    }
    return copy_row(item, since, FOREVER)


def copy_row(item: dict[str, Any], since: int, until: int) -> dict[str, Any]:
    """Copies a row so that other revisions see it."""
    return item | {"key": hash_name(f"{item['content']} {since}"), "since": since, "until": until}


def read_lifetime(item: dict[str, Any]) -> RowLifetime:
    """Reads which revisions see a stored row."""
    return RowLifetime(*(item[field] for field in SEEN))


def read_chunk_id(item: dict[str, Any]) -> str:
    """Reads the chunk id of a stored row."""
    name: str = json.loads(item["name"])
    return name


def decode_row(item: dict[str, Any]) -> StoredRow:
    """Reads the content of a stored row."""
    terms = np.fromstring(item["terms"].replace("t", ""), np.int32, sep=" ") if item["terms"] else np.zeros(0, np.int32)
    vector = np.array(item["vector"], np.float32)
    return StoredRow(item["key"], decode_chunk(item), terms, vector if vector.any() else vector[:0])


def decode_chunk(item: dict[str, Any]) -> Chunk:
    """Reads the chunk of a stored row."""
    content = json.loads(zlib.decompress(base64.b64decode(item["payload"])))
    source = content.pop("document")
    document = DocumentMeta(**source | {"tags": tuple(source["tags"])})
    layout = content.pop("layout", None)
    return Chunk(
        document=document,
        **content | {"heading_path": tuple(content["heading_path"])},
        layout=None if layout is None else validate_layout(layout, len(content["text"])),
    )


def build_term_key(tenant: str, term: str) -> str:
    """Returns the key of a term's row."""
    return hash_name(f"{tenant} {term}")


def encode_term(tenant: str, row: TermRow) -> dict[str, Any]:
    """Builds the row of a term; `chunks` and `latest` are its last count and the revision of that."""
    latest, chunks = row.history[-1] if row.history else (-1, 0)
    return {
        "key": build_term_key(tenant, row.term),
        "tenant": tenant,
        "term": json.dumps(row.term),
        "number": row.number,
        "latest": latest,
        "chunks": chunks,
        "history": json.dumps(row.history),
        "vector": NO_VECTOR,
    }


def decode_term(item: dict[str, Any]) -> TermRow:
    """Reads a term from its row."""
    history = tuple((since, count) for since, count in json.loads(item["history"]))
    return TermRow(json.loads(item["term"]), item["number"], history)


def list_conditions(where: Filter) -> Iterator[str]:
    """Yields filter expressions, all of which have to hold."""
    for kind, wanted in where.list_conditions():
        if field := _FIELDS.get(kind):
            yield f"{field} in {_encode_list(map(hash_name, wanted))}"
        else:
            yield f"array_contains_any(tags, {_encode_list(_encode_label(kind, each) for each in wanted)})"
    if where.excluded:
        yield f"document not in {_encode_list(map(hash_name, where.excluded))}"


def _encode_label(kind: str, label: str) -> str:
    """Returns the value in the field of tags, which other kinds of labels share: no hash of a tag contains a
    capital.
    """
    return hash_name(label) if kind == "tags" else f"{kind[0].upper()}{hash_name(label)[1:]}"


def _encode_list(names: Iterable[str]) -> str:
    return json.dumps(sorted(names))
