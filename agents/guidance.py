"""Finds what the knowledge base says to do first in a danger. It is quoted word for word, and nothing else is."""

from __future__ import annotations

from dataclasses import dataclass

from agents.answering.meaning import Meaning
from agents.draft import build_source
from agents.heads.guidance import GuidanceHead
from agents.passages.units import build_passage
from agents.types import Findings, Source
from agents.understanding.reading import read

# Of a quote: who is in danger reads no more.
MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class GuidanceQuote:
    """Sentences of one place of a document, and their source."""

    text: str
    source: Source


class Guidance:
    """Looks for guidance among the fragments that were found for a message."""

    def __init__(self, head: GuidanceHead, meaning: Meaning) -> None:
        """meaning: of the embedder that the head was fitted on."""
        self._head = head
        self._meaning = meaning

    async def find_quote(self, findings: Findings) -> GuidanceQuote | None:
        """Returns the sentences of one heading that guide and name no price; the heading is that of the sentence
        nearest to the message.

        None where there are none, or where their vectors do not come in time.
        """
        vector_alone = findings.vectors.alone
        if findings.retrieval is None or vector_alone is None:
            return None
        candidates = [
            candidate for candidate in findings.retrieval.passing_candidates if not candidate.chunk.is_in_view
        ]
        passages = [build_passage(number, candidate.chunk) for number, candidate in enumerate(candidates)]
        places = [(passage, index) for passage in passages for index in range(len(passage.sentences))]
        vectors = await self._meaning.load_vectors([passage.get_text_in_place(index) for passage, index in places])
        if vectors is None:
            return None
        nearness = (vectors @ vector_alone).tolist()
        guiding = [
            (nearness_here, passage, index)
            for (passage, index), vector, nearness_here in zip(places, vectors, nearness, strict=True)
            if self._head.is_guidance(vector) and not _names_price(passage.sentences[index].text)
        ]
        if not guiding:
            return None
        _, passage, best = max(guiding, key=lambda place: place[0])
        heading = passage.headings[best]
        beside = [i for _, other, i in guiding if other is passage and passage.headings[i] == heading]
        quoted = _limit_chars([passage.sentences[index].text for index in beside])
        return GuidanceQuote(
            "\n".join(quoted) + "[1]", build_source(1, passage.fragment, candidates[passage.fragment], quoted)
        )


def _names_price(text: str) -> bool:
    return any(entity.kind == "amount" for entity in read(text).mentions.certain)


def _limit_chars(texts: list[str]) -> list[str]:
    """Returns the first texts that have no more than MAX_CHARS characters together, at least one."""
    total, kept = 0, list[str]()
    for text in texts:
        total += len(text)
        if kept and total > MAX_CHARS:
            break
        kept.append(text)
    return kept
