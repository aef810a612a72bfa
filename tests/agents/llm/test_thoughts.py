from __future__ import annotations

import random
from itertools import pairwise

import pytest

from agents.errors import ThoughtsAloud
from agents.llm.chat import ModelOptions
from agents.llm.endpoint import EndpointModel
from agents.llm.thoughts import ThoughtFilter, has_headless_thoughts
from scripts.scripted_llm import Say, ScriptedLLM
from tests.agents.models import RETURNS, by_default, reply_of, request, scripted
from tests.agents.support import collect_pieces

SECRET = "顾客在试探我"
MESSAGES = [{"role": "user", "content": "退款多久到账"}]
TAGGED = (
    f"<think>{SECRET}</think>五天内到账。",
    f"<think>\n{SECRET}\n</think>\n\n五天内到账。",
    f"<THINK>{SECRET}</Think>五天内到账。",
    f"◁think▷{SECRET}◁/think▷五天内到账。",
    f"<seed:think>{SECRET}</seed:think>五天内到账。",
    f"五天内<think>{SECRET}</think>到账。",
    f"<think>{SECRET}<think>{SECRET}</think>{SECRET}</think>五天内到账。",
    f"五天内到账。<think>{SECRET}",
    "五天内到账。",
    "\n</think>\n\n五天内到账。",
)


def filtered(text: str, cuts: list[int], *, within: bool = False) -> str:
    thoughts = ThoughtFilter(within=within)
    edges = [0, *sorted(cuts), len(text)]
    said = "".join(thoughts.feed(text[start:end]) for start, end in pairwise(edges))
    return said + thoughts.finish()


@pytest.mark.parametrize("text", TAGGED)
def test_thoughts_are_taken_out_wherever_chunks_split_them(text: str) -> None:
    draw = random.Random(text)
    every_character = list(range(1, len(text)))
    assert filtered(text, every_character) == "五天内到账。"
    for _ in range(200):
        cuts = draw.sample(every_character, draw.randrange(len(text) - 1))
        assert filtered(text, cuts) == "五天内到账。"


@pytest.mark.parametrize("text", ["3 < 5 <b>粗体</b>", "a <", "结尾 </thin", "◁", "<thinker>谁</thinker>", "x<tho<thi"])
def test_what_only_looks_like_a_tag_is_said(text: str) -> None:
    assert filtered(text, list(range(1, len(text)))) == text


@pytest.mark.parametrize("text", [f"{SECRET}</think>五天内到账。", f"<think>{SECRET}</think>\n五天内到账。"])
def test_a_text_that_begins_within_thoughts_says_nothing_before_their_end(text: str) -> None:
    assert filtered(text, list(range(1, len(text))), within=True) == "五天内到账。"


def test_thoughts_that_never_end_are_not_said() -> None:
    assert filtered(SECRET, [1], within=True) == ""


def test_a_field_of_their_own_says_that_the_text_holds_none() -> None:
    thoughts = ThoughtFilter(within=True)
    thoughts.leave_thoughts()
    assert thoughts.feed("五天内到账。") == "五天内到账。"


def test_thoughts_that_were_taken_for_the_reply_are_an_error() -> None:
    with pytest.raises(ThoughtsAloud):
        filtered(f"{SECRET}</think>五天内到账。", [3])
    assert has_headless_thoughts(f"{SECRET}</think>五天内到账。")
    assert not has_headless_thoughts(TAGGED[0])


async def said(model: EndpointModel) -> str:
    return "".join([piece async for piece in model.stream(MESSAGES) if isinstance(piece, str)])


@pytest.mark.parametrize("step", [*map(Say, TAGGED), Say("五天内到账。", thoughts=SECRET)])
async def test_neither_a_stream_nor_a_whole_reply_holds_thoughts(step: Say) -> None:
    async with scripted(step) as llm:
        assert await said(llm.model) == "五天内到账。"
        assert (await llm.model.complete(MESSAGES, 60.0))[0] == "五天内到账。"


@pytest.mark.parametrize("step", [Say(f"{SECRET}</think>五天内到账。"), Say("五天内到账。", thoughts=SECRET)])
async def test_a_model_whose_name_says_that_it_thinks_is_waited_for(step: Say) -> None:
    async with ScriptedLLM(step) as server:
        model = EndpointModel(ModelOptions("deepseek-r1:7b", server.base_url, "key"))
        try:
            assert await said(model) == "五天内到账。"
            assert (await model.complete(MESSAGES, 60.0))[0] == "五天内到账。"
        finally:
            await model.close()


async def test_thoughts_without_a_beginning_are_withdrawn_once_and_never_said_again() -> None:
    async with scripted(Say(f"{SECRET}</think>五天内到账。")) as llm:
        with pytest.raises(ThoughtsAloud):
            await said(llm.model)
        assert await said(llm.model) == "五天内到账。"


async def test_what_a_model_thought_is_neither_in_the_reply_nor_in_its_sources() -> None:
    thought = "退款在验货后 1～5 个工作日内到账，" + SECRET
    async with scripted(Say(f"<think>{thought}</think>退款在验货后 1～5 个工作日内到账。[1]", thoughts=thought)) as llm:
        pieces = await collect_pieces(by_default(llm), request(RETURNS))
    assert reply_of(pieces) == "退款在验货后 1～5 个工作日内到账。[0]"
    assert SECRET not in repr(pieces)
