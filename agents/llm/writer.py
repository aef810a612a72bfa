"""The generator that lets a language model write, and checks each sentence against the fragments."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Protocol

from agents.answering.claim_meaning import PassageMeaning
from agents.answering.meaning import Meaning
from agents.generator import PAGE, Request, Spent, TakePiece
from agents.llm.chat import ChatMessage, ChatModel, Cut
from agents.passages.quotable import is_safe_text
from agents.passages.units import split_quotable_sentences
from agents.profile import TenantProfile
from agents.prompt_library import PromptedMessages, Prompts, join_lines, load_shipped_prompts
from agents.types import Thinking, Usage
from agents.understanding.state import Turn
from agents.verification.marks import Mark, MarkScanner, strip_marks
from agents.verification.names import load_dictionary_names
from agents.verification.reply import GroundedReply, LastExchange, WrittenClaim
from agents.verification.support import Finding, Support, SupportChecker
from knowledge.blocks import Layout
from knowledge.types import Chunk

# Of each earlier question and reply: enough to know what was talked about.
MAX_HISTORY_CHARS = 300


class Objections(Protocol):
    """What a model objects to; see `ClaimObjections`."""

    async def find_objection(self, claim: str, question: str, chunks: Sequence[Chunk]) -> bool:
        """Whether none of the chunks states the claim."""


class ModelGenerator:
    """Streams what the model writes, sentence by sentence as each is checked. It stops where the main sentence does not
    hold.
    """

    name = "model"

    def __init__(
        self,
        model: ChatModel,
        profile: TenantProfile,
        max_sources: int,
        max_chunk_chars: int,
        prompts: Prompts | None = None,
        objections: Objections | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        """Args:
        model: writes the reply.
        profile: the tenant's.
        max_sources: fragments cited at most.
        max_chunk_chars: of a fragment in the prompt.
        prompts: those in force.
        objections: a model's, to sentences that the check without a model accepts.
        meaning: of sentences, None checks by words alone.
        """
        self._objections, self._meaning = objections, meaning
        self._model = model
        self._prompts = prompts or load_shipped_prompts()
        self._instructions = self._prompts.build_instructions(profile, max_sources)
        self._profile = profile
        self._max_sources = max_sources
        self._max_chunk_chars = max_chunk_chars
        load_dictionary_names()  # half a second that no customer should wait for

    async def write(self, request: Request, take: TakePiece) -> None:
        """See `Generator.write`. Without fragments nothing is asked and nothing written."""
        if not request.chunks:
            return
        checker = SupportChecker(request.chunks, request.question, english=request.english, computed=request.computed)
        before = next((_build_exchange(turn) for turn in request.history[-1:] if not turn.rows), None)
        meant = PassageMeaning(self._meaning, request.chunks, request.question) if self._meaning else None
        reply = GroundedReply(checker, self._max_sources, request.question, before)
        scanner = MarkScanner()
        cut, ended, checking = False, False, 0.0
        async with aclosing(self._model.stream(self._build_messages(request))) as parts:
            while not ended:
                part = None if reply.failed else await anext(parts, None)
                ended = part is None
                if isinstance(part, Usage):
                    take(Spent(part, model=self._model.name))
                elif isinstance(part, Thinking):
                    take(part)
                elif isinstance(part, Cut):
                    cut = True
                else:
                    started = time.perf_counter()
                    for claim in _cut_claims(part, scanner, reply, cut=cut):
                        finding = await self._judge_claim(claim, request, checker, meant)
                        for piece in reply.settle_claim(claim, finding):
                            take(piece)
                    checking += time.perf_counter() - started
        for piece in reply.end_reply():
            take(piece)
        take(Spent(Usage(), checking * 1000))

    async def _judge_claim(
        self, claim: WrittenClaim, request: Request, checker: SupportChecker, meant: PassageMeaning | None
    ) -> Finding:
        """Returns what the fragments say of a claim: by its words, by its meaning where it can be embedded, and by a
        model that may object to what stands in other words than those of a fragment.

        meant: embeds claims; None where no embedder is used.
        """
        text = claim.sentence
        weighed = meant is not None and checker.is_weighed_by_meaning(text)
        meaning = await meant.embed_claim(text) if meant is not None and weighed else None
        finding = checker.check_sentence(text, claim.cited_numbers, meaning)
        if self._objections is None or not finding.fragments or finding.quoted:
            return finding
        chunks = [request.get_chunk(number) for number in finding.fragments]
        objects = await self._objections.find_objection(text, request.question, chunks)
        return Finding(Support.UNSUPPORTED) if objects else finding

    def _build_messages(self, request: Request) -> PromptedMessages:
        """Returns the rules, the conversation, then the fragments between marks that nobody can guess."""
        labelled = (self._format_fragment(number, chunk) for number, chunk in request.chunks.items())
        prompt = self._prompts.fill(
            "question",
            tag=secrets.token_hex(8),
            fragments="\n\n".join(labelled),
            question=join_lines(request.question),
            asked=join_lines(request.original_question) if request.original_question != request.question else "",
            summary=join_lines(request.summary),
            pictured=join_lines(request.pictured),
            computed=join_lines(request.computed),
        )
        system = {"role": "system", "content": self._instructions}
        messages = [system, *_build_history(request.history), {"role": "user", "content": prompt}]
        return self._prompts.build_messages("answer", "profile", "question", messages=messages)

    def _format_fragment(self, number: int, chunk: Chunk) -> str:
        """Number and heading on a line, then the text, without the sentences that address a model."""
        headings = [chunk.document.title, *chunk.heading_path, chunk.question or ""]
        heading = " > ".join(dict.fromkeys(join_lines(part) for part in headings if part and is_safe_text(part)))
        label = f"[{number + 1}]" if number != PAGE else "[0]（顾客正在看的网页）"
        return f"{label} {heading}\n{format_prompt_text(chunk.text, self._max_chunk_chars, chunk.layout)}"


def _cut_claims(part: str | None, scanner: MarkScanner, reply: GroundedReply, *, cut: bool) -> Iterator[WrittenClaim]:
    """Writes a part of the model's text into the reply, and yields the claims that are complete with it; None ends the
    text. cut: it ended at a limit.
    """
    for piece in scanner.scan_text(part) if part is not None else scanner.flush_rest():
        yield from reply.write_part(_convert_mark(piece))
    if part is None:
        yield from reply.end_text(cut=cut)


def _convert_mark(piece: str | Mark) -> str | Mark:
    """Returns a mark with the request's numbers; the prompt counts fragments from 1, and the page as 0."""
    return piece if isinstance(piece, str) else Mark(tuple(number - 1 if number else PAGE for number in piece.numbers))


def format_prompt_heading(chunk: Chunk) -> str:
    """Returns the headings above a passage, without those that address a model."""
    named = (chunk.context, chunk.question or "")
    return " > ".join(join_lines(part) for part in named if part and is_safe_text(part))


def format_prompt_text(text: str, max_chars: int, layout: Layout | None = None) -> str:
    """Returns the sentences that may be quoted, line by line as they stood, up to `max_chars`."""
    lines: dict[int, str] = {}
    size = 0
    for sentence in split_quotable_sentences(text, layout)[0]:
        size += len(sentence.text) + (sentence.line not in lines)
        if size > max_chars:
            break
        lines[sentence.line] = lines.get(sentence.line, "") + sentence.text
    return "\n".join(lines.values())


def _build_exchange(turn: Turn) -> LastExchange:
    return LastExchange(turn.utterance.expanded_text, strip_marks(turn.reply))


def _build_history(turns: Iterable[Turn]) -> Iterator[ChatMessage]:
    for turn in turns:
        reply = strip_marks(turn.reply)[:MAX_HISTORY_CHARS]
        if reply and not turn.rows:
            yield {"role": "user", "content": turn.utterance.original[:MAX_HISTORY_CHARS]}
            yield {"role": "assistant", "content": reply}
