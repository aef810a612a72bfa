"""What a worker does with a file, without Ray: the same as an upload."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from app.distributed.files import find_stored
from app.distributed.stages import Embed, Parse, Row, Work, name_of, read, read_vectors
from app.settings import Settings
from knowledge.embeddings.base import make_readable
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import BrokenDocument
from knowledge.extraction import ReadDocument
from knowledge.ingest import hash_content
from knowledge.sandbox.wire import decode_reply

TEXT = "# 退货\n\n退货运费由您承担，首重 12 元。\n"


def work(tmp_path: Path, **known: str) -> Work:
    docs = tmp_path / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "a.md").write_text(TEXT, "utf-8")
    (docs / "b.pdf").write_bytes(b"no pdf")
    settings = Settings(data_dir=tmp_path / "data", embedder="hash")
    files = tuple(find_stored([str(docs)]))
    return Work(settings, "acme", "hash", files, known, frozenset(known.values()))


def staged(given: Work, number: int) -> Row:
    with closing(Parse(given)) as parse, closing(Embed(given)) as embed:
        return embed(parse(read({"number": number}, given)))


def test_a_file_comes_back_parsed_and_embedded(tmp_path: Path) -> None:
    given = work(tmp_path)
    row = staged(given, 0)
    found = decode_reply(row["parsed"], name_of(given, row)).result
    assert isinstance(found, ReadDocument) and found.title == "退货"
    [chunk] = found.chunks
    [(key, vector)] = read_vectors(row).items()
    with closing(HashEmbedder(None)) as embedder:
        assert key == embedder.build_key(make_readable(f"退货\n{chunk.text}"), "passage")
    assert np.isclose(np.linalg.norm(vector), 1.0)
    assert (row["content"].decode(), row["digest"]) == (TEXT, hash_content(TEXT.encode()))


def test_a_broken_file_is_the_files_own_error(tmp_path: Path) -> None:
    given = work(tmp_path)
    row = staged(given, 1)
    assert isinstance(decode_reply(row["parsed"], name_of(given, row)).result, BrokenDocument)
    assert read_vectors(row) == {}


def test_what_is_known_is_neither_parsed_nor_sent_back(tmp_path: Path) -> None:
    digest = hash_content(TEXT.encode())
    row = staged(work(tmp_path, **{"docs/a.md": digest}), 0)
    assert row["held"] and (row["content"], row["parsed"], row["keys"]) == (b"", b"", "")
    moved = staged(work(tmp_path, **{"elsewhere/a.md": digest}), 0)
    assert not moved["held"] and moved["content"] and not moved["parsed"]  # whose commit decides what becomes of it


def test_a_file_that_is_gone_stops_no_other(tmp_path: Path) -> None:
    given = work(tmp_path)
    (tmp_path / "docs" / "a.md").unlink()
    assert staged(given, 0)["error"].startswith("读不到：FileNotFoundError")
