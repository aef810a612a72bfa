"""Everything that reads a model, on what real ones replied."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from agents.claim_reader import ClaimReader
from agents.errors import UnreadableReply
from agents.generator import PAGE, Citation, Degraded, Judged, Piece, Unanswered, Withdrawn
from agents.judge import Judge, ReaderOptions
from agents.llm.calls import RecordedModel, record_calls
from agents.llm.chat import ChatMessage, WordPair
from agents.llm.critique import read_critique
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.fallback import FallbackGenerator
from agents.llm.metered_model import MeteredModel
from agents.llm.word_choice import choose_by_probability
from agents.llm.writer import ModelGenerator
from agents.model_reading import ModelReading, RewriteGuard, read_understanding
from agents.profile import TenantProfile
from agents.prompt_library import load_shipped_prompts
from agents.reader import PassageReader
from agents.types import ModelCall, Usage
from agents.verification.marks import MarkScanner
from agents.verification.reply import GroundedReply, LastExchange, judge_by_words
from agents.verification.support import Support, SupportChecker
from knowledge.text import fold
from scripts.scripted_llm import Say
from tests.agents.models import reply_of, scripted
from tests.agents.support import ANALYZER, collect_pieces
from tests.recorded import RecordedReply, load_replies

EXAMPLES = load_shipped_prompts().extract_examples("understanding")


def understood(recorded: RecordedReply) -> ModelReading | None:
    """None where it cannot be read."""
    try:
        return read_understanding(recorded.reply, RewriteGuard(recorded.asked, ANALYZER, EXAMPLES))
    except UnreadableReply:
        return None


def streamed(recorded: RecordedReply, size: int) -> list[Piece]:
    """A recorded answer as it comes in pieces of a size."""
    request = recorded.request
    before = LastExchange(*recorded.before[-1]) if recorded.before else None
    checker = SupportChecker(request.chunks, request.question)
    reply, scanner = GroundedReply(checker, 3, request.question, before), MarkScanner()
    text = recorded.reply
    parts = [part for at in range(0, len(text), size) for part in scanner.scan_text(text[at : at + size])]
    return list(judge_by_words(reply, checker, [*parts, *scanner.flush_rest()]))


def reads_strictly(reply: str) -> bool:
    try:
        json.loads(reply)
    except ValueError:
        return False
    return True


def test_there_is_something_to_read_of_every_kind_and_of_both_models() -> None:
    kinds = {kind: load_replies(kind) for kind in ("understanding", "answer", "critique")}
    assert all(kinds.values())
    assert {recorded.model for replies in kinds.values() for recorded in replies} == MODELS


def test_more_is_read_than_is_json_and_what_is_read_keeps_to_the_message() -> None:
    replies = load_replies("understanding")
    found = [(recorded, read) for recorded in replies if (read := understood(recorded)) is not None]
    assert len(found) > sum(reads_strictly(recorded.reply) for recorded in replies)
    assert len(found) >= 0.95 * len(replies)
    for recorded, read in found:
        said = fold("\n".join((recorded.question, *(text for pair in recorded.before for text in pair))))
        assert not EXAMPLES & {fold(question) for question in read.questions}
        assert all(fold(words).strip() in fold(recorded.question) for words in read.slots.values())
        digits = {character for question in read.questions for character in question if character.isdigit()}
        assert digits <= set(said)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_an_answer_is_the_same_however_it_comes_and_nothing_is_taken_back(size: int) -> None:
    for recorded in load_replies("answer"):
        pieces = streamed(recorded, size)
        assert reply_of(pieces) == reply_of(streamed(recorded, 3)), recorded.reply
        assert not any(isinstance(piece, Withdrawn) for piece in pieces)


def test_what_is_sent_of_an_answer_is_said_by_the_fragment_that_it_cites() -> None:
    outcomes: Counter[str] = Counter()
    for recorded in load_replies("answer"):
        pieces, chunks = streamed(recorded, 5), recorded.request.chunks
        checker = SupportChecker(chunks, recorded.request.question)
        [judged] = [piece for piece in pieces if isinstance(piece, Judged)]
        cited = [piece for piece in pieces if isinstance(piece, Citation)]
        assert all(citation.fragment in chunks and citation.fragment != PAGE for citation in cited)
        assert all(checker.check_sentence(claim).support is Support.SUPPORTED for claim in judged.supported)
        sent = {part.strip() for part in re.split(r"(?<=[。！？?])|\[\d+\]|\n", reply_of(pieces))}
        assert not sent & (set(judged.dropped) - set(judged.supported))
        assert bool(judged.supported) == bool(reply_of(pieces))
        outcomes["sent" if judged.supported else "cannot" if Unanswered() in pieces else "withheld"] += 1
    assert min(outcomes["sent"], outcomes["cannot"], outcomes["withheld"]) > 0


class Replayed:
    """A model that says again what a real one said to the shipped examples."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self._replies = [recorded for recorded in load_replies(kind) if recorded.model == name]

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        asked = messages[-1]["content"]
        recorded = next(each for each in self._replies if f"\n{each.question}\n</" in asked)
        return choose_by_probability(recorded.first, words), Usage(calls=1)


@pytest.mark.parametrize(
    ("name", "judge", "least", "most"),
    [
        ("1.5b", PassageReader, 0.85, 0.95),
        ("0.5b", PassageReader, 0.0, 0.8),
        ("1.5b", ClaimReader, 0.75, 0.85),
        ("0.5b", ClaimReader, 0.0, 0.8),
    ],
)
async def test_what_the_word_of_a_real_model_is_worth_is_found_out(
    name: str, judge: type[Judge], least: float, most: float
) -> None:
    quality = await judge(Replayed(name, judge.kind.scorer), ReaderOptions(seconds=20.0)).measure()
    assert quality.auroc is not None and least <= quality.auroc < most
    assert quality.worthless == (quality.calibration is None) == (least < judge.kind.least)


def test_a_critique_is_read_or_refused() -> None:
    for recorded in load_replies("critique"):
        try:
            critique = read_critique(recorded.reply, len(recorded.claims), list(recorded.passages))
        except UnreadableReply:
            continue
        assert len(critique.supported) == len(recorded.claims) and 0 <= critique.quality <= 100


async def test_a_whole_answer_costs_what_it_cost_and_ends_in_what_holds_or_in_quotes() -> None:
    calls: list[ModelCall] = []
    spent: list[Usage] = []

    class Account:
        async def allow(self) -> None:
            pass

        def record_usage(self, model: str, usage: Usage) -> None:
            spent.append(usage)

        def count_unreadable(self, provider: str, model: str) -> None:
            raise AssertionError("an answer has no shape")

    for recorded in load_replies("answer")[:20]:
        async with scripted(Say(recorded.reply)) as llm:
            model = MeteredModel(
                RecordedModel(llm.model, "test", lambda usage: usage.completion_tokens / 1000), Account()
            )
            writer = ModelGenerator(model, TenantProfile(), 3, 800)
            chain = FallbackGenerator([writer], ExtractiveGenerator(ANALYZER, 3))
            with record_calls(calls.append):
                pieces = await collect_pieces(chain, recorded.request)
        assert reply_of(pieces) or Unanswered() in pieces
        if Degraded("ungrounded") in pieces:
            quoted = [line for piece in pieces if isinstance(piece, Citation) for line in piece.quote.splitlines()]
            assert quoted and all(line in _texts(recorded) for line in quoted)
    assert len(calls) == 20 and sum(spent, Usage()) == sum((call.usage for call in calls), Usage())
    assert sum(call.cost for call in calls) == pytest.approx(sum(spent, Usage()).completion_tokens / 1000)


def _texts(recorded: RecordedReply) -> str:
    return "\n".join(chunk.text for chunk in recorded.passages.values())


MODELS = {"0.5b", "1.5b"}
