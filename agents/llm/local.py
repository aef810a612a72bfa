"""An instruct model of this machine, by transformers from a folder: one reply at a time, in a thread of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

from agents.errors import GenerationError, GenerationRejected, GenerationUnavailable
from agents.llm.chat import ChatMessage, Cut, ModelOptions, Part, WordPair
from agents.llm.choosing import choose_by_word
from agents.llm.thoughts import OPENING, ThoughtFilter
from agents.types import Usage
from knowledge.checkpoint import LazyModel, require
from knowledge.errors import KnowledgeError, Unavailable
from knowledge.outside import outside

_INSTALL = "LLM_PROVIDER=local 需要 transformers 与 PyTorch：请运行 pip install -r requirements.txt"
_UNFINISHED = "\ufffd"
"""What a tokenizer makes of the first bytes of a character whose others are still to come."""
_OPENING_TOKENS = 24
"""At the end of a prompt: more than an opening tag of thoughts takes, a byte each."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Any
    model: Any
    context: int
    """Tokens of prompt and reply together, at most."""
    ends: frozenset[int]
    """Tokens that end a reply."""


class _Unwanted(Exception):
    """Nobody waits for the reply any more."""


class _Reply:
    """One reply on its way from the thread that writes it to the task that waits for it; None comes last."""

    def __init__(self, messages: Sequence[ChatMessage], *, short: bool) -> None:
        self.short = short
        self.messages = [dict(message) for message in messages]
        self.pieces: asyncio.Queue[Part | Exception | None] = asyncio.Queue()
        self.unwanted = Event()
        self._loop = asyncio.get_running_loop()

    def put(self, piece: Part | Exception | None) -> None:
        """Called from the thread."""
        if not self.unwanted.is_set():
            self._loop.call_soon_threadsafe(self.pieces.put_nowait, piece)


class LocalModel:
    """Loaded from its folder behind, 16-bit as stored on CUDA and 32-bit on a CPU; a folder that comes later is taken
    then. Greedy, as the endpoints are asked to be. A reply that nobody waits for any more ends with the layer that is
    being computed, be it of its prompt; short ones, which a turn waits for before it says anything, are written between
    two layers of a long one.
    """

    def __init__(self, options: ModelOptions) -> None:
        """options.name: the folder, with weights, tokenizer and chat template. Raises MissingDependency."""
        require("transformers", _INSTALL)
        require("torch", _INSTALL)
        self._folder = Path(options.name)
        self.name = self._folder.name
        self._options = options
        self._model = LazyModel(self.name, self._load, Unavailable)
        self._model.begin()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local-llm")
        self._replies: set[_Reply] = set()
        self._short = SimpleQueue[_Reply]()
        self._writing: _Reply | None = None

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`."""
        async with (
            outside(),
            aclosing(self._written(messages, self._options.silence, self._options.total, short=False)) as pieces,
        ):
            async for piece in pieces:
                yield piece

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """See `ChatModel.complete`."""
        text, usage = "", Usage()
        async with outside(), aclosing(self._written(messages, seconds, seconds, short=True)) as pieces:
            async for piece in pieces:
                if isinstance(piece, str):
                    text += piece
                elif isinstance(piece, Usage):
                    usage += piece
        return text, usage

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """See `ChatModel.choose`: by the word that it writes."""
        reply, usage = await self.complete(messages, seconds)
        return choose_by_word(reply, words), usage

    async def close(self) -> None:
        """Ends what is being written, and lets the weights go."""
        for reply in self._replies:
            reply.unwanted.set()
            reply.pieces.put_nowait(GenerationUnavailable(f"{self.name} is closed"))
        self._model.close()
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def _written(
        self, messages: Sequence[ChatMessage], silence: float, total: float, *, short: bool
    ) -> AsyncGenerator[Part]:
        """silence: seconds until the first piece and between two, waiting for one's turn included; total: of all."""
        if len(self._replies) > self._options.queue:
            raise GenerationUnavailable(f"{self.name}: {len(self._replies)} replies are written or waited for already")
        deadline, reply = time.monotonic() + total, _Reply(messages, short=short)
        self._replies.add(reply)
        try:
            if short:
                self._short.put(reply)
                self._thread.submit(self._write_short)
            else:
                self._thread.submit(self._write, reply)
            yield Usage(calls=1)
            spoken = False
            while (piece := await self._next(reply, min(silence, deadline - time.monotonic()))) is not None:
                spoken = spoken or isinstance(piece, str)
                yield piece
            if not spoken:
                raise GenerationUnavailable(f"{self.name}: empty reply")
        finally:
            reply.unwanted.set()
            self._replies.discard(reply)

    async def _next(self, reply: _Reply, seconds: float) -> Part | None:
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                piece = await reply.pieces.get()
        except TimeoutError as error:
            raise GenerationUnavailable(f"{self.name}: silent for {seconds:.1f} s") from error
        if isinstance(piece, Exception):
            raise piece
        return piece

    def _write_short(self) -> None:
        """In the thread: one short reply, if one is left; what was written goes on afterwards."""
        try:
            reply = self._short.get_nowait()
        except Empty:
            return
        interrupted = self._writing
        self._write(reply)
        self._writing = interrupted

    def _write(self, reply: _Reply) -> None:
        """In the thread: a whole reply, piece by piece."""
        if reply.unwanted.is_set():
            return
        self._writing = reply
        try:
            self._generate(self._model.get(), reply)
        except _Unwanted:
            return
        except GenerationError as error:
            reply.put(error)
        except KnowledgeError as error:
            reply.put(GenerationUnavailable(str(error)))
        except Exception as error:  # a model may raise anything; the caller knows one reaction
            reply.put(GenerationUnavailable(f"{self.name} failed: {error}"))
        else:
            reply.put(None)
        finally:
            self._writing = None

    def _generate(self, loaded: _Loaded, reply: _Reply) -> None:
        prompt = loaded.tokenizer.apply_chat_template(
            reply.messages, add_generation_prompt=True, return_tensors="pt", return_dict=True, enable_thinking=False
        ).to(loaded.model.device)
        length = prompt["input_ids"].shape[1]
        room = min(self._options.max_tokens, loaded.context - length)
        if room < 1:
            raise GenerationRejected(f"{self.name}: a prompt of {length} tokens, room for {loaded.context}")
        tail = loaded.tokenizer.decode(prompt["input_ids"][0, -_OPENING_TOKENS:]).rstrip()
        thoughts = ThoughtFilter(within=tail.endswith(OPENING))

        def say(said: str) -> None:
            if said:
                reply.put(said)

        text = _Detokenized(loaded.tokenizer, lambda piece: say(thoughts.feed(piece)))
        loaded.model.generate(
            **prompt,
            streamer=text,
            max_new_tokens=room,
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
        )
        say(thoughts.end())
        if len(text.tokens) == room and text.tokens[-1] not in loaded.ends:
            reply.put(Cut())
        reply.put(Usage(0, length, len(text.tokens)))

    def _load(self) -> _Loaded:
        if not self._folder.is_dir():  # it must not be looked for on a hub
            raise FileNotFoundError(f"没有模型文件夹 {self._folder}")
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True)
        if not tokenizer.encode("你好", add_special_tokens=False):  # without its files the library makes an empty one
            raise ValueError(f"{self._folder} 没有分词文件（tokenizer.json 等）")
        if not tokenizer.chat_template:
            raise ValueError(f"{self._folder} 没有对话模板（chat_template），请换成 Instruct 模型")
        on_cuda = torch.cuda.is_available()
        model: Any = AutoModelForCausalLM.from_pretrained(
            self._folder, local_files_only=True, dtype="auto" if on_cuda else torch.float32
        )
        end = model.generation_config.eos_token_id
        ends = frozenset(end if isinstance(end, list) else [end])
        layers = [layer for part in model.modules() if isinstance(part, torch.nn.ModuleList) for layer in part]
        for layer in (model, *layers):
            layer.register_forward_pre_hook(self._go_on)
        return _Loaded(tokenizer, model.to("cuda" if on_cuda else "cpu").eval(), _context(model.config), ends)

    def _go_on(self, *_: object) -> None:
        """Before every layer: on a CPU all of them take minutes for a long prompt, whose reply somebody gave up, or
        behind which a short one would be late.
        """
        reply = self._writing
        if reply is not None and reply.unwanted.is_set():
            raise _Unwanted
        if reply is not None and not reply.short:
            self._write_short()


class _Detokenized:
    """Takes the tokens of a reply from `generate` one by one, and hands on the text that each of them completes."""

    def __init__(self, tokenizer: Any, hand_on: Callable[[str], None]) -> None:
        self.tokens: list[int] = []
        self._tokenizer = tokenizer
        self._hand_on = hand_on
        self._prompt_seen = False
        # A token's text may depend on the one before it: both are read, and what is new is told.
        self._start = self._read = 0

    def put(self, tokens: Any) -> None:
        """See transformers' BaseStreamer: the prompt first, then token by token."""
        if not self._prompt_seen:
            self._prompt_seen = True
            return
        self.tokens += tokens.reshape(-1).tolist()
        known, text = self._text(self.tokens[self._start : self._read]), self._text(self.tokens[self._start :])
        if len(text) > len(known) and not text.endswith(_UNFINISHED):
            self._start, self._read = self._read, len(self.tokens)
            self._hand_on(text[len(known) :])

    def end(self) -> None:
        """Half a character at the limit of tokens is left out."""

    def _text(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text


def _context(config: Any) -> int:
    return int(getattr(config, "max_position_embeddings", None) or 4096)
