"""How well the check of answers that needs no model tells true from false."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from agents.types import Outcome
from agents.verification.marks import strip_marks
from agents.verification.reply import judge_reply
from agents.verification.support import Support, SupportChecker
from knowledge.evaluation.metrics import compute_mean
from knowledge.evaluation.report import CONTEXT_FRAGMENTS
from knowledge.evaluation.runner import QuestionResult
from knowledge.types import Candidate, Chunk, DocumentMeta, GateVerdict
from scripts.evaluation.corruptions import KINDS, Pool, corrupt_answer, reword_answer

SEED = 20240607
_SHOWN = 5


def measure_counterfactuals(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """rows: `question`, `docs` that contradict the world, `answer` of the world, `fake_answer` of the documents.

    pairs_right: the documents' answer is supported and the world's is not.
    """
    documents, world = [], []
    for row in rows:
        fragments = {number: _build_chunk(number, text) for number, text in enumerate(row["docs"], start=1)}
        checker = SupportChecker(fragments, row["question"])
        documents.append(checker.check_sentence(row["fake_answer"]).support is Support.SUPPORTED)
        world.append(checker.check_sentence(row["answer"]).support is Support.UNSUPPORTED)
    right = [all(pair) for pair in zip(documents, world, strict=True)]
    wrong = [row["id"] for row, ok in zip(rows, right, strict=True) if not ok]
    return {
        "pairs": len(rows),
        "pairs_right": compute_mean(right),
        "documents_supported": compute_mean(documents),
        "world_unsupported": compute_mean(world),
        "wrong": wrong,
    }


def measure_corruptions(results: Sequence[QuestionResult], texts: Sequence[str], seed: int = SEED) -> dict[str, Any]:
    """results: of questions, of which those that were answered count; texts: all documents, from which wrong names and
    foreign sentences are taken.

    caught: share of spoiled answers in which a sentence does not hold; false_flags: the same for answers as they were
    and for harmless rewordings of them.
    """
    chance, pool = random.Random(seed), Pool.from_texts(texts)
    caught: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    flags: dict[str, list[bool]] = {"verbatim": [], "reworded": []}
    missed: dict[str, list[str]] = {name: [] for name in (*KINDS, *flags)}
    answered = [result for result in results if result.reply.outcome == Outcome.ANSWERED]
    for result in answered:
        fragments = {number: c.chunk for number, c in enumerate(_find_evidence(result), start=1)}
        evidence = "\n".join(f"{chunk.context}\n{chunk.question or ''}\n{chunk.text}" for chunk in fragments.values())
        reply = strip_marks(result.reply.text)

        def found(text: str, question: str = result.question.text, known: Mapping[int, Chunk] = fragments) -> bool:
            return bool(judge_reply(text, SupportChecker(known, question))[1].dropped)

        for kind in KINDS:
            spoiled = corrupt_answer(kind, reply, evidence, pool, chance)
            if spoiled is not None and spoiled != reply:
                caught[kind].append(found(spoiled))
                missed[kind] += [] if caught[kind][-1] else [spoiled]
        for name, text in (("verbatim", reply), ("reworded", reword_answer(reply, chance))):
            flags[name].append(found(text))
            missed[name] += [text] if flags[name][-1] else []
    return {
        "answers": len(answered),
        "spoiled": sum(map(len, caught.values())),
        "caught": compute_mean(hit for hits in caught.values() for hit in hits),
        "caught_by_kind": {kind: compute_mean(hits) for kind, hits in caught.items()},
        "false_flags": compute_mean(flag for hits in flags.values() for flag in hits),
        "false_flags_by_kind": {name: compute_mean(hits) for name, hits in flags.items()},
        "examples": {name: texts[:_SHOWN] for name, texts in missed.items()},
    }


def _find_evidence(result: QuestionResult) -> list[Candidate]:
    """What the answer was written from."""
    return [c for c in result.retrieval.candidates[:CONTEXT_FRAGMENTS] if c.verdict is GateVerdict.PASS]


def _build_chunk(number: int, text: str) -> Chunk:
    return Chunk(f"c{number}", DocumentMeta(f"d{number}", f"{number}.txt", ""), 0, text, entry=f"c{number}")
