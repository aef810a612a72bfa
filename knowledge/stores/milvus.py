"""Milvus: rows of all tenants in one collection, in a file (Milvus Lite), on a server or in a cluster.

A row is a chunk as one change wrote it, with the revisions between which it is seen: `since` <= revision < `until`.
Its key is a hash of what it holds, so that several processes, each following SQL at its own pace, write the same rows.
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
from knowledge.types import Chunk, DocumentMeta, Filter, IndexedChunk, Vector

try:
    from pymilvus import DataType, Function, FunctionType, MilvusClient
except ImportError as error:
    raise InvalidConfiguration("VECTOR_STORE=milvus 需要 pymilvus：请运行 pip install -r requirements.txt") from error

FOREVER = 2**62
"""`until` of a row that no change has removed."""
_BATCH = 200
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
_STORED = [*_READ, "tenant", "since", "until", "document", "category", "tags"]


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
        self._dimension = dimension
        self._lite, self._loose = _is_file(place), 0
        self._mine = f'tenant == "{self._owner}"'
        with unavailable("open"):
            self._client = _client(place)
            if not self._client.has_collection(self._name):
                _create(self._client, self._name, dimension)
            self._client.load_collection(self._name)
            others = [name for name in _collections(self._client) if name != self._name]
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

    def live(self, revision: int) -> dict[str, tuple[int, int]]:
        """Key -> since, until of all rows that are not gone at `revision`, later ones included."""
        with unavailable("query"):
            walk = self._client.query_iterator(
                self._name, filter=f"{self._mine} and until > {revision}", output_fields=["key", "since", "until"]
            )
            found: dict[str, tuple[int, int]] = {}
            while page := walk.next():
                found |= {item["key"]: (item["since"], item["until"]) for item in page}
            walk.close()
        return found

    def raw(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Rows by their keys, as they are stored."""
        found: list[dict[str, Any]] = []
        for start in range(0, len(keys), _BATCH):
            with unavailable("get"):
                found += self._client.get(self._name, list(keys[start : start + _BATCH]), output_fields=_STORED)
        return found

    def rows(self, keys: Sequence[str]) -> list[StoredRow]:
        """Rows by their keys, in any order."""
        return [_row(item) for item in self.raw(keys)]

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
        return {
            "key": hashlib.sha256(held).hexdigest()[:40],
            "tenant": self._owner,
            "since": since,
            "until": FOREVER,
            "document": named(document.id),
            "category": named(document.category),
            "tags": [named(tag) for tag in document.tags],
            "payload": payload,
            "terms": terms,
            # Of a base that could not be embedded; no search by embedding looks at it.
            "vector": added.vector.tolist() or [0.0] * self._dimension,
        }

    def purge(self, revision: int) -> None:
        """Removes what was gone at `revision` already."""
        with unavailable("delete"):
            self._client.delete(self._name, filter=f"{self._mine} and until <= {revision}")

    def close(self) -> None:
        """Releases the connection or the file."""
        self._client.close()

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
    for field in ("document", "category"):
        schema.add_field(field, DataType.VARCHAR, max_length=32)
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
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Strong")
