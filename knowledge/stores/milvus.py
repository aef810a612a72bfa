"""Milvus: rows of all tenants in two collections, in a file (Milvus Lite), on a server or in a cluster.

One holds chunks. A row is a chunk as one change wrote it, with the revisions between which it is seen: `since` <=
revision < `until`. Its key is a hash of what it holds and of the revision that it came with, so that several processes,
each following SQL at its own pace, write the same rows. The other one holds terms, with their document frequencies.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from knowledge.errors import IndexMismatch, IndexUnavailable, InvalidConfiguration
from knowledge.filters import Filter
from knowledge.stores import milvus_rows as rows
from knowledge.stores.base import StoredRow
from knowledge.stores.milvus_rows import named
from knowledge.stores.rows import Seen, TermRow
from knowledge.types import Chunk, IndexedChunk, Vector

try:
    from pymilvus import DataType, Function, FunctionType, MilvusClient
except ImportError as error:
    raise InvalidConfiguration("VECTOR_STORE=milvus 需要 pymilvus：请运行 pip install -r requirements.txt") from error

_BATCH, _TERM_BATCH, _PAGE = 200, 1000, 1000
_LOOSE = 200
"""Rows that Milvus Lite may have outside of a segment: it makes the index of their words anew for every search, which
takes 600 ms at 1,000 rows, where those in a segment take 70. A server decides for itself.
"""
_TAGS = 256
_SECONDS = 60.0
_PREFIX = "yingda_"


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
        self._lite, self._loose = _is_file(place), Counter[str]()
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
        return map(rows.seen, self._walk(self._name, f"until > {revision}", rows.SEEN))

    def touched(self, after: int, revision: int) -> list[Seen]:
        """Rows that came or went after the one revision, up to the other."""
        came, went = (f"({field} > {after} and {field} <= {revision})" for field in ("since", "until"))
        return [rows.seen(item) for item in self._query(self._name, f"({came} or {went})", rows.SEEN)]

    def ids(self, revision: int, within: Collection[int] | None = None) -> Iterator[str]:
        """Ids of the chunks of a revision, of these buckets; of one that has two rows, twice."""
        read = self._walk if within is None else self._query
        return map(rows.chunk_id, read(self._name, _seen_by(revision) + _within(within), rows.ID))

    def holding(self, revision: int, chunk_ids: Collection[str]) -> Iterator[str]:
        """Those of these ids that are of a revision."""
        found = self._query(self._name, f"{_seen_by(revision)} and chunk in {_names(chunk_ids)}", rows.ID)
        return map(rows.chunk_id, found)

    def of_documents(self, revision: int, document_ids: Collection[str]) -> Iterator[str]:
        """Ids of the chunks that these documents have in a revision."""
        found = self._query(self._name, f"{_seen_by(revision)} and document in {_names(document_ids)}", rows.ID)
        return map(rows.chunk_id, found)

    def chunks(self, revision: int, within: Collection[int] | None = None) -> Iterator[Chunk]:
        """Those of a revision, of these buckets; one that has two rows, twice."""
        items = self._walk(self._name, _seen_by(revision) + _within(within), ["key", "payload"])
        return map(rows.decoded_chunk, items)

    def of(self, chunk_ids: Collection[str], revision: int) -> list[dict[str, Any]]:
        """Rows of these chunks that are not gone at `revision`, later ones included, as they are stored."""
        return self._query(self._name, f"until > {revision} and chunk in {_names(chunk_ids)}", rows.STORED)

    def raw(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Rows by their keys, as they are stored, in any order."""
        return list(self._get(self._name, keys, rows.STORED))

    def seen(self, item: dict[str, Any]) -> Seen:
        """Of a row as it is stored."""
        return rows.seen(item)

    def row(self, item: dict[str, Any]) -> StoredRow:
        """What a row as it is stored holds."""
        return rows.decoded(item)

    def item(self, added: IndexedChunk, since: int) -> dict[str, Any]:
        """The row of a chunk that came with the revision `since`. Raises IndexUnavailable where it is too long."""
        return rows.encoded(self._owner, self._dimension, added, since)

    def again(self, item: dict[str, Any], since: int, until: int) -> dict[str, Any]:
        """A row that holds the same, seen by other revisions."""
        return rows.again(item, since, until)

    def write(self, items: Sequence[dict[str, Any]]) -> None:
        """Adds or replaces rows."""
        self._upsert(self._name, items, _BATCH)

    def purge(self, revision: int) -> None:
        """Removes what was gone at `revision` already."""
        with unavailable("delete"):
            self._client.delete(self._name, filter=f"{self._mine} and until <= {revision}")

    def terms(self, terms: Sequence[str]) -> list[TermRow]:
        """Those of these terms that were ever written, in any order."""
        keys = [rows.term_key(self._owner, term) for term in terms]
        return [rows.decoded_term(item) for item in self._get(self._terms, keys, rows.TERM)]

    def numbered(self, numbers: Sequence[int]) -> list[TermRow]:
        """The terms of these ids that were ever written, in any order."""
        found = self._query(self._terms, f"number in {list(numbers)}", rows.TERM)
        return [rows.decoded_term(item) for item in found]

    def later_terms(self, revision: int) -> list[TermRow]:
        """Terms whose count changed after a revision."""
        found = self._query(self._terms, f"latest > {revision}", rows.TERM)
        return [rows.decoded_term(item) for item in found]

    def frequent_terms(self, chunks: int) -> Iterator[TermRow]:
        """Those whose last count is not below this."""
        return map(rows.decoded_term, self._walk(self._terms, f"chunks >= {chunks}", rows.TERM))

    def all_terms(self) -> Iterator[TermRow]:
        """All that were ever written."""
        return map(rows.decoded_term, self._walk(self._terms, "latest >= -1", rows.TERM))

    def write_terms(self, terms: Sequence[TermRow]) -> None:
        """Adds or replaces terms, each by its text."""
        self._upsert(self._terms, [rows.encoded_term(self._owner, row) for row in terms], _TERM_BATCH)

    def close(self) -> None:
        """Releases the connection or the file."""
        self._client.close()

    def _upsert(self, name: str, items: Sequence[dict[str, Any]], batch: int) -> None:
        for start in range(0, len(items), batch):
            with unavailable("upsert"):
                self._client.upsert(name, list(items[start : start + batch]))
        self._loose[name] += len(items)
        if self._lite and self._loose[name] >= _LOOSE:
            with unavailable("flush"):
                self._client.flush(name)
            self._loose[name] = 0

    def _get(self, name: str, keys: Sequence[str], fields: list[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(keys), _BATCH):
            with unavailable("get"):
                found = self._client.get(name, list(keys[start : start + _BATCH]), output_fields=fields)
            yield from found

    def _query(self, name: str, narrowed: str, fields: list[str]) -> list[dict[str, Any]]:
        """This tenant's rows that are of these, as few as a change or a question is about."""
        with unavailable("query"):
            return list(self._client.query(name, filter=f"{self._mine} and {narrowed}", output_fields=fields))

    def _walk(self, name: str, narrowed: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        """All of this tenant's rows that are of these, a page at a time.

        Milvus Lite looks through all rows for each page: 38,000 terms took 4.3 s of a processor, 1.2 s at once.
        """
        if self._lite:
            yield from self._query(name, narrowed, fields)
            return
        with unavailable("query"):
            walk = self._client.query_iterator(
                name, filter=f"{self._mine} and {narrowed}", output_fields=fields, batch_size=_PAGE
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
        with unavailable("search"):
            found = self._client.search(
                self._name,
                [data],
                anns_field=field,
                limit=k,
                filter=" and ".join([self._mine, _seen_by(revision), *rows.conditions(where)]),
                output_fields=rows.READ,
                search_params={"metric_type": metric},
            )
        return [(rows.decoded(hit["entity"]), hit["distance"]) for hit in found[0]]


def drop_others(place: str, tenant: str, keep: Collection[int]) -> None:
    """Removes one tenant's rows but those of the generations `keep`. Raises IndexUnavailable."""
    kept = [owner(tenant, number) for number in keep]
    others = f'tenant like "{named(tenant)}-%" and tenant not in {json.dumps(kept)}'
    with unavailable("drop"):
        client = _client(place)
        for name in _collections(client):
            client.delete(name, filter=others)
        client.close()


@contextmanager
def unavailable(step: str) -> Iterator[None]:
    """pymilvus raises its own errors, gRPC's and those of the file alike; the caller knows one reaction to all."""
    try:
        yield
    except Exception as error:
        raise IndexUnavailable(f"milvus {step} failed: {error}") from error


def _names(ids: Collection[str]) -> str:
    return json.dumps(sorted(map(named, ids)))


def _within(buckets: Collection[int] | None) -> str:
    return "" if buckets is None else f" and bucket in {sorted(buckets)}"


def _seen_by(revision: int) -> str:
    return f"since <= {revision} and until > {revision}"


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


def _count(client: Any, name: str, narrowed: str) -> int:
    client.load_collection(name)
    return int(client.query(name, filter=narrowed, output_fields=["count(*)"])[0]["count(*)"])


def _schema(client: Any) -> Any:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=32, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=64, is_partition_key=True)
    return schema


def _create(client: Any, name: str, dimension: int) -> None:
    schema = _schema(client)
    for field in ("content", "chunk", "document", "category"):
        schema.add_field(field, DataType.VARCHAR, max_length=32)
    schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=_TAGS, max_length=32)
    for field in ("since", "until", "bucket"):
        schema.add_field(field, DataType.INT64)
    for field in ("name", "payload"):
        schema.add_field(field, DataType.VARCHAR, max_length=rows.MAX_BYTES)
    words = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
    schema.add_field("terms", DataType.VARCHAR, max_length=rows.MAX_BYTES, **words)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_function(Function("bm25", FunctionType.BM25, input_field_names=["terms"], output_field_names=["sparse"]))
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    for field in ("chunk", "document", "since", "until", "bucket"):
        indexes.add_index(field, index_type="INVERTED")
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Strong")


def _create_terms(client: Any, name: str) -> None:
    schema = _schema(client)
    for field in ("term", "history"):
        schema.add_field(field, DataType.VARCHAR, max_length=rows.MAX_BYTES)
    for field in ("number", "latest", "chunks"):
        schema.add_field(field, DataType.INT64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=len(rows.NO_VECTOR))
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="FLAT", metric_type="L2")
    for field in ("number", "latest", "chunks"):
        indexes.add_index(field, index_type="INVERTED")
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Strong")
