"""Evaluation sets: a corpus in chunks, as ingestion makes them, and labelled questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from knowledge.blocks import Block
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.chunking import ChunkOptions, split_document
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.rows import read_rows
from knowledge.parsing.registry import PARSERS, check_name, parse
from knowledge.types import Chunk, DocumentMeta, ParsedDocument

# Category of questions that have nothing to do with the documents; others without a source are of their domain.
OFF_TOPIC = "off_topic"


@dataclass(frozen=True, slots=True)
class EvalSet:
    """The documents of questions are corpus ids; `source_of` maps a chunk to the one that labels speak of."""

    name: str
    chunks: tuple[Chunk, ...]
    questions: tuple[LabelledQuestion, ...]
    source_of: Callable[[Chunk], str]

    @property
    def answerable(self) -> tuple[LabelledQuestion, ...]:
        """Those that the documents answer."""
        return tuple(question for question in self.questions if question.answerable)

    @property
    def unanswerable(self) -> tuple[LabelledQuestion, ...]:
        """Those of the documents' domain that they leave open."""
        return tuple(question for question in self.questions if is_left_open(question))

    @property
    def out_of_domain(self) -> tuple[LabelledQuestion, ...]:
        """Those that have nothing to do with the documents."""
        return tuple(question for question in self.questions if is_off_topic(question))


def is_left_open(question: LabelledQuestion) -> bool:
    """Whether the documents do not answer a question of their domain."""
    return not question.answerable and question.category != OFF_TOPIC


def is_off_topic(question: LabelledQuestion) -> bool:
    """Whether a question has nothing to do with the documents."""
    return not question.answerable and question.category == OFF_TOPIC


def load_set(folder: Path, out_of_domain: Path | None = None, options: ChunkOptions | None = None) -> EvalSet:
    """Loads an evaluation set from a folder.

    Args:
        folder: Holds `corpus.jsonl` and `queries*.jsonl`, or `documents/` and `eval.jsonl`.
        out_of_domain: JSONL with `id` and `text` of off-topic questions.
        options: Limits on the size of a chunk.

    Raises:
        InvalidConfiguration: If the folder has neither layout, or a file is missing or wrong.
        InvalidDocument: If a document cannot be read.
    """
    options = options or ChunkOptions()
    if not folder.is_dir():
        raise InvalidConfiguration(f"没有文件夹 {folder}")
    if (folder / "corpus.jsonl").exists():
        data = _load_corpus_set(folder, options)
    elif (folder / "eval.jsonl").exists():
        data = _load_document_set(folder, options)
    else:
        raise InvalidConfiguration(f"{folder} 里没有 corpus.jsonl，也没有 eval.jsonl")
    if not data.chunks:
        raise InvalidConfiguration(f"{folder} 里没有可以检索的文字")
    if out_of_domain:
        others = (replace(one, category=OFF_TOPIC) for one in _read_questions(out_of_domain, answerable=False))
        data = replace(data, questions=(*data.questions, *others))
    return data


def chunk_row(row: Mapping[str, Any], version_id: str, options: ChunkOptions) -> list[Chunk]:
    """Splits one corpus row, a document of plain paragraphs; the document's id is the row's."""
    document = DocumentMeta(row["id"], row["id"], row.get("title", ""))
    lines = (line.strip() for line in row["text"].split("\n"))
    parsed = ParsedDocument(document.title, tuple(Block(line) for line in lines if line))
    return split_document(parsed, document, version_id, options)


def _load_corpus_set(folder: Path, options: ChunkOptions) -> EvalSet:
    rows = enumerate(read_rows(folder / "corpus.jsonl", id=str, text=str))
    questions = _read_questions(folder / "queries.jsonl", answerable=True, relevant=list)
    if (unanswerable := folder / "queries_unanswerable.jsonl").exists():
        questions += _read_questions(unanswerable, answerable=False)
    return EvalSet(
        name=_get_name(folder),
        chunks=tuple(chunk for number, row in rows for chunk in chunk_row(row, str(number), options)),
        questions=tuple(questions),
        source_of=get_document_id,
    )


def _load_document_set(folder: Path, options: ChunkOptions) -> EvalSet:
    return EvalSet(
        name=_get_name(folder),
        chunks=tuple(_parse_folder(folder / "documents", options)),
        questions=tuple(_read_questions(folder / "eval.jsonl")),
        source_of=_name_file_or_pair,
    )


def _parse_folder(folder: Path, options: ChunkOptions) -> Iterator[Chunk]:
    """Yields the chunks that ingestion makes of the files of a folder; hidden files and unknown formats are left
    out.
    """
    known: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder).parts
        if not path.is_file() or path.suffix.lower() not in PARSERS or any(part.startswith(".") for part in below):
            continue
        name = check_name(path.name)
        if name in known:
            raise InvalidConfiguration(f"{known[name]} 与 {path} 同名：标注按文件名写，文件名不能重复")
        known[name] = path
        parsed = parse(name, path.read_bytes())
        document = DocumentMeta(name, name, parsed.title or path.stem, below[0] if len(below) > 1 else "")
        yield from split_document(parsed, document, name, options)


def _read_questions(path: Path, answerable: bool | None = None, **fields: type) -> list[LabelledQuestion]:
    """answerable: None for those that name a document."""
    return [
        LabelledQuestion(
            row["text"],
            bool(row.get("relevant")) if answerable is None else answerable,
            tuple(row.get("relevant", ())),
            row["id"],
            row.get("category", ""),
            tuple(row.get("expected_keywords", ())),
        )
        for row in read_rows(path, id=str, text=str, **fields)
    ]


def _get_name(folder: Path) -> str:
    return folder.resolve().name


def get_document_id(chunk: Chunk) -> str:
    """Returns what labels call a chunk's document where these are rows."""
    return chunk.document.id


def _name_file_or_pair(chunk: Chunk) -> str:
    """Returns the file name, for a FAQ pair with its number in the file: `faq.csv#12`."""
    if chunk.question is None:
        return chunk.document.name
    return f"{chunk.document.name}#{int(chunk.entry.rpartition('-q')[2]) + 1}"
