"""Asks the questions of an evaluation set through the chat, each in a conversation of its own."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents.types import GIVEN, Source
from app.evaluation.grounding import find_cited_chunks, find_unfounded
from app.evaluation.judgement import FACTS, JudgedReply
from app.evaluation.results import compute_share
from app.evaluation.types import EvaluatedProduct
from knowledge.evaluation.dataset import EvalQuestion, EvalSet
from knowledge.evaluation.rows import read_rows
from knowledge.types import Chunk

SourceOf = Callable[[Chunk], str]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and what came of it. `cited`: the corpus ids that the first source may stand for; `unfounded`: what
    the answer made up, None where there was none.
    """

    question: EvalQuestion
    outcome: str
    reply: str
    cited: frozenset[str]
    unfounded: tuple[str, ...] | None

    @property
    def is_answered(self) -> bool:
        return self.outcome in GIVEN

    @property
    def hit(self) -> bool:
        return bool(self.cited & self.question.relevant)


@contextmanager
def open_documents(folder: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """What the product takes in for a set: its `documents/`, or a file for each row of its corpus. With it the corpus
    id of every file that was made for a row.
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


async def ask_all(
    product: EvaluatedProduct, questions: Sequence[EvalQuestion], source_of: SourceOf, progress: Callable[[int], object]
) -> list[AskedQuestion]:
    """Every question as the first message of a conversation."""
    asked = []
    for number, question in enumerate(questions):
        asked.append(await _ask_question(product, f"{number}-{len(questions)}-{question.id}", question, source_of))
        progress(1)
    return asked


async def _ask_question(
    product: EvaluatedProduct, session: str, question: EvalQuestion, source_of: SourceOf
) -> AskedQuestion:
    told = await product.ask(session, question.text)
    heard = JudgedReply.from_response(told.body)
    invented = find_unfounded(heard.text, told.grounds, rows=heard.rows) if heard.kinds & FACTS else None
    sources = told.answer.sources if told.answer else ()
    first = next((source for source in sources if isinstance(source, Source) and source.index), None)
    cited = frozenset(source_of(chunk) for chunk in find_cited_chunks(first, product.chunks)) if first else frozenset()
    return AskedQuestion(question, heard.outcome, heard.text, cited, invented)


def build_question_report(
    data: EvalSet,
    answerable: Sequence[AskedQuestion],
    unanswerable: Sequence[AskedQuestion],
    out_of_domain: Sequence[AskedQuestion],
) -> dict[str, Any]:
    """hit@1: share of the answerable questions whose answer cites a right source first, an answer without sources
    being none; hit@1_of_cited: of those alone that cite one.
    """
    everything = [*answerable, *unanswerable, *out_of_domain]
    answers = [asked for asked in everything if asked.unfounded is not None]
    cited = [asked for asked in answerable if asked.cited]
    hits = sum(asked.hit for asked in answerable)
    return {
        "set": data.name,
        "through": "chat",
        "questions": len(answerable),
        "answered_rate": _share_answered(answerable),
        "refused_unanswerable": _share_refused(unanswerable),
        "refused_out_of_domain": _share_refused(out_of_domain),
        "hit@1": compute_share(hits, len(answerable)),
        "hit@1_of_cited": compute_share(hits, len(cited)),
        "hallucination_rate": compute_share(sum(bool(asked.unfounded) for asked in answers), len(answers)),
    }


def build_row(asked: AskedQuestion) -> dict[str, Any]:
    """One question with what came of it, as JSON."""
    return {
        "id": asked.question.id,
        "cited": sorted(asked.cited),
        "outcome": asked.outcome,
        "reply": asked.reply,
        "unfounded": list(asked.unfounded or ()),
    }


def _share_answered(asked: Sequence[AskedQuestion]) -> float | None:
    return compute_share(sum(one.is_answered for one in asked), len(asked)) if asked else None


def _share_refused(asked: Sequence[AskedQuestion]) -> float | None:
    return compute_share(sum(not one.is_answered for one in asked), len(asked)) if asked else None


def _write_page(number: int, row: Mapping[str, Any]) -> str:
    """A corpus row as a document of plain paragraphs; with the number, since ingestion takes equal files once."""
    lines = (html.escape(line.strip()) for line in row["text"].split("\n"))
    title = html.escape(row.get("title") or "")
    body = "".join(f"<p>{line}</p>" for line in lines if line)
    head = f'<meta charset="utf-8"><title>{title}</title>'
    return f"<!-- {number} --><html><head>{head}</head><body>{body}</body></html>"
