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
from knowledge.stores.milvus_rows import hash_name
from knowledge.stores.rows import RowLifetime, TermRow
from knowledge.types import Chunk, IndexedChunk, Vector

try:
    from pymilvus import DataType, Function, FunctionType, MilvusClient
except ImportError as error:
    raise InvalidConfiguration("VECTOR_STORE=milvus 需要 pymilvus：请运行 pip install -r requirements.txt") from error

_BATCH, _TERM_BATCH, _PAGE = 200, 1000, 1000
# Rows that Milvus Lite may have outside of a segment: it makes the index of their words anew for every search, which
# takes 600 ms at 1,000 rows, where those in a segment take 70. A server decides for itself.
_LOOSE = 200
_TAGS = 256
_SECONDS = 60.0
_PREFIX = "yingda_"


def build_collection_name(embedder: str, dimension: int) -> str:
    """Returns the name of the collection for one space of embeddings."""
    return _PREFIX + hash_name(f"{embedder} {dimension}")


def build_owner(tenant: str, generation: int) -> str:
    """Returns the partition key of a tenant's rows."""
    return f"{hash_name(tenant)}-{generation}"


def get_address(path: Path, server: str) -> str:
    """Returns where Milvus is: the server's address, or a file below `path`."""
    if not server:
        path.mkdir(parents=True, exist_ok=True)
    return server or str(path / "milvus.db")


class MilvusTable:
    """One tenant's rows. All methods block. They raise IndexUnavailable."""

    def __init__(self, location: str, tenant: str, embedder: str, dimension: int, generation: int) -> None:
        self._owner, self._name = build_owner(tenant, generation), build_collection_name(embedder, dimension)
        self._terms = f"{self._name}_terms"
        self._dimension = dimension
        self._lite, self._loose = _is_file(location), Counter[str]()
        self._mine = f'tenant == "{self._owner}"'
        with map_errors("open"):
            self._client = _open_client(location)
            if not self._client.has_collection(self._name):
                _create_chunks(self._client, self._name, dimension)
            if not self._client.has_collection(self._terms):
                _create_terms(self._client, self._terms)
            for name in (self._name, self._terms):
                self._client.load_collection(name)
            others = [name for name in _list_collections(self._client) if name not in (self._name, self._terms)]
            found = [name for name in others if _count_rows(self._client, name, self._mine)]
        if found:
            self.close()
            raise IndexMismatch(
                f"索引由另一个向量模型建成，现在配置的是 {embedder}（{dimension} 维）。"
                "请改回 EMBEDDER，或运行 python scripts/reindex.py 重建索引"
            )

    def search_nearest(self, vector: Vector, k: int, revision: int, where: Filter) -> list[tuple[StoredRow, float]]:
        """Returns the `k` nearest rows of a revision with their cosines, best first."""
        return self._search_rows(vector, "vector", "COSINE", k, revision, where)

    def search_matching(self, terms: Sequence[int], k: int, revision: int, where: Filter) -> list[StoredRow]:
        """Returns up to `k` rows that contain one of these terms, best first by Milvus' own BM25 over all tenants."""
        text = " ".join(f"t{number}" for number in terms)
        return [row for row, _ in self._search_rows(text, "sparse", "BM25", k, revision, where)]

    def list_live(self, revision: int) -> Iterator[RowLifetime]:
        """Lists all rows that are not gone at `revision`, later ones included."""
        return map(rows.read_lifetime, self._walk_items(self._name, f"until > {revision}", rows.SEEN))

    def list_changed(self, after: int, revision: int) -> list[RowLifetime]:
        """Lists the rows that came or went after revision `after`, up to `revision`."""
        came, went = (f"({field} > {after} and {field} <= {revision})" for field in ("since", "until"))
        return [rows.read_lifetime(item) for item in self._query_items(self._name, f"({came} or {went})", rows.SEEN)]

    def list_ids(self, revision: int, within: Collection[int] | None = None) -> Iterator[str]:
        """Lists the ids of the chunks of a revision, in these buckets only where given; the id of a chunk with two rows
        twice.
        """
        read = self._walk_items if within is None else self._query_items
        return map(
            rows.read_chunk_id, read(self._name, _filter_by_revision(revision) + _filter_by_bucket(within), rows.ID)
        )

    def find_existing(self, revision: int, chunk_ids: Collection[str]) -> Iterator[str]:
        """Yields those of these ids that belong to a revision."""
        return self._find_chunk_ids(revision, f"chunk in {_list_names(chunk_ids)}")

    def list_ids_of_documents(self, revision: int, document_ids: Collection[str]) -> Iterator[str]:
        """Yields the ids of the chunks that these documents have in a revision."""
        return self._find_chunk_ids(revision, f"document in {_list_names(document_ids)}")

    def walk_chunks(self, revision: int, within: Collection[int] | None = None) -> Iterator[Chunk]:
        """Yields the chunks of a revision, in these buckets only where given; a chunk with two rows twice."""
        items = self._walk_items(
            self._name, _filter_by_revision(revision) + _filter_by_bucket(within), ["key", "payload"]
        )
        return map(rows.decode_chunk, items)

    def get_chunk_rows(self, chunk_ids: Collection[str], revision: int) -> list[dict[str, Any]]:
        """Returns the stored rows of these chunks that are not gone at `revision`, later ones included."""
        return self._query_items(self._name, f"until > {revision} and chunk in {_list_names(chunk_ids)}", rows.STORED)

    def get_rows(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Returns the stored rows with these keys, in any order."""
        return list(self._get_items(self._name, keys, rows.STORED))

    def read_lifetime(self, item: dict[str, Any]) -> RowLifetime:
        """Returns between which revisions a stored row is seen."""
        return rows.read_lifetime(item)

    def read_row(self, item: dict[str, Any]) -> StoredRow:
        """Decodes a stored row."""
        return rows.decode_row(item)

    def build_row(self, added: IndexedChunk, since: int) -> dict[str, Any]:
        """Builds the row of a chunk that came with the revision `since`. Raises IndexUnavailable if the row is too
        long.
        """
        return rows.encode_chunk(self._owner, self._dimension, added, since)

    def copy_row(self, item: dict[str, Any], since: int, until: int) -> dict[str, Any]:
        """Builds a row with the same content that other revisions see."""
        return rows.copy_row(item, since, until)

    def write_rows(self, items: Sequence[dict[str, Any]]) -> None:
        """Adds or replaces rows."""
        self._upsert_items(self._name, items, _BATCH)

    def purge(self, revision: int) -> None:
        """Deletes the rows that were gone at `revision` already."""
        with map_errors("delete"):
            self._client.delete(self._name, filter=f"{self._mine} and until <= {revision}")

    def find_terms(self, terms: Sequence[str]) -> list[TermRow]:
        """Returns the rows of those of these terms that were ever written, in any order."""
        keys = [rows.build_term_key(self._owner, term) for term in terms]
        return [rows.decode_term(item) for item in self._get_items(self._terms, keys, rows.TERM)]

    def find_terms_by_id(self, numbers: Sequence[int]) -> list[TermRow]:
        """Returns the rows of the terms with these ids that were ever written, in any order."""
        found = self._query_items(self._terms, f"number in {list(numbers)}", rows.TERM)
        return [rows.decode_term(item) for item in found]

    def list_terms_changed_after(self, revision: int) -> list[TermRow]:
        """Lists the terms whose count changed after a revision."""
        found = self._query_items(self._terms, f"latest > {revision}", rows.TERM)
        return [rows.decode_term(item) for item in found]

    def list_frequent_terms(self, chunks: int) -> Iterator[TermRow]:
        """Yields the terms whose latest count of chunks is `chunks` or more."""
        return map(rows.decode_term, self._walk_items(self._terms, f"chunks >= {chunks}", rows.TERM))

    def list_terms(self) -> Iterator[TermRow]:
        """Yields all terms that were ever written."""
        return map(rows.decode_term, self._walk_items(self._terms, "latest >= -1", rows.TERM))

    def write_terms(self, terms: Sequence[TermRow]) -> None:
        """Adds or replaces terms, each by its text."""
        self._upsert_items(self._terms, [rows.encode_term(self._owner, row) for row in terms], _TERM_BATCH)

    def close(self) -> None:
        """Releases the connection or the file."""
        self._client.close()

    def _upsert_items(self, name: str, items: Sequence[dict[str, Any]], batch: int) -> None:
        for start in range(0, len(items), batch):
            with map_errors("upsert"):
                self._client.upsert(name, list(items[start : start + batch]))
        self._loose[name] += len(items)
        if self._lite and self._loose[name] >= _LOOSE:
            with map_errors("flush"):
                self._client.flush(name)
            self._loose[name] = 0

    def _get_items(self, name: str, keys: Sequence[str], fields: list[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(keys), _BATCH):
            with map_errors("get"):
                found = self._client.get(name, list(keys[start : start + _BATCH]), output_fields=fields)
            yield from found

    def _query_items(self, name: str, narrowed: str, fields: list[str]) -> list[dict[str, Any]]:
        """Returns this tenant's rows that match; for the few of one change or question."""
        with map_errors("query"):
            return list(self._client.query(name, filter=f"{self._mine} and {narrowed}", output_fields=fields))

    def _find_chunk_ids(self, revision: int, narrowed: str) -> Iterator[str]:
        found = self._query_items(self._name, f"{_filter_by_revision(revision)} and {narrowed}", rows.ID)
        return map(rows.read_chunk_id, found)

    def _walk_items(self, name: str, narrowed: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        """Yields all of this tenant's rows that match, page by page.

        Milvus Lite looks through all rows for each page: 38,000 terms took 4.3 s of a processor, 1.2 s at once.
        """
        if self._lite:
            yield from self._query_items(name, narrowed, fields)
            return
        with map_errors("query"):
            walk = self._client.query_iterator(
                name, filter=f"{self._mine} and {narrowed}", output_fields=fields, batch_size=_PAGE
            )
        try:
            while True:
                with map_errors("query"):
                    page = walk.next()
                if not page:
                    return
                yield from page
        finally:
            walk.close()

    def _search_rows(
        self, data: Any, field: str, metric: str, k: int, revision: int, where: Filter
    ) -> list[tuple[StoredRow, float]]:
        with map_errors("search"):
            found = self._client.search(
                self._name,
                [data],
                anns_field=field,
                limit=k,
                filter=" and ".join([self._mine, _filter_by_revision(revision), *rows.list_conditions(where)]),
                output_fields=rows.READ,
                search_params={"metric_type": metric},
            )
        return [(rows.decode_row(hit["entity"]), hit["distance"]) for hit in found[0]]


def drop_others(location: str, tenant: str, keep: Collection[int]) -> None:
    """Removes the rows of one tenant except those of the generations `keep`.

    Raises:
        IndexUnavailable: If Milvus fails.
    """
    kept = [build_owner(tenant, number) for number in keep]
    others = f'tenant like "{hash_name(tenant)}-%" and tenant not in {json.dumps(kept)}'
    with map_errors("drop"):
        client = _open_client(location)
        for name in _list_collections(client):
            client.delete(name, filter=others)
        client.close()


@contextmanager
def map_errors(step: str) -> Iterator[None]:
    """Maps all errors of pymilvus to IndexUnavailable: its own, gRPC's and those of the file."""
    try:
        yield
    except Exception as error:
        raise IndexUnavailable(f"milvus {step} failed: {error}") from error


def _list_names(ids: Collection[str]) -> str:
    return json.dumps(sorted(map(hash_name, ids)))


def _filter_by_bucket(buckets: Collection[int] | None) -> str:
    return "" if buckets is None else f" and bucket in {sorted(buckets)}"


def _filter_by_revision(revision: int) -> str:
    return f"since <= {revision} and until > {revision}"


def _open_client(location: str) -> Any:
    """Connects to Milvus. location: a file, or an address that may contain user:password."""
    if _is_file(location):
        return MilvusClient(location, timeout=_SECONDS)
    found = urlsplit(location)
    login, _, host = found.netloc.rpartition("@")
    return MilvusClient(urlunsplit(found._replace(netloc=host)), token=unquote(login), timeout=_SECONDS)


def _is_file(location: str) -> bool:
    return urlsplit(location).scheme not in {"http", "https"}


def _list_collections(client: Any) -> list[str]:
    return [name for name in client.list_collections() if name.startswith(_PREFIX)]


def _count_rows(client: Any, name: str, narrowed: str) -> int:
    client.load_collection(name)
    return int(client.query(name, filter=narrowed, output_fields=["count(*)"])[0]["count(*)"])


def _create_schema(client: Any) -> Any:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=32, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=64, is_partition_key=True)
    return schema


def _create_chunks(client: Any, name: str, dimension: int) -> None:
    schema = _create_schema(client)
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
    schema = _create_schema(client)
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
