"""Evaluation sets: a corpus in chunks, as ingestion makes them, and labelled questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.chunking import ChunkOptions, split
from knowledge.errors import InvalidConfiguration
from knowledge.parsing.registry import parse
from knowledge.types import Block, Chunk, DocumentMeta, ParsedDocument

UNANSWERABLE, OFF_TOPIC = "unanswerable", "off_topic"


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """`relevant` holds corpus ids and is empty for what the corpus leaves open."""

    id: str
    text: str
    relevant: frozenset[str] = frozenset()
    category: str = ""
    expected_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvalSet:
    """`source_of` maps a chunk to the corpus id that labels speak of."""

    name: str
    chunks: tuple[Chunk, ...]
    answerable: tuple[EvalQuestion, ...]
    unanswerable: tuple[EvalQuestion, ...]
    out_of_domain: tuple[EvalQuestion, ...]
    source_of: Callable[[Chunk], str]


def load_set(folder: Path, out_of_domain: Path | None = None) -> EvalSet:
    """A folder with `corpus.jsonl` and `queries*.jsonl`, or one with `documents/` and `eval.jsonl`.

    out_of_domain: JSONL with `id` and `text`. Raises InvalidConfiguration when the folder holds neither.
    """
    other = [_question(row) for row in read_rows(out_of_domain)] if out_of_domain else []
    if (folder / "corpus.jsonl").exists():
        chunks = [chunk for row in read_rows(folder / "corpus.jsonl") for chunk in text_chunks(row)]
        answerable = [_question(row) for row in read_rows(folder / "queries.jsonl")]
        missing = folder / "queries_unanswerable.jsonl"
        unanswerable = [_question(row) for row in read_rows(missing)] if missing.exists() else []
        return EvalSet(folder.name, tuple(chunks), tuple(answerable), tuple(unanswerable), tuple(other), _document_id)
    if (folder / "eval.jsonl").exists():
        questions = [_question(row) for row in read_rows(folder / "eval.jsonl")]
        return EvalSet(
            folder.name,
            tuple(_parsed_chunks(folder / "documents")),
            tuple(question for question in questions if question.relevant),
            tuple(question for question in questions if question.category == UNANSWERABLE),
            (*(question for question in questions if question.category == OFF_TOPIC), *other),
            _file_or_row,
        )
    raise InvalidConfiguration(f"{folder} 里没有 corpus.jsonl，也没有 eval.jsonl")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def text_chunks(row: Mapping[str, Any]) -> list[Chunk]:
    """Chunks of one corpus row, chunked as a document of plain paragraphs; the document's id is the row's."""
    document = DocumentMeta(row["id"], row["id"], row.get("title", ""))
    lines = (line.strip() for line in row["text"].split("\n"))
    parsed = ParsedDocument(document.title, tuple(Block(line) for line in lines if line))
    return split(parsed, document, document.id, ChunkOptions())


def _parsed_chunks(folder: Path) -> Iterable[Chunk]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        parsed = parse(path.name, path.read_bytes())
        document = DocumentMeta(path.name, path.name, parsed.title or path.stem, path.relative_to(folder).parts[0])
        yield from split(parsed, document, path.name, ChunkOptions())


def _question(row: Mapping[str, Any]) -> EvalQuestion:
    return EvalQuestion(
        id=row["id"],
        text=row["text"],
        relevant=frozenset(row.get("relevant", ())),
        category=row.get("category", ""),
        expected_keywords=tuple(row.get("expected_keywords", ())),
    )


def _document_id(chunk: Chunk) -> str:
    return chunk.document.id


def _file_or_row(chunk: Chunk) -> str:
    """File name, and for a question/answer pair the 1-based number of its row: `faq.csv#12`."""
    if chunk.question is None:
        return chunk.document.name
    return f"{chunk.document.name}#{int(chunk.entry.rpartition('-q')[2]) + 1}"
