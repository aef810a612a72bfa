"""Milvus: rows of all tenants in two collections, in a file (Milvus Lite), on a server or in a cluster.

One holds chunks. A row is a chunk as one change wrote it, with the revisions between which it is seen: `since` <=
revision < `until`. Its key is a hash of what it holds and of the revision that it came with, so that several processes,
each following SQL at its own pace, write the same rows. The other one holds terms, with their document frequencies.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import numpy as np

from knowledge.errors import IndexMismatch, IndexUnavailable, InvalidConfiguration
from knowledge.stores.base import StoredRow
from knowledge.stores.rows import FOREVER, Seen, TermRow
from knowledge.types import Chunk, DocumentMeta, Filter, IndexedChunk, Vector

try:
    from pymilvus import DataType, Function, FunctionType, MilvusClient
except ImportError as error:
    raise InvalidConfiguration("VECTOR_STORE=milvus 需要 pymilvus：请运行 pip install -r requirements.txt") from error

_BATCH, _TERM_BATCH, _PAGE = 200, 1000, 1000
_LOOSE = 200
"""Rows that Milvus Lite may have outside of a segment: it makes the index of their words anew for every search, which
takes 600 ms at 1,000 rows, where those in a segment take 70. A server decides for itself.
"""
_BYTES = 65_535
"""The longest text that a field of Milvus holds."""
_TAGS = 256
_SECONDS = 60.0
_PREFIX = "yingda_"
_READ = ["key", "payload", "terms", "vector"]
_SEEN = ["key", "chunk", "content", "since", "until"]
_STORED = [*_READ, *_SEEN[1:], "tenant", "name", "document", "category", "tags"]
_TERM = ["term", "number", "history"]
_NO_VECTOR = [0.0, 0.0]
"""Milvus has no collection without one."""


def named(text: str) -> str:
    """An id, a category or a tag as filters name it: ASCII of one length, whatever it holds."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def collection_name(embedder: str, dimension: int) -> str:
    """One for each space of embeddings."""
    return _PREFIX + named(f"{embedder} {dimension}")


def owner(tenant: str, generation: int) -> str:
    """The partition key of a tenant's rows."""
    return f"{named(tenant)}-{generation}"


def address(path: Path, server: str) -> str:
    """Where Milvus is: the server's, or a file below `path`."""
    if not server:
        path.mkdir(parents=True, exist_ok=True)
    return server or str(path / "milvus.db")


class MilvusTable:
    """One tenant's rows. All methods block. They raise IndexUnavailable."""

    def __init__(self, place: str, tenant: str, embedder: str, dimension: int, generation: int) -> None:
        self._owner, self._name = owner(tenant, generation), collection_name(embedder, dimension)
        self._terms = f"{self._name}_terms"
        self._dimension = dimension
        self._lite, self._loose = _is_file(place), 0
        self._mine = f'tenant == "{self._owner}"'
        with unavailable("open"):
            self._client = _client(place)
            if not self._client.has_collection(self._name):
                _create(self._client, self._name, dimension)
            if not self._client.has_collection(self._terms):
                _create_terms(self._client, self._terms)
            for name in (self._name, self._terms):
                self._client.load_collection(name)
            others = [name for name in _collections(self._client) if name not in (self._name, self._terms)]
            found = [name for name in others if _count(self._client, name, self._mine)]
        if found:
            self.close()
            raise IndexMismatch(
                f"索引由另一个向量模型建成，现在配置的是 {embedder}（{dimension} 维）。"
                "请改回 EMBEDDER，或运行 python scripts/reindex.py 重建索引"
            )

    def nearest(self, vector: Vector, k: int, revision: int, where: Filter) -> list[tuple[StoredRow, float]]:
        """The `k` nearest of a revision with their cosines, best first."""
        return self._search(vector, "vector", "COSINE", k, revision, where)

    def matching(self, terms: Sequence[int], k: int, revision: int, where: Filter) -> list[StoredRow]:
        """Up to `k` rows that hold one of these terms, best first by Milvus' own BM25 over all tenants."""
        text = " ".join(f"t{number}" for number in terms)
        return [row for row, _ in self._search(text, "sparse", "BM25", k, revision, where)]

    def live(self, revision: int) -> Iterator[Seen]:
        """All rows that are not gone at `revision`, later ones included."""
        return map(self.seen, self._walk(self._name, f"until > {revision}", _SEEN))

    def touched(self, after: int, revision: int) -> list[Seen]:
        """Rows that came or went after the one revision, up to the other."""
        came, went = (f"({field} > {after} and {field} <= {revision})" for field in ("since", "until"))
        return [self.seen(item) for item in self._walk(self._name, f"({came} or {went})", _SEEN)]

    def ids(self, revision: int) -> Iterator[str]:
        """Ids of the chunks of a revision; of one that has two rows, twice."""
        items = self._walk(self._name, f"since <= {revision} and until > {revision}", ["key", "name"])
        return (json.loads(item["name"]) for item in items)

    def of(self, chunk_ids: Collection[str], revision: int) -> list[dict[str, Any]]:
        """Rows of these chunks that are not gone at `revision`, later ones included, as they are stored."""
        names = json.dumps(sorted(map(named, chunk_ids)))
        return self._query(self._name, f"until > {revision} and chunk in {names}", _STORED)

    def raw(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Rows by their keys, as they are stored, in any order."""
        return list(self._get(self._name, keys, _STORED))

    def seen(self, item: dict[str, Any]) -> Seen:
        """Of a row as it is stored."""
        return Seen(*(item[field] for field in _SEEN))

    def row(self, item: dict[str, Any]) -> StoredRow:
        """What a row as it is stored holds."""
        return _row(item)

    def write(self, items: Sequence[dict[str, Any]]) -> None:
        """Adds or replaces rows."""
        for start in range(0, len(items), _BATCH):
            with unavailable("upsert"):
                self._client.upsert(self._name, list(items[start : start + _BATCH]))
        self._loose += len(items)
        if self._lite and self._loose >= _LOOSE:
            with unavailable("flush"):
                self._client.flush(self._name)
            self._loose = 0

    def item(self, added: IndexedChunk, since: int) -> dict[str, Any]:
        """The row of a chunk that came with the revision `since`. Raises IndexUnavailable where it is too long."""
        document = added.chunk.document
        payload = base64.b64encode(zlib.compress(json.dumps(asdict(added.chunk), ensure_ascii=False).encode())).decode()
        terms = " ".join(f"t{number}" for number in added.terms.tolist())
        if max(len(payload), len(terms)) > _BYTES:
            raise IndexUnavailable(f"chunk {added.chunk.id} is too long for Milvus")
        held = "\n".join((self._owner, added.chunk.id, payload, terms)).encode() + added.vector.tobytes()
        item = {
            "content": hashlib.sha256(held).hexdigest()[:40],
            "tenant": self._owner,
            "chunk": named(added.chunk.id),
            "name": json.dumps(added.chunk.id),
            "document": named(document.id),
            "category": named(document.category),
            "tags": [named(tag) for tag in document.tags],
            "payload": payload,
            "terms": terms,
            # Of a base that could not be embedded; no search by embedding looks at it.
            "vector": added.vector.tolist() or [0.0] * self._dimension,
        }
        return self.again(item, since, FOREVER)

    def again(self, item: dict[str, Any], since: int, until: int) -> dict[str, Any]:
        """A row that holds the same, seen by other revisions."""
        return item | {"key": named(f"{item['content']} {since}"), "since": since, "until": until}

    def purge(self, revision: int) -> None:
        """Removes what was gone at `revision` already."""
        with unavailable("delete"):
            self._client.delete(self._name, filter=f"{self._mine} and until <= {revision}")

    def terms(self, terms: Sequence[str]) -> list[TermRow]:
        """Those of these terms that were ever written, in any order."""
        keys = [self._term_key(term) for term in terms]
        return [_term(item) for item in self._get(self._terms, keys, _TERM)]

    def numbered(self, numbers: Sequence[int]) -> list[TermRow]:
        """The terms of these ids that were ever written, in any order."""
        return [_term(item) for item in self._query(self._terms, f"number in {list(numbers)}", _TERM)]

    def later_terms(self, revision: int) -> list[TermRow]:
        """Terms whose count changed after a revision."""
        return [_term(item) for item in self._walk(self._terms, f"latest > {revision}", _TERM)]

    def all_terms(self) -> Iterator[TermRow]:
        """All that were ever written."""
        return map(_term, self._walk(self._terms, "latest >= -1", _TERM))

    def write_terms(self, rows: Sequence[TermRow]) -> None:
        """Adds or replaces terms, each by its text."""
        items = [
            {
                "key": self._term_key(row.term),
                "tenant": self._owner,
                "term": json.dumps(row.term),
                "number": row.number,
                "latest": row.history[-1][0] if row.history else -1,
                "history": json.dumps(row.history),
                "vector": _NO_VECTOR,
            }
            for row in rows
        ]
        for start in range(0, len(items), _TERM_BATCH):
            with unavailable("upsert"):
                self._client.upsert(self._terms, items[start : start + _TERM_BATCH])

    def close(self) -> None:
        """Releases the connection or the file."""
        self._client.close()

    def _term_key(self, term: str) -> str:
        return named(f"{self._owner} {term}")

    def _get(self, name: str, keys: Sequence[str], fields: list[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(keys), _BATCH):
            with unavailable("get"):
                found = self._client.get(name, list(keys[start : start + _BATCH]), output_fields=fields)
            yield from found

    def _query(self, name: str, rows: str, fields: list[str]) -> list[dict[str, Any]]:
        """This tenant's rows that are of these, some thousands at most."""
        with unavailable("query"):
            return list(self._client.query(name, filter=f"{self._mine} and {rows}", output_fields=fields))

    def _walk(self, name: str, rows: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        """All of this tenant's rows that are of these, a page at a time."""
        with unavailable("query"):
            walk = self._client.query_iterator(
                name, filter=f"{self._mine} and {rows}", output_fields=fields, batch_size=_PAGE
            )
        try:
            while True:
                with unavailable("query"):
                    page = walk.next()
                if not page:
                    return
                yield from page
        finally:
            walk.close()

    def _search(
        self, data: Any, field: str, metric: str, k: int, revision: int, where: Filter
    ) -> list[tuple[StoredRow, float]]:
        seen = f"{self._mine} and since <= {revision} and until > {revision}"
        with unavailable("search"):
            found = self._client.search(
                self._name,
                [data],
                anns_field=field,
                limit=k,
                filter=" and ".join([seen, *_conditions(where)]),
                output_fields=_READ,
                search_params={"metric_type": metric},
            )
        return [(_row(hit["entity"]), hit["distance"]) for hit in found[0]]


def drop_others(place: str, tenant: str, keep: Collection[int]) -> None:
    """Removes one tenant's rows but those of the generations `keep`. Raises IndexUnavailable."""
    kept = [owner(tenant, number) for number in keep]
    rows = f'tenant like "{named(tenant)}-%" and tenant not in {json.dumps(kept)}'
    with unavailable("drop"):
        client = _client(place)
        for name in _collections(client):
            client.delete(name, filter=rows)
        client.close()


@contextmanager
def unavailable(step: str) -> Iterator[None]:
    """pymilvus raises its own errors, gRPC's and those of the file alike; the caller knows one reaction to all."""
    try:
        yield
    except Exception as error:
        raise IndexUnavailable(f"milvus {step} failed: {error}") from error


def _row(item: dict[str, Any]) -> StoredRow:
    content = json.loads(zlib.decompress(base64.b64decode(item["payload"])))
    source = content.pop("document")
    document = DocumentMeta(**source | {"tags": tuple(source["tags"])})
    chunk = Chunk(document=document, **content | {"heading_path": tuple(content["heading_path"])})
    terms = np.fromstring(item["terms"].replace("t", ""), np.int32, sep=" ") if item["terms"] else np.zeros(0, np.int32)
    vector = np.array(item["vector"], np.float32)
    return StoredRow(item["key"], chunk, terms, vector if vector.any() else vector[:0])


def _term(item: dict[str, Any]) -> TermRow:
    history = tuple((since, count) for since, count in json.loads(item["history"]))
    return TermRow(json.loads(item["term"]), item["number"], history)


def _conditions(where: Filter) -> Iterator[str]:
    for field, wanted in (("document", where.document_ids), ("category", where.categories)):
        if wanted:
            yield f"{field} in {json.dumps(sorted(map(named, wanted)))}"
    if where.tags:
        yield f"array_contains_any(tags, {json.dumps(sorted(map(named, where.tags)))})"


def _client(place: str) -> Any:
    """place: a file, or an address that may hold user:password."""
    if _is_file(place):
        return MilvusClient(place, timeout=_SECONDS)
    found = urlsplit(place)
    login, _, host = found.netloc.rpartition("@")
    return MilvusClient(urlunsplit(found._replace(netloc=host)), token=unquote(login), timeout=_SECONDS)


def _is_file(place: str) -> bool:
    return urlsplit(place).scheme not in {"http", "https"}


def _collections(client: Any) -> list[str]:
    return [name for name in client.list_collections() if name.startswith(_PREFIX)]


def _count(client: Any, name: str, rows: str) -> int:
    client.load_collection(name)
    return int(client.query(name, filter=rows, output_fields=["count(*)"])[0]["count(*)"])


def _create(client: Any, name: str, dimension: int) -> None:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=40, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=64, is_partition_key=True)
    for field in ("chunk", "document", "category"):
        schema.add_field(field, DataType.VARCHAR, max_length=32)
    schema.add_field("content", DataType.VARCHAR, max_length=40)
    schema.add_field("name", DataType.VARCHAR, max_length=_BYTES)
    schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=_TAGS, max_length=32)
    for field in ("since", "until"):
        schema.add_field(field, DataType.INT64)
    schema.add_field("payload", DataType.VARCHAR, max_length=_BYTES)
    words = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
    schema.add_field("terms", DataType.VARCHAR, max_length=_BYTES, **words)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_function(Function("bm25", FunctionType.BM25, input_field_names=["terms"], output_field_names=["sparse"]))
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    for field in ("chunk", "since", "until"):
        indexes.add_index(field, index_type="INVERTED")
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Strong")


def _create_terms(client: Any, name: str) -> None:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=32, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=64, is_partition_key=True)
    for field in ("term", "history"):
        schema.add_field(field, DataType.VARCHAR, max_length=_BYTES)
    for field in ("number", "latest"):
        schema.add_field(field, DataType.INT64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=len(_NO_VECTOR))
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="FLAT", metric_type="L2")
    for field in ("number", "latest"):
        indexes.add_index(field, index_type="INVERTED")
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Strong")
