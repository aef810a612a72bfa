"""The generator that lets a language model write, and checks each sentence against the fragments."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Protocol

from agents.answering.claim_meaning import PassageMeaning
from agents.answering.meaning import Meaning
from agents.generator import PAGE, Claimed, Doubt, Piece, Request, Spent, TakePiece
from agents.llm.chat import ChatMessage, ChatModel, Cut
from agents.passages.quotable import is_safe_text
from agents.passages.units import split_quotable_sentences
from agents.profile import TenantProfile
from agents.prompt_library import PromptedMessages, Prompts, join_lines, load_shipped_prompts
from agents.types import Thinking, Usage
from agents.understanding.state import Turn
from agents.verification.marks import Mark, MarkScanner, strip_marks
from agents.verification.meaning import ClaimMeaning
from agents.verification.names import load_dictionary_names
from agents.verification.reply import GroundedReply, LastExchange, Pieces
from agents.verification.support import SupportChecker
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
        doubts = self._objections is not None
        meant = PassageMeaning(self._meaning, request.chunks, request.question) if self._meaning else None
        claimed = meant is not None
        reply = GroundedReply(checker, self._max_sources, request.question, before, doubts=doubts, claimed=claimed)
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
                    for pieces in _write_part(part, scanner, reply, cut=cut):
                        answer: bool | ClaimMeaning | None = None
                        while (piece := _send_answer(pieces, answer)) is not None:
                            answer = None
                            if isinstance(piece, Claimed | Doubt):
                                answer = await self._settle_doubt(piece, request, meant)
                            else:
                                take(piece)
                    checking += time.perf_counter() - started
        take(Spent(Usage(), checking * 1000))

    async def _settle_doubt(
        self, piece: Claimed | Doubt, request: Request, meant: PassageMeaning | None
    ) -> bool | ClaimMeaning | None:
        """Finds out what the reply's check cannot compute by itself.

        Args:
            piece: A claim whose meaning is needed, or a doubt that a model has to settle.
            request: The question and its fragments.
            meant: Embeds claims; None where no embedder is used.

        Returns:
            The vectors of a claim; whether the model objects to a doubtful claim; None where nobody can tell.
        """
        if isinstance(piece, Claimed):
            return await meant.embed_claim(piece.claim) if meant is not None else None
        if self._objections is None:
            return None
        chunks = [request.get_chunk(number) for number in piece.fragments]
        return await self._objections.find_objection(piece.claim, request.question, chunks)

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


def _write_part(part: str | None, scanner: MarkScanner, reply: GroundedReply, *, cut: bool) -> Iterator[Pieces]:
    """Writes a part of the model's text into the reply; None ends it. cut: the text ended at a limit."""
    if part is not None:
        yield from (reply.write_part(_convert_mark(piece)) for piece in scanner.scan_text(part))
        return
    yield from (reply.write_part(piece) for piece in scanner.flush_rest())
    yield reply.end_reply(cut=cut)


def _send_answer(pieces: Pieces, answer: bool | ClaimMeaning | None) -> Piece | None:
    """Sends the answer to the last piece, None for none, and returns the next piece; None at the end."""
    try:
        return pieces.send(answer)
    except StopIteration:
        return None


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
