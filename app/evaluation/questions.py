"""The questions of an evaluation set as conversations of one message, and what the chat makes of them."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.types import GIVEN, Source
from app.evaluation.dialogues import Dialogue, Expectation, LabelledTurn, TurnKind
from app.evaluation.grounding import find_cited_chunks
from app.evaluation.results import PlayedTurn, TurnResult
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.evaluation.dataset import EvalSet, is_left_open, is_off_topic
from knowledge.evaluation.metrics import compute_mean
from knowledge.evaluation.rows import read_rows
from knowledge.types import Chunk

SourceOf = Callable[[Chunk], str]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and what came of it."""

    question: LabelledQuestion
    result: TurnResult
    # The corpus ids that the first source may stand for.
    cited: frozenset[str]

    @property
    def is_answered(self) -> bool:
        return self.result.outcome in GIVEN

    @property
    def hit(self) -> bool:
        return not self.cited.isdisjoint(self.question.documents)


@contextmanager
def open_documents(folder: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Gives the folder that is ingested for a set: its `documents/`, or one with a file for each row of its corpus.

    With it comes the corpus id of every file that was made for a row.
    """
    if not (folder / "corpus.jsonl").exists():
        yield folder / "documents", {}
        return
    with TemporaryDirectory(prefix="yingda-corpus-") as written:
        ids = {}
        for number, row in enumerate(read_rows(folder / "corpus.jsonl", id=str, text=str)):
            if row["text"].strip():
                name = f"{number}.html"
                ids[name] = row["id"]
                (Path(written) / name).write_text(_write_page(number, row), "utf-8")
        yield Path(written), ids


def build_source_of(data: EvalSet, ids: Mapping[str, str]) -> SourceOf:
    """As labels speak of a chunk of the product; ids: see `open_documents`."""
    return lambda chunk: ids.get(chunk.document.name) or data.source_of(chunk)


def build_dialogues(texts: Sequence[str]) -> list[Dialogue]:
    """Makes every message a conversation of its own, without an expectation."""
    anything = Expectation(frozenset(TurnKind))
    return [Dialogue(f"m{at}", (LabelledTurn(f"m{at}.1", text, "", anything),)) for at, text in enumerate(texts)]


def read_answers(
    questions: Sequence[LabelledQuestion], played: Sequence[PlayedTurn], chunks: Sequence[Chunk], source_of: SourceOf
) -> list[AskedQuestion]:
    """Returns what came of every question. played: of the same; chunks: of the knowledge base."""
    return [
        AskedQuestion(question, turn.result, _find_first_cited(turn, chunks, source_of))
        for question, turn in zip(questions, played, strict=True)
    ]


def _find_first_cited(turn: PlayedTurn, chunks: Sequence[Chunk], source_of: SourceOf) -> frozenset[str]:
    sources = turn.response.answer.sources if turn.response.answer else ()
    first = next((source for source in sources if isinstance(source, Source) and source.index), None)
    return frozenset(source_of(chunk) for chunk in find_cited_chunks(first, chunks)) if first else frozenset()


def build_question_report(data: EvalSet, asked: Sequence[AskedQuestion]) -> dict[str, Any]:
    """asked: all questions of the set.

    hit@1: share of the answerable questions whose answer cites a right source first, an answer without sources
    being none; hit@1_of_cited: of those alone that cite one.
    """
    results = [one.result for one in asked]
    answerable = [one for one in asked if one.question.answerable]
    return {
        "set": data.name,
        "through": "chat",
        "questions": len(answerable),
        "answered_rate": compute_mean(one.is_answered for one in answerable),
        "refused_unanswerable": compute_mean(not one.is_answered for one in asked if is_left_open(one.question)),
        "refused_out_of_domain": compute_mean(not one.is_answered for one in asked if is_off_topic(one.question)),
        "hit@1": compute_mean(one.hit for one in answerable) or 0.0,
        "hit@1_of_cited": compute_mean(one.hit for one in answerable if one.cited) or 0.0,
        "hallucination_rate": compute_mean(bool(one.unfounded) for one in results if one.unfounded is not None) or 0.0,
    }


def build_question_row(asked: AskedQuestion) -> dict[str, Any]:
    """Builds the JSON of one question with its answer."""
    return {
        "id": asked.question.id,
        "cited": sorted(asked.cited),
        "outcome": asked.result.outcome,
        "reply": asked.result.reply,
        "unfounded": list(asked.result.unfounded or ()),
    }


def _write_page(number: int, row: Mapping[str, Any]) -> str:
    """Writes a corpus row as a document of plain paragraphs; with its number, since equal files are ingested once."""
    lines = (html.escape(line.strip()) for line in row["text"].split("\n"))
    title = html.escape(row.get("title") or "")
    body = "".join(f"<p>{line}</p>" for line in lines if line)
    head = f'<meta charset="utf-8"><title>{title}</title>'
    return f"<!-- {number} --><html><head>{head}</head><body>{body}</body></html>"
