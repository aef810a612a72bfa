"""A model in a GGUF file, by the library that loads it, in its own process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.errors import GenerationLate, GenerationRejected, GenerationUnavailable
from agents.llm.chat import Cut, ModelOptions
from agents.llm.gguf import AT_ONCE, GgufModel, ServerProcess
from agents.llm.registry import get_model
from agents.types import Usage
from knowledge import checkpoint
from knowledge.errors import MissingDependency
from tests.contracts.chat_models import MESSAGES, streamed
from tests.gguf_model import REPLY, instruct_file, write_gguf

Open = Callable[..., GgufModel]
NUMBERS = "一二三四五六七八九十"
LONG = [{"role": "user", "content": "退货" * 30_000}]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens models, and closes them at the end."""
    models: list[GgufModel] = []

    def open_model(path: Path, **options: Any) -> GgufModel:
        model = get_model("gguf", ModelOptions(str(path), **{"silence": 60.0, "threads": 1, **options}))
        assert isinstance(model, GgufModel)
        models.append(model)
        return model

    yield open_model
    for model in models:
        await model.close()


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("models") / "endless.gguf", list(NUMBERS), endless=True)


async def first_words(pieces: Any, count: int) -> list[str]:
    words: list[str] = []
    async for piece in pieces:
        if isinstance(piece, str):
            words.append(piece)
            if len(words) == count:
                break
    return words


async def serving(model: GgufModel) -> ServerProcess:
    """Its process, once it has one."""
    await model.complete(MESSAGES, 60.0)
    assert model.process is not None
    return model.process


async def computed(process: ServerProcess) -> list[dict[str, Any]]:
    """What it is computing now."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {process.key}"}) as client:
        slots = (await client.get(process.base_url.replace("/v1", "/slots"))).json()
    return [slot for slot in slots if slot["is_processing"]]


async def rest(process: ServerProcess) -> None:
    """Returns once nothing is computed any more."""
    async with asyncio.timeout(20):
        while await computed(process):  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.02)


async def test_it_writes_by_its_template_token_by_token(opened: Open) -> None:
    pieces, usage = await streamed(opened(instruct_file()))
    assert pieces == ["退", "款", " 5", " 天", "到", "账", "。", "[", "1", "]"]
    assert usage.completion_tokens == len(pieces) + 1  # the last one ends the reply
    assert usage.calls == 1


async def test_characters_of_several_tokens_are_told_whole(tmp_path: Path, opened: Open) -> None:
    pieces, usage = await streamed(opened(write_gguf(tmp_path / "bytes.gguf", list("好龘了🙂"), known="好了")))
    assert "".join(pieces) == "好龘了🙂"
    assert usage.completion_tokens > len(pieces) + 1


async def test_a_reply_at_the_limit_of_tokens_is_cut(endless: Path, opened: Open) -> None:
    pieces = [piece async for piece in opened(endless, max_tokens=6).stream(MESSAGES)]
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == NUMBERS[:6]
    assert Cut() in pieces
    assert sum((piece for piece in pieces if isinstance(piece, Usage)), Usage()).completion_tokens == 6


async def test_what_nobody_waits_for_is_not_computed_any_further(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=10_000)
    async with aclosing(model.stream(MESSAGES)) as pieces:
        await first_words(pieces, 3)
        assert model.process is not None
        assert len(await computed(model.process)) == 1
    await rest(model.process)
    task = asyncio.create_task(streamed(model))
    while not await computed(model.process):  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await rest(model.process)
    with pytest.raises(GenerationUnavailable, match="silent"):
        await model.complete(MESSAGES, 0.05)
    await rest(model.process)


async def test_a_short_reply_comes_while_long_ones_are_written(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=10_000)
    async with aclosing(model.stream(MESSAGES)) as long:
        said = await first_words(long, 2)
        odds, _ = await model.choose(MESSAGES, ("一", "九"), 60.0)
        assert odds > 0
        said += await first_words(long, 8)
    assert "".join(said) == NUMBERS


async def test_no_more_wait_than_are_allowed_to(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=10_000, queue=0)
    async with aclosing(model.stream(MESSAGES)) as first:
        await first_words(first, 1)
        second = asyncio.create_task(first_words(model.stream(MESSAGES), 2))
        await asyncio.sleep(0)
        with pytest.raises(GenerationUnavailable, match=f"{AT_ONCE} requests"):
            await streamed(model)
        assert not second.done()
    assert await second == list(NUMBERS[:2])


async def test_who_waits_too_long_for_others_is_late(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=10_000)
    await serving(model)
    async with aclosing(model.stream(MESSAGES)) as first:
        await first_words(first, 1)
        model._options = replace(model._options, silence=0.05)
        with pytest.raises(GenerationLate):
            await streamed(model)


async def test_short_requests_share_the_beginning_of_their_prompts(opened: Open) -> None:
    """They come one after the other, whoever asks them at once."""
    model = opened(instruct_file())
    process = await serving(model)
    beginning = {"role": "system", "content": "看资料里有没有写明答案。" * 20}
    prompts = [[beginning, {"role": "user", "content": question}] for question in ("运费谁付", "几天到账", "能不能换")]
    most, asked = 0, asyncio.gather(*(model.choose(prompt, ("退", "没"), 60.0) for prompt in prompts))
    while not asked.done():
        most = max(most, len(await computed(process)))
    assert len(await asked) == 3
    assert most <= 1


async def test_what_was_computed_of_a_prompt_is_kept(opened: Open) -> None:
    process = await serving(opened(instruct_file()))
    asked = {"model": "tiny", "messages": [*MESSAGES, {"role": "user", "content": "运费谁付"}], "max_tokens": 1}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {process.key}"}) as client:
        replies = [(await client.post(f"{process.base_url}/chat/completions", json=asked)).json() for _ in range(2)]
    cached = [reply["usage"]["prompt_tokens_details"]["cached_tokens"] for reply in replies]
    assert cached[1] > replies[1]["usage"]["prompt_tokens"] - 10


async def test_without_the_key_nothing_is_served(opened: Open) -> None:
    process = await serving(opened(instruct_file()))
    async with httpx.AsyncClient() as client:
        for path in ("/v1/chat/completions", "/completion", "/slots", "/props"):
            reply = await client.post(
                process.base_url.replace("/v1", path), json={"messages": MESSAGES, "prompt": "好"}
            )
            assert reply.status_code in (401, 404), path


async def test_a_prompt_without_room_is_refused(opened: Open) -> None:
    with pytest.raises(GenerationRejected):
        await opened(instruct_file()).complete(LONG, 60.0)


async def test_a_process_that_dies_midway_is_an_outage_and_is_started_again(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=10_000)
    with pytest.raises(GenerationUnavailable):
        async for piece in model.stream(MESSAGES):
            if isinstance(piece, str) and model.process is not None:
                os.kill(model.process.pid, signal.SIGKILL)
    assert await first_words(model.stream(MESSAGES), 2) == list(NUMBERS[:2])


async def test_a_process_that_died_between_two_requests_is_started_again(opened: Open) -> None:
    model = opened(instruct_file())
    process = await serving(model)
    os.kill(process.pid, signal.SIGKILL)
    while process.is_alive:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert "".join((await streamed(model))[0]) == REPLY
    assert model.process is not None and model.process.pid != process.pid


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from agents.llm.gguf import ServerProcess; "
        "print(ServerProcess(Path(sys.argv[1]), 1).pid, flush=True); os._exit(1)"
    )
    path = write_gguf(tmp_path / "tiny.gguf", list("好"))
    done = subprocess.run([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True, check=False)
    pid = int(done.stdout)
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").is_file() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return  # ended, and nobody has looked at it yet
        signal.sigtimedwait([], 0.02)
    pytest.fail(f"process {pid} still runs")


async def test_a_file_that_comes_later_is_taken_then(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 0.05)
    model = opened(tmp_path / "later.gguf")
    with pytest.raises(GenerationUnavailable, match=r"没有模型文件|still being loaded"):
        await streamed(model)
    write_gguf(tmp_path / "new.gguf", list(NUMBERS)).rename(tmp_path / "later.gguf")
    async with asyncio.timeout(60):
        while True:
            try:
                assert "".join((await streamed(model))[0]) == NUMBERS
                return
            except GenerationUnavailable:
                await asyncio.sleep(0.05)


async def test_what_is_no_model_is_unavailable(tmp_path: Path, opened: Open) -> None:
    (tmp_path / "broken.gguf").write_bytes(instruct_file().read_bytes()[:2000])
    with pytest.raises(GenerationUnavailable, match="cannot be loaded"):
        await streamed(opened(tmp_path / "broken.gguf"))


async def test_whoever_waits_when_it_is_closed_is_told(endless: Path, opened: Open) -> None:
    model = opened(endless, max_tokens=10_000)
    process = await serving(model)
    task = asyncio.create_task(streamed(model))
    while not await computed(process):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await model.close()
    assert not process.is_alive
    with pytest.raises(GenerationUnavailable):
        await task


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingDependency, match=r"pip install -r requirements-gguf\.txt"):
        get_model("gguf", ModelOptions("model.gguf"))
