"""Records what a real model replies to our own prompts about invented companies, for tests that run without one:
`python scripts/record_replies.py --url http://127.0.0.1:9015/v1 --model 1.5b --out replies.jsonl --count 150`.

Conversations are played over the documents of a company: every message is understood, answered from the passages whose
words it shares, and what was written is judged. Half of what is asked for as JSON is asked for in the prompt alone.
`--judgements` asks for the one token of every shipped example instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.claim_reader import ClaimReader
from agents.generator import Request
from agents.judge import Judge, ReaderOptions, list_measuring_examples
from agents.llm.chat import ChatMessage, ModelOptions, WordPair
from agents.llm.critique import Critic
from agents.llm.endpoint import EndpointModel
from agents.llm.word_choice import choose_by_probability, read_alternatives
from agents.llm.writer import ModelGenerator
from agents.model_reading import ModelReader
from agents.profile import TenantProfile
from agents.prompt_library import PromptedMessages
from agents.reader import PassageReader
from agents.types import Question, Usage
from agents.understanding.state import Turn
from agents.understanding.utterance import RewriteKind, Utterance
from agents.verification.marks import strip_marks
from agents.verification.wording import extract_pairs
from knowledge.chunking import ChunkOptions, split_document
from knowledge.parsing.registry import parse
from knowledge.text import Analyzer, fold
from knowledge.types import Candidate, Chunk, DocumentMeta, GateVerdict

ROOT = Path(__file__).resolve().parents[1]
COMPANIES = {
    "property": ROOT / "tests/evaluation/property",
    "insurer": ROOT / "tests/evaluation/insurer",
}
PASSAGES, QUOTED, SECONDS = 3, 80, 600.0
# Of the likeliest first tokens.
KEPT = 8
PLAIN = {"response_format": None}


def load_company(name: str) -> dict[str, Chunk]:
    """All chunks of a company's documents, by file and place."""
    chunks = {}
    for path in sorted(COMPANIES[name].joinpath("documents").iterdir()):
        document = DocumentMeta(path.name, path.name, path.stem)
        for chunk in split_document(parse(path.name, path.read_bytes()), document, path.name, ChunkOptions()):
            chunks[f"{path.name}#{chunk.ordinal}"] = chunk
    return chunks


def find_passages(question: str, chunks: Mapping[str, Chunk]) -> list[str]:
    """The chunks that share most rare pairs of characters with a question, best first."""
    pairs = {
        key: extract_pairs(fold(f"{chunk.context} {chunk.question or ''} {chunk.text}"))
        for key, chunk in chunks.items()
    }
    common = Counter(pair for own in pairs.values() for pair in own)
    asked = extract_pairs(fold(question))
    scores = {key: sum(1 / common[pair] for pair in asked & own) for key, own in pairs.items()}
    return sorted(scores, key=lambda key: -scores[key])[:PASSAGES]


def candidates_of(chunks: Sequence[Chunk]) -> tuple[Candidate, ...]:
    """Chunks as the search hands them over."""
    return tuple(Candidate(chunk, 1, 1, 0.8, 5.0, 0.01, "test", 0.8, 0.9, GateVerdict.PASS) for chunk in chunks)


class Recorder:
    """Asks one model, and writes every reply down at once."""

    def __init__(self, url: str, model: str, out: Path) -> None:
        options = ModelOptions(model, url, "none", silence=SECONDS, total=SECONDS, max_tokens=160)
        plain = ModelOptions(model, url, "none", silence=SECONDS, total=SECONDS, max_tokens=160, parameters=PLAIN)
        self._model, self._out = model, out
        self._shaped, self._plain = EndpointModel(options), EndpointModel(plain)
        self.written = 0

    async def play(self, company: str, says: Sequence[str], chunks: Mapping[str, Chunk], *, written: bool) -> None:
        """One conversation. written: whether the model answers too; else it is only asked to understand, and the
        beginning of the best passage is what was replied.
        """
        history: tuple[Turn, ...] = ()
        for place, text in enumerate(says):
            model = self._plain if place % 2 else self._shaped
            utterance = Utterance(text)
            question = Question(utterance, history=history)
            row: dict[str, Any] = {"company": company, "question": text}
            row["before"] = [[turn.utterance.original, turn.reply] for turn in history]
            if history:
                asked = ModelReader(model, SECONDS, Analyzer())._build_messages(question)
                await self._complete(model, row | {"kind": "understanding"}, asked)
                utterance = utterance.add_rewrite(f"{history[-1].utterance.original} {text}", RewriteKind.KEPT)
            keys = find_passages(utterance.expanded_text, chunks)
            if not written:
                history = (*history, Turn(utterance, chunks[keys[0]].text[:QUOTED]))
                continue
            row["chunks"] = keys
            found = candidates_of([chunks[key] for key in keys])
            reply = await self._stream(
                row | {"kind": "answer"}, Request(utterance.expanded_text, found, history=history)
            )
            if place == 0:
                claims = [line for line in strip_marks(reply).splitlines() if line.strip()][:4]
                if claims:
                    fragments = {number: chunks[key] for number, key in enumerate(keys, start=1)}
                    row |= {"kind": "critique", "claims": claims}
                    await Critic(_Recording(self, model, row), SECONDS, 800).judge(text, reply, claims, fragments)
            history = (*history, Turn(utterance, reply))

    async def judge_examples(self, judge: type[Judge]) -> None:
        """The likeliest first tokens of what is said of the shipped examples that a model is measured by."""
        asking = _FirstTokens(self._shaped)
        reader = judge(asking, ReaderOptions(seconds=SECONDS))
        for example in list_measuring_examples(judge.kind):
            await reader._ask_model(reader._build_fields(example.text, ""), example.chunk, SECONDS)
            row = {"kind": judge.kind.scorer, "company": "examples", "question": example.text, "before": []}
            self._write(row | {"first": asking.alternatives}, asking.alternatives[0][0], Usage(1, 0, 1))

    async def _complete(self, model: EndpointModel, row: dict[str, Any], asked: PromptedMessages) -> str:
        reply, usage = await model.complete(asked, SECONDS)
        self._write(row | {"mode": "plain" if model is self._plain else "shaped"}, reply, usage)
        return reply

    async def _stream(self, row: dict[str, Any], request: Request) -> str:
        asked = ModelGenerator(self._shaped, TenantProfile(), PASSAGES, 800)._build_messages(request)
        parts, usage = [], Usage()
        async for part in self._shaped.stream(asked):
            if isinstance(part, str):
                parts.append(part)
            elif isinstance(part, Usage):
                usage += part
        self._write(row, "".join(parts), usage)
        return "".join(parts)

    def _write(self, row: Mapping[str, Any], reply: str, usage: Usage) -> None:
        told = {"model": self._model, **row, "reply": reply}
        told["tokens"] = [usage.prompt_tokens, usage.completion_tokens]
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
        self.written += 1
        print(self.written, row["kind"], reply[:60].replace("\n", " "), flush=True)

    async def close(self) -> None:
        """Closes the connections."""
        await self._shaped.close()
        await self._plain.close()


class _FirstTokens:
    """A model that is asked for one token, of which the alternatives are kept."""

    def __init__(self, model: EndpointModel) -> None:
        self.name, self._model = model.name, model
        self.alternatives: list[tuple[str, float]] = []

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """See `Chooser`."""
        reply = await self._model._request_json(messages, self._model._one_token)
        told = read_alternatives(reply["choices"][0])
        self.alternatives = [(token, round(chance, 4)) for token, chance in told[:KEPT]]
        return choose_by_probability(told, words), Usage(calls=1)


class _Recording:
    """A model whose one reply is written down."""

    def __init__(self, recorder: Recorder, model: EndpointModel, row: dict[str, Any]) -> None:
        self._recorder, self._model, self._row = recorder, model, row

    async def complete(self, messages: Any, seconds: float) -> tuple[str, Usage]:
        """See `Completer`."""
        return await self._recorder._complete(self._model, self._row, messages), Usage(calls=1)


def conversations() -> Iterator[tuple[str, list[str]]]:
    """Of both companies by turns."""
    rows = {
        name: [json.loads(line) for line in folder.joinpath("dialogues.jsonl").read_text("utf-8").splitlines()]
        for name, folder in COMPANIES.items()
    }
    for pair in zip(*rows.values(), strict=False):
        for name, row in zip(rows, pair, strict=True):
            yield name, [turn["say"] for turn in row["turns"]][:4]


async def main() -> None:
    """Plays conversations until enough is recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--understanding", action="store_true", help="record nothing else")
    parser.add_argument("--judgements", action="store_true", help="of the shipped examples, nothing else")
    parser.add_argument("--skip", type=int, default=0, help="conversations to leave out first")
    chosen = parser.parse_args()
    companies = {name: load_company(name) for name in COMPANIES}
    recorder = Recorder(chosen.url, chosen.model, chosen.out)
    for judge in (PassageReader, ClaimReader) if chosen.judgements else ():
        await recorder.judge_examples(judge)
    for company, says in list(conversations())[chosen.skip :]:
        if chosen.judgements or recorder.written >= chosen.count:
            break
        await recorder.play(company, says, companies[company], written=not chosen.understanding)
    await recorder.close()


if __name__ == "__main__":
    asyncio.run(main())
