"""What every chat model has to keep; a provider's test class inherits it and gives one that works and one that does
not.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

import pytest

from agents.errors import GenerationUnavailable
from agents.llm.chat import ChatModel
from agents.llm.tools import Tool
from agents.types import Usage
from tests.gguf_model import REPLY

TOOL = Tool("look_up", "查订单。", {"number": {"type": "string"}})
MESSAGES = [{"role": "system", "content": "只根据资料回答。"}, {"role": "user", "content": "退款多久到账"}]


class ChatModelContract(ABC):
    """Inherit, and write `opened` and `broken`."""

    # Of the registry.
    name: str

    @abstractmethod
    def opened(self) -> AbstractAsyncContextManager[ChatModel]:
        """One that always writes `gguf_model.REPLY`."""

    @abstractmethod
    def broken(self) -> AbstractAsyncContextManager[ChatModel]:
        """One that is out of reach."""

    async def test_it_has_a_name(self) -> None:
        async with self.opened() as model:
            assert model.name

    async def test_pieces_come_one_by_one_and_join_to_the_whole(self) -> None:
        async with self.opened() as model:
            pieces, _ = await streamed(model)
            whole, _ = await model.complete(MESSAGES, 60.0)
            assert len(pieces) > 3 and all(pieces)
            assert "".join(pieces) == whole

    async def test_calls_and_tokens_are_counted(self) -> None:
        async with self.opened() as model:
            _, told = await streamed(model)
            _, whole = await model.complete(MESSAGES, 60.0)
            for usage in (told, whole):
                assert usage.calls == 1
                assert usage.prompt_tokens > 0 and usage.completion_tokens > 3

    async def test_many_at_once_each_get_a_whole_reply(self) -> None:
        async with self.opened() as model:
            replies = await asyncio.gather(*(streamed(model) for _ in range(4)))
            assert len({"".join(pieces) for pieces, _ in replies}) == 1

    async def test_whoever_leaves_early_is_in_nobodys_way(self) -> None:
        async with self.opened() as model:
            async with aclosing(model.stream(MESSAGES)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, str):
                        break
            assert (await model.complete(MESSAGES, 60.0))[0]

    async def test_a_choice_is_the_word_that_it_writes(self) -> None:
        async with self.opened() as model:
            odds, usage = await model.choose(MESSAGES, (REPLY, "×"), 60.0)
            assert odds > 0
            assert (await model.choose(MESSAGES, ("×", REPLY), 60.0))[0] == pytest.approx(-odds)
            assert usage.calls == 1

    async def test_a_reply_beside_tools_is_written_where_none_is_called(self) -> None:
        async with self.opened() as model:
            reply, usage = await model.complete_or_call(MESSAGES, [TOOL], 60.0)
            assert isinstance(reply, str) and reply
            assert usage.calls == 1

    async def test_an_outage_is_an_error_that_says_try_again(self) -> None:
        async with self.broken() as model:
            with pytest.raises(GenerationUnavailable):
                await streamed(model)
            with pytest.raises(GenerationUnavailable):
                await model.complete(MESSAGES, 20.0)
            with pytest.raises(GenerationUnavailable):
                await model.choose(MESSAGES, ("有", "没有"), 20.0)
            with pytest.raises(GenerationUnavailable):
                await model.complete_or_call(MESSAGES, [TOOL], 20.0)


async def streamed(model: ChatModel) -> tuple[list[str], Usage]:
    """Pieces of text, and what they cost."""
    texts, usage = [], Usage()
    async for piece in model.stream(MESSAGES):
        if isinstance(piece, str):
            texts.append(piece)
        elif isinstance(piece, Usage):
            usage += piece
    return texts, usage


@asynccontextmanager
async def closing(model: ChatModel) -> AsyncIterator[ChatModel]:
    """Closes it at the end."""
    try:
        yield model
    finally:
        await model.close()
