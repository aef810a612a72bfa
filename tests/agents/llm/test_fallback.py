from __future__ import annotations

import pytest

from agents.errors import GenerationUnavailable
from agents.generator import Citation, Degraded, Generator, Piece, Spent, Text, Unanswered, Withdrawn
from agents.llm.extractive import ExtractiveGenerator
from agents.llm.fallback import FallbackGenerator
from scripts.scripted_llm import Behaviour, Say, Step
from tests.agents.models import RETURNS, by_default, reply_of, request, scripted
from tests.agents.support import ANALYZER, collect_pieces

ARRIVES = "退款在验货后 1～5 个工作日内到账。"
QUOTED = f"{RETURNS}[0]"
BEFORE = (
    Behaviour.STALL_FIRST,
    Behaviour.DROP_FIRST,
    Behaviour.TOO_MANY,
    Behaviour.BROKEN,
    Behaviour.UNAUTHORIZED,
    Behaviour.GARBAGE_BODY,
    Behaviour.EMPTY,
)
MIDWAY = (Behaviour.STALL_MIDWAY, Behaviour.DROP_MIDWAY, Behaviour.GARBAGE_STREAM)


def chain(*generators: Generator) -> FallbackGenerator:
    return FallbackGenerator(generators, ExtractiveGenerator(ANALYZER, 3))


async def written(*script: Step) -> list[Piece]:
    async with scripted(*script) as llm:
        return await collect_pieces(chain(by_default(llm)), request(RETURNS))


async def test_a_model_that_works_is_not_helped() -> None:
    pieces = await written(Behaviour.ANSWER)
    assert reply_of(pieces) == f"{ARRIVES}[0]"
    assert not any(isinstance(piece, Degraded | Withdrawn) for piece in pieces)


@pytest.mark.parametrize("fault", BEFORE)
async def test_an_outage_before_the_first_token_ends_in_quotes_and_is_marked(fault: Behaviour) -> None:
    pieces = await written(fault)
    assert reply_of(pieces) == QUOTED
    assert [piece for piece in pieces if isinstance(piece, Degraded | Withdrawn)] == [Degraded("llm")]


@pytest.mark.parametrize("fault", MIDWAY)
async def test_an_outage_midway_withdraws_what_was_written(fault: Behaviour) -> None:
    pieces = await written(fault)
    assert reply_of(pieces) == QUOTED
    assert [piece for piece in pieces if isinstance(piece, Degraded | Withdrawn)] == [Degraded("llm"), Withdrawn()]
    assert reply_of(pieces[: pieces.index(Withdrawn())]) == f"{ARRIVES}[0]"


@pytest.mark.parametrize(
    ("said", "marks"),
    [
        ("春天来了，花儿开了。", [Degraded("ungrounded")]),
        ("退款 ZX12AB34[1]。", [Degraded("ungrounded")]),
        (f"退款要 99 天[1]。{ARRIVES}[1]", [Degraded("ungrounded")]),
        ("您好！", []),
    ],
)
async def test_a_reply_whose_main_claim_does_not_hold_gives_way_to_quotes(said: str, marks: list[Piece]) -> None:
    pieces = await written(Say(said))
    assert reply_of(pieces) == QUOTED
    assert [piece for piece in pieces if isinstance(piece, Degraded | Withdrawn)] == marks


async def test_that_the_fragments_do_not_answer_is_an_answer() -> None:
    pieces = await written(Behaviour.CANNOT)
    assert Unanswered() in pieces
    assert not any(isinstance(piece, Text | Citation) for piece in pieces)


@pytest.mark.parametrize("said", [Behaviour.CANNOT, Say("无依据")])
async def test_a_writer_that_is_not_believed_does_not_refuse_what_was_found(said: Step) -> None:
    async with scripted(said) as llm:
        quotes = ExtractiveGenerator(ANALYZER, 3)
        chained = FallbackGenerator([by_default(llm)], quotes, believes=lambda _: False)
        pieces = await collect_pieces(chained, request(RETURNS))
    assert reply_of(pieces) == QUOTED
    assert not any(isinstance(piece, Unanswered | Degraded) for piece in pieces)


async def test_a_model_that_may_not_write_is_not_asked() -> None:
    async with scripted(Behaviour.ANSWER) as llm:
        quotes = ExtractiveGenerator(ANALYZER, 3)
        chained = FallbackGenerator([by_default(llm)], quotes, writes=lambda: False)
        pieces = await collect_pieces(chained, request(RETURNS))
    assert (reply_of(pieces), llm.server.requests) == (QUOTED, 0)


async def test_that_the_fragments_do_not_answer_is_understood_without_brackets() -> None:
    assert Unanswered() in await written(Say("无依据。"))


async def test_the_next_model_comes_before_quotes() -> None:
    async with scripted(Behaviour.BROKEN) as first, scripted(Behaviour.ANSWER) as second:
        pieces = await collect_pieces(chain(by_default(first), by_default(second)), request(RETURNS))
    assert reply_of(pieces) == f"{ARRIVES}[0]"
    assert [piece for piece in pieces if isinstance(piece, Degraded)] == [Degraded("llm")]
    assert sum(piece.usage.calls for piece in pieces if isinstance(piece, Spent)) == 2


async def test_the_last_ones_failure_is_the_callers() -> None:
    async with scripted(Behaviour.BROKEN) as llm:
        with pytest.raises(GenerationUnavailable):
            await collect_pieces(FallbackGenerator([], by_default(llm)), request(RETURNS))
