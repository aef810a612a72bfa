"""A model asked of every sentence of a reply whether a passage states it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.claim_reader import CLAIMS, ClaimObjections, ClaimReader
from agents.generator import Judged, Piece
from agents.judge import ReaderOptions
from agents.llm.writer import ModelGenerator
from agents.profile import TenantProfile
from knowledge.probability import CalibrationMap
from scripts.scripted_llm import Say
from tests.agents.models import QUESTION, RETURNS, reply_of, request, scripted
from tests.agents.support import collect_pieces

ARRIVES = "退款在验货后 1～5 个工作日内到账。"
REWORDED = "验货之后 1～5 个工作日内，退款就会到账。"
FEE = "退货的运费由您承担，首重是 12 元。"
CALIBRATION = CalibrationMap(CLAIMS.scorer, -2.0, 0.0, 2.0)


async def written(
    said: str, judges: Callable[[str], float], calibration: CalibrationMap | None = CALIBRATION
) -> tuple[list[Piece], int]:
    """The pieces of a reply, and how many judgements it took."""
    async with scripted(Say(said), judges=judges) as llm:
        objections = ClaimObjections(ClaimReader(llm.model, ReaderOptions(seconds=20.0)), lambda: calibration)
        writer = ModelGenerator(llm.model, TenantProfile(), 3, 800, objections=objections)
        pieces = await collect_pieces(writer, request(RETURNS))
    return pieces, llm.server.judged


async def test_a_sentence_that_the_model_finds_stays() -> None:
    pieces, judged = await written(f"{REWORDED}[1]", lambda prompt: 3.0)
    assert (reply_of(pieces), judged) == (f"{REWORDED}[0]", 1)


async def test_a_sentence_that_the_model_does_not_find_gives_way_to_the_block() -> None:
    pieces, judged = await written(f"{REWORDED}[1]{FEE}[1]", lambda prompt: -3.0 if FEE in prompt else 3.0)
    assert (FEE in reply_of(pieces), judged) == (False, 2)
    assert [piece.dropped for piece in pieces if isinstance(piece, Judged)] == [(FEE,)]


async def test_the_question_and_the_passage_are_beside_it() -> None:
    prompts: list[str] = []

    def judge(prompt: str) -> float:
        prompts.append(prompt)
        return 3.0

    await written(f"{REWORDED}[1]", judge)
    assert QUESTION in prompts[0] and RETURNS in prompts[0] and f"<句子>\n{REWORDED}\n</句子>" in prompts[0]


async def test_what_is_quoted_word_for_word_is_not_asked_about() -> None:
    assert (await written(f"{ARRIVES}[1]", lambda prompt: -3.0))[1] == 0


@pytest.mark.parametrize("said", ["退款要 99 天才能到账[1]。", "[无依据]"])
async def test_what_does_not_hold_without_the_model_is_not_asked_about(said: str) -> None:
    assert (await written(said, lambda prompt: 3.0))[1] == 0


async def test_a_model_that_is_not_measured_or_worthless_is_not_asked() -> None:
    pieces, judged = await written(f"{REWORDED}[1]", lambda prompt: -3.0, calibration=None)
    assert (reply_of(pieces), judged) == (f"{REWORDED}[0]", 0)
