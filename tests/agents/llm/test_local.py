"""A local model on tiny checkpoints, with the library that loads them and its own generation."""

from __future__ import annotations

import asyncio
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agents.errors import GenerationRejected, GenerationUnavailable
from agents.llm.chat import Cut, ModelOptions
from agents.llm.local import LocalModel
from agents.types import Usage
from knowledge import checkpoint
from knowledge.errors import MissingDependency
from tests.contracts.chat_models import MESSAGES, streamed
from tests.instruct_model import REPLY, write_instruct

pytestmark = pytest.mark.xdist_group("bge")  # one process loads PyTorch, which takes five seconds
Open = Callable[..., LocalModel]
NUMBERS = "一二三四五六七八九十"


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens models, and closes them at the end."""
    models: list[LocalModel] = []

    def open_model(folder: Path, **options: Any) -> LocalModel:
        models.append(LocalModel(ModelOptions(str(folder), **{"silence": 60.0, **options})))
        return models[-1]

    yield open_model
    for model in models:
        await model.close()


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_instruct(tmp_path_factory.mktemp("models") / "endless", NUMBERS, endless=True)


class Steps:
    """Every step of every generation: in which thread, and how many generations ran at once."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.running = self.most = self.generations = 0
        self.fails_after: int | None = None


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    from transformers import Qwen2ForCausalLM

    seen = Steps()
    forward, generate = Qwen2ForCausalLM.forward, Qwen2ForCausalLM.generate

    def watched_forward(self: Any, *args: Any, **options: Any) -> Any:
        seen.threads.append(threading.current_thread().name)
        if seen.fails_after is not None and len(seen.threads) > seen.fails_after:
            raise RuntimeError("out of memory")
        return forward(self, *args, **options)

    def watched_generate(self: Any, *args: Any, **options: Any) -> Any:
        seen.running += 1
        seen.generations += 1
        seen.most = max(seen.most, seen.running)
        try:
            return generate(self, *args, **options)
        finally:
            seen.running -= 1

    monkeypatch.setattr(Qwen2ForCausalLM, "forward", watched_forward)
    monkeypatch.setattr(Qwen2ForCausalLM, "generate", watched_generate)
    yield seen


async def first_words(pieces: Any, count: int) -> list[str]:
    words: list[str] = []
    async for piece in pieces:
        if isinstance(piece, str):
            words.append(piece)
            if len(words) == count:
                break
    return words


async def test_it_writes_by_its_template_token_by_token(instruct_folder: Path, opened: Open) -> None:
    pieces, usage = await streamed(opened(instruct_folder))
    assert pieces == ["退", "款", " 5", " 天", "到", "账", "。", "[", "1", "]"]
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(instruct_folder)
    prompt = str(tokenizer.apply_chat_template(MESSAGES, add_generation_prompt=True, tokenize=False))
    assert prompt.endswith("退款多久到账<|im_end|>\n<|im_start|>assistant\n")
    assert usage == Usage(1, len(tokenizer.encode(prompt)), len(pieces) + 1)  # the last one ends the reply


async def test_characters_of_several_tokens_are_told_whole(tmp_path: Path, opened: Open) -> None:
    folder = write_instruct(tmp_path / "bytes", "好龘了🙂", known="好了")
    pieces, usage = await streamed(opened(folder))
    assert pieces == ["好", "龘", "了", "🙂"]
    assert usage.completion_tokens > len(pieces) + 1


async def test_a_reply_at_the_limit_of_tokens_is_cut(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=6)
    pieces = [piece async for piece in model.stream(MESSAGES)]
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == NUMBERS[:6]
    assert Cut() in pieces
    assert sum((piece for piece in pieces if isinstance(piece, Usage)), Usage()).completion_tokens == 6


async def test_a_reply_that_ends_by_itself_is_not_cut(instruct_folder: Path, opened: Open) -> None:
    assert Cut() not in [piece async for piece in opened(instruct_folder, max_tokens=11).stream(MESSAGES)]


async def test_a_cancelled_reply_ends_with_the_next_token(endless: Path, opened: Open, steps: Steps) -> None:
    model = opened(endless, max_tokens=5000)
    async with aclosing(model.stream(MESSAGES)) as pieces:
        await first_words(pieces, 3)
    made = len(steps.threads)
    while steps.running:  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0.01)
    assert len(steps.threads) <= made + 2


async def test_a_reply_that_is_cancelled_during_its_prompt_ends_with_the_layer(
    endless: Path, opened: Open, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.models.qwen2.modeling_qwen2 import Qwen2DecoderLayer

    model, layers, left = opened(endless), list[object](), threading.Event()
    forward = Qwen2DecoderLayer.forward

    def slow(self: Any, *args: Any, **options: Any) -> Any:
        layers.append(self)
        left.wait(60)
        return forward(self, *args, **options)

    monkeypatch.setattr(Qwen2DecoderLayer, "forward", slow)
    task = asyncio.create_task(streamed(model))
    while not layers:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    left.set()
    while steps.running:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert len(layers) == 1
    assert await first_words(model.stream(MESSAGES), 2) == list(NUMBERS[:2])


async def test_a_cancelled_task_ends_its_reply(endless: Path, opened: Open, steps: Steps) -> None:
    model = opened(endless, max_tokens=5000)
    task = asyncio.create_task(streamed(model))
    while len(steps.threads) < 3:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    made = len(steps.threads)
    while steps.running:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert len(steps.threads) <= made + 2


async def test_a_short_reply_that_takes_too_long_is_given_up(endless: Path, opened: Open, steps: Steps) -> None:
    model = opened(endless, max_tokens=5000)
    await first_words(model.stream(MESSAGES), 1)  # it is loaded
    with pytest.raises(GenerationUnavailable, match="silent"):
        await model.complete(MESSAGES, 0.2)
    while steps.running:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert len(steps.threads) < 5000


async def test_the_loop_is_free_and_one_reply_is_written_at_a_time(
    instruct_folder: Path, opened: Open, steps: Steps
) -> None:
    model = opened(instruct_folder)
    replies = await asyncio.gather(*(streamed(model) for _ in range(5)))
    assert {"".join(pieces) for pieces, _ in replies} == {REPLY}
    assert (steps.generations, steps.most) == (5, 1)
    assert {name.rsplit("_", 1)[0] for name in steps.threads} == {"local-llm"}


async def test_a_short_reply_comes_while_a_long_one_is_written_and_changes_nothing_of_it(
    endless: Path, opened: Open, steps: Steps
) -> None:
    """Endless, so that whoever waits behind it waits for ever; what a turn has to understand first is not long."""
    model = opened(endless, max_tokens=300)
    async with aclosing(model.stream(MESSAGES)) as long:
        said = await first_words(long, 2)
        short, usage = await model.complete(MESSAGES, 60.0)
        assert (len(short), usage.calls) == (300, 1)
        said += [piece async for piece in long if isinstance(piece, str)]
    assert "".join(said) == short == NUMBERS * 30
    assert (steps.generations, steps.most) == (2, 2)
    assert {name.rsplit("_", 1)[0] for name in steps.threads} == {"local-llm"}


async def test_no_more_wait_than_are_allowed_to(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=5000, queue=1)
    async with aclosing(model.stream(MESSAGES)) as first, aclosing(model.stream(MESSAGES)) as second:
        await first_words(first, 1)
        assert await anext(second) == Usage(calls=1)
        with pytest.raises(GenerationUnavailable, match="2 replies"):
            await streamed(model)
        await first.aclose()
        assert await first_words(second, 2) == list(NUMBERS[:2])


async def test_who_leaves_the_queue_costs_nothing(endless: Path, opened: Open, steps: Steps) -> None:
    model = opened(endless, max_tokens=5000, silence=60.0)
    async with aclosing(model.stream(MESSAGES)) as first, aclosing(model.stream(MESSAGES)) as second:
        await first_words(first, 1)
        await anext(second)
        await second.aclose()
    await first_words(model.stream(MESSAGES), 1)
    assert steps.generations == 2


async def test_a_prompt_without_room_for_a_reply_is_refused(tmp_path: Path, opened: Open) -> None:
    model = opened(write_instruct(tmp_path / "short", REPLY, context=16))
    with pytest.raises(GenerationRejected, match="room for 16"):
        await streamed(model)


async def test_a_model_that_breaks_midway_is_unavailable(instruct_folder: Path, opened: Open, steps: Steps) -> None:
    model, said = opened(instruct_folder), []
    steps.fails_after = 4
    with pytest.raises(GenerationUnavailable, match="out of memory"):
        async for piece in model.stream(MESSAGES):
            said.append(piece)
    assert [piece for piece in said if isinstance(piece, str)] == ["退", "款", " 5", " 天"]
    steps.fails_after = None
    assert "".join((await streamed(model))[0]) == REPLY


async def test_a_model_that_says_nothing_is_unavailable(
    instruct_folder: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import Qwen2ForCausalLM

    def silent(self: Any, *args: Any, streamer: Any, **options: Any) -> None:
        streamer.put(options["input_ids"])

    monkeypatch.setattr(Qwen2ForCausalLM, "generate", silent)
    with pytest.raises(GenerationUnavailable, match="empty"):
        await streamed(opened(instruct_folder))


async def test_a_folder_that_comes_later_is_taken_then(
    instruct_folder: Path, tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 0.05)
    model = opened(tmp_path / "later")
    with pytest.raises(GenerationUnavailable, match=r"没有模型文件夹|still being loaded"):
        await streamed(model)
    shutil.copytree(instruct_folder, tmp_path / "later")
    async with asyncio.timeout(60):
        while True:
            try:
                assert "".join((await streamed(model))[0]) == REPLY
                return
            except GenerationUnavailable:
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("missing", ["model.safetensors", "config.json", "tokenizer.json"])
async def test_half_a_model_is_unavailable(instruct_folder: Path, tmp_path: Path, opened: Open, missing: str) -> None:
    shutil.copytree(instruct_folder, tmp_path / "half")
    (tmp_path / "half" / missing).unlink()
    with pytest.raises(GenerationUnavailable, match="cannot be loaded"):
        await streamed(opened(tmp_path / "half"))


async def test_a_model_without_a_chat_template_is_named(instruct_folder: Path, tmp_path: Path, opened: Open) -> None:
    shutil.copytree(instruct_folder, tmp_path / "base")
    (tmp_path / "base" / "chat_template.jinja").unlink()
    with pytest.raises(GenerationUnavailable, match="Instruct"):
        await streamed(opened(tmp_path / "base"))


async def test_whoever_waits_when_it_is_closed_is_told(endless: Path, opened: Open, steps: Steps) -> None:
    model = opened(endless, max_tokens=5000)
    task = asyncio.create_task(streamed(model))
    while not steps.threads:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await model.close()
    assert not steps.running
    with pytest.raises(GenerationUnavailable, match="closed"):
        await task


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependency, match=r"pip install -r requirements\.txt"):
        LocalModel(ModelOptions("model"))
