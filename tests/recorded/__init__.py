"""What real models replied to our own prompts about invented companies, ugly ones first.

Qwen2.5-Coder-0.5B and 1.5B Instruct, 4 bit, at temperature 0, in conversations over the documents of a company: every
message was understood, answered from the passages whose words it shares, and what was written was judged. Their texts
are run through everything that reads them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agents.generator import Request
from agents.types import Question
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.registry import parse
from knowledge.types import Candidate, Chunk, DocumentMeta, GateVerdict

FILE = Path(__file__).with_name("replies.jsonl")


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """One reply and what it was asked with."""

    model: str
    kind: str
    company: str
    question: str
    reply: str
    tokens: tuple[int, int]
    before: tuple[tuple[str, str], ...] = ()
    chunks: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    # Of a judgement: the likeliest first tokens with their log-probabilities.
    first: tuple[tuple[str, float], ...] = ()

    @property
    def asked(self) -> Question:
        return Question(Utterance(self.question), history=self._history)

    @property
    def request(self) -> Request:
        """What the answer was written from."""
        standalone = f"{self.before[-1][0]} {self.question}" if self.before else self.question
        found = tuple(
            Candidate(chunk, 1, 1, 0.8, 5.0, 0.01, "test", 0.8, 0.9, GateVerdict.PASS)
            for chunk in self.passages.values()
        )
        return Request(standalone, found, history=self._history)

    @property
    def passages(self) -> dict[int, Chunk]:
        """By the numbers of the prompt of a critique."""
        company = _load_company(self.company)
        return {number: company[key] for number, key in enumerate(self.chunks, start=1)}

    @property
    def _history(self) -> tuple[Turn, ...]:
        return tuple(Turn(Utterance(question), reply) for question, reply in self.before)


@cache
def load_replies(kind: str) -> tuple[RecordedReply, ...]:
    """Those of a kind: understanding, answer, critique, and the judgements `reader` and `claim_reader`."""
    rows = map(json.loads, FILE.read_text("utf-8").splitlines())
    return tuple(_reply(row) for row in rows if row["kind"] == kind)


@cache
def _load_company(name: str) -> dict[str, Chunk]:
    """All chunks of a company's documents, by file and place."""
    chunks = {}
    for path in sorted(Path(__file__).parents[1].joinpath("evaluation", name, "documents").iterdir()):
        document = DocumentMeta(path.name, path.name, path.stem)
        for chunk in split_document(parse(path.name, path.read_bytes()), document, path.name, ChunkOptions()):
            chunks[f"{path.name}#{chunk.ordinal}"] = chunk
    return chunks


def _reply(row: dict[str, Any]) -> RecordedReply:
    before = tuple((question, reply) for question, reply in row["before"])
    return RecordedReply(
        row["model"],
        row["kind"],
        row["company"],
        row["question"],
        row["reply"],
        (row["tokens"][0], row["tokens"][1]),
        before,
        tuple(row.get("chunks", ())),
        tuple(row.get("claims", ())),
        tuple((token, chance) for token, chance in row.get("first", ())),
    )
