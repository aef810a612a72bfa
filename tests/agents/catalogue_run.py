"""What the knowledge agent answers over a catalogue, judged by the numbers and codes in its replies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.types import NOTHING_FOUND, Answer, AnswerEvent, Evidence, Outcome, Question
from agents.understanding.spelling import correct_spelling
from agents.understanding.utterance import Utterance
from knowledge.chunking import ChunkOptions, split_document
from knowledge.embeddings.base import Embedder
from knowledge.evaluation.runner import build_retriever
from knowledge.parsing.registry import parse
from knowledge.text import Analyzer
from knowledge.types import Chunk, DocumentMeta, Retrieval
from tests.agents.catalogues import Catalogue, CodeQuestion, plain_form

ANSWERED = frozenset({Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED, Outcome.LOW_CONFIDENCE})
_WRITTEN = re.compile(r"[A-Za-z0-9０-９Ａ-Ｚａ-ｚ]+(?:[-_./–－＿．／][A-Za-z0-9０-９Ａ-Ｚａ-ｚ]+)*")


@dataclass(frozen=True, slots=True)
class Judged:
    """found: whether the first passage has the product; right: whether its value is told; other: whether another one's
    is; strange: codes that are offered and not in the base.
    """

    question: CodeQuestion
    reply: str
    found: bool
    right: bool
    other: bool
    strange: tuple[str, ...]


async def judged_catalogue(catalogue: Catalogue, embedder: Embedder) -> list[Judged]:
    """All questions of a catalogue, asked over its documents alone."""
    analyzer = Analyzer()
    chunks = [chunk for number, document in enumerate(catalogue.documents) for chunk in _chunks(number, *document)]
    async with build_retriever(chunks, embedder, analyzer) as retriever:
        policy = KnowledgePolicy(0.75, TenantProfile())
        agent = KnowledgeAgent(retriever, ExtractiveGenerator(analyzer, 3), policy)
        results = []
        for asked in catalogue.questions:
            question = Question(await correct_spelling(retriever.speller, Utterance(asked.text)))
            events: list[AnswerEvent] = []
            answer = await agent.run(question, NOTHING_FOUND, events.append)
            retrieval = next((event.retrieval for event in events if isinstance(event, Evidence)), None)
            results.append(_judged(catalogue, asked, answer, retrieval))
        return results


def _chunks(number: int, name: str, text: str) -> list[Chunk]:
    parsed = parse(name, text.encode())
    document = DocumentMeta(f"d{number}", name, parsed.title)
    return split_document(parsed, document, f"v{number}", ChunkOptions())


def _judged(catalogue: Catalogue, asked: CodeQuestion, answer: Answer, retrieval: Retrieval | None) -> Judged:
    told = set(re.findall(r"\d+", answer.reply)) if answer.outcome in ANSWERED else set()
    others = {str(number) for item in catalogue.items if item is not asked.item for number in item.values.values()}
    first = retrieval.candidates[0].chunk.indexed_text if retrieval and retrieval.candidates else ""
    held = {plain_form(item.code) for item in catalogue.items}
    offered = {form for text in answer.suggestions for form in _forms(text)}
    return Judged(
        asked,
        f"{answer.outcome.value}: {answer.reply}",
        asked.item is not None and _has(first, asked.item.code),
        asked.item is not None and str(asked.item.values[asked.field]) in told,
        bool(told & others),
        tuple(sorted(form for form in offered if _looks_like_code(form) and not _is_held(form, held))),
    )


def _forms(text: str) -> set[str]:
    return {plain_form(match) for match in _WRITTEN.findall(text)}


def _has(text: str, code: str) -> bool:
    """Whether a text has a code; its parts beside each other where blanks are in it."""
    forms = [plain_form(match) for match in _WRITTEN.findall(text)]
    size = len(code.split())
    return any("".join(forms[at : at + size]) == plain_form(code) for at in range(len(forms)))


def _is_held(form: str, held: set[str]) -> bool:
    """As a code of the catalogue, or as what stands in one behind its maker."""
    return form in held or any(code.endswith(form) and code[: -len(form)].isalpha() for code in held)


def _looks_like_code(form: str) -> bool:
    return any(map(str.isdigit, form)) and (len(form) > 4 or not form.isdigit())


def summary(judged: Iterable[Judged]) -> dict[str, float]:
    """Shares: of held codes found first and answered rightly, of all told another product's value; and how many
    questions offer a code that the base has not got.
    """
    counts: Counter[str] = Counter()
    for one in judged:
        kind = "held" if one.question.item else "unheld"
        counts[kind] += 1
        counts["found"] += one.found
        counts["right"] += one.right and not one.other
        counts[f"{kind}_other"] += one.other
        counts["strange"] += bool(one.strange)
    held = max(counts["held"], 1)
    return {
        "held": counts["held"],
        "unheld": counts["unheld"],
        "found_first": round(counts["found"] / held, 4),
        "right": round(counts["right"] / held, 4),
        "other_told": counts["held_other"],
        "other_told_of_unheld": counts["unheld_other"],
        "strange_offers": counts["strange"],
    }
