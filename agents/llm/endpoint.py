"""A chat model behind an OpenAI-compatible endpoint, with deadlines, retries and errors of our own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from loguru import logger

from agents.errors import GenerationForbidden, GenerationLate, GenerationRejected, GenerationUnavailable, ThoughtsAloud
from agents.llm.chat import ChatMessage, Cut, ModelOptions, Part, StreamWatch, WordPair, enter_watches
from agents.llm.events import EventClient, EventReader
from agents.llm.profiles import PROFILES, find_profile
from agents.llm.structured_model import FORMAT, TOOLS, Mode, build_request_fields, get_shape
from agents.llm.thoughts import ThoughtFilter, has_headless_thoughts
from agents.llm.tools import Tool, ToolCall, build_tool_fields, read_first_call
from agents.llm.word_choice import TOP_TOKENS, choose_by_probability, choose_by_word, read_alternatives
from agents.types import Thinking, Usage
from knowledge.lazy import LazyModule
from knowledge.tracing import get_current_span
from knowledge.work_place import release_place

if TYPE_CHECKING:
    import httpx
    from openai import AsyncOpenAI
else:
    httpx = LazyModule("httpx")

# Before the first retry; doubles with every further one.
RETRY_SECONDS = 0.2
# An endpoint that asks for more patience than this is as good as down for the customer who waits.
MAX_RETRY_SECONDS = 2.0
_PATH = "/chat/completions"
_LENGTHS = "max_tokens", "max_completion_tokens"
_COUNTS = "prompt_tokens", "completion_tokens"
# Refusals that do not depend on what was asked.
_FOR_ALL = frozenset({401, 402, 403, 404})
# Fields in which thoughts come apart from the text.
_THOUGHTS = "reasoning_content", "reasoning"
# Characters of what an endpoint says of a refusal.
_TOLD = 500
_SHAPING = frozenset({FORMAT, *TOOLS})
_TEMPORARY = frozenset({408, 409, 425, 429})


class EndpointModel:
    """One endpoint and model; serves many requests at once. Close it at the end."""

    def __init__(self, options: ModelOptions) -> None:
        from openai import AsyncOpenAI

        self.name = options.name
        self._options = options
        profile = PROFILES[options.profile or find_profile(options.base_url)]
        parameters = {name: value for name, value in options.parameters.items() if name not in _SHAPING}
        self._body = {"model": options.name, **profile.parameters(options.name, options.max_tokens), **parameters}
        # The ways to ask for a shape that the endpoint has not refused.
        self._modes = list(Mode)
        self._shaping: dict[str, Any] | None = None
        if shaping := options.parameters.keys() & _SHAPING:
            self._shaping = {name: options.parameters[name] for name in shaping if options.parameters[name]}
        self._thinks = profile.is_thinking_model(options.name) if options.thinks is None else options.thinks
        self._one_token = profile.parameters(options.name, 1) | {"logprobs": True, "top_logprobs": TOP_TOKENS}
        self._length = [name for name in _LENGTHS if name in self._body]
        self._tells_probabilities = True
        self._client: AsyncOpenAI = AsyncOpenAI(
            base_url=options.base_url, api_key=options.api_key, max_retries=0, timeout=None
        )
        self._streams = EventClient(options.base_url, options.api_key, self._body)

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`. The request belongs to the span in which this is called."""
        return self._stream_parts(messages, watches, get_current_span().build_headers())

    async def _stream_parts(
        self, messages: Sequence[ChatMessage], watches: Sequence[StreamWatch], headers: Mapping[str, str]
    ) -> AsyncGenerator[Part]:
        deadline = time.monotonic() + self._options.total
        async with enter_watches(watches) as see, release_place():
            for attempt in range(self._options.retries + 1):
                started, usage = False, Usage(calls=1)
                see(usage)
                yield usage
                try:
                    async with self._open_events(messages, headers, deadline) as events:
                        reader, ended = _ReplyReader(ThoughtFilter(within=self._thinks)), False
                        while not ended:
                            async with self._limit_step(deadline):
                                event = await events.read_event()
                                ended = event is None
                                parts = reader.finish() if ended else reader.read_event(event)
                            for part in parts:
                                started = started or isinstance(part, str)
                                see(part)
                                yield part
                    if started:
                        return
                    raise GenerationUnavailable(f"{self.name}: empty reply")
                except GenerationUnavailable as error:
                    delay = max(error.retry_after, RETRY_SECONDS * 2**attempt)
                    late = delay > MAX_RETRY_SECONDS or time.monotonic() + delay >= deadline
                    if started or late or attempt == self._options.retries:
                        raise
                await asyncio.sleep(delay)

    async def complete(self, messages: Sequence[ChatMessage], seconds: float) -> tuple[str, Usage]:
        """See `ChatModel.complete`."""
        async with self._enforce_deadline(seconds), release_place():
            reply = await self._ask_for_shape(messages)
            choice, usage = reply["choices"][0], Usage(calls=1) + _read_usage(reply)
            call = read_first_call(choice["message"])
            return (call.arguments if call else "") or self._read_whole(choice), usage

    async def complete_or_call(
        self, messages: Sequence[ChatMessage], tools: Sequence[Tool], seconds: float
    ) -> tuple[str | ToolCall, Usage]:
        """See `ChatModel.complete_or_call`."""
        async with self._enforce_deadline(seconds), release_place():
            reply = await self._request_json(messages, build_tool_fields(tools))
            choice, usage = reply["choices"][0], Usage(calls=1) + _read_usage(reply)
            return read_first_call(choice["message"]) or self._read_whole(choice), usage

    def _read_whole(self, choice: Any) -> str:
        """Returns the text of a reply that is not streamed, without the model's thoughts.

        Args:
            choice: The reply's first choice, as parsed from JSON.

        Raises:
            TypeError, AttributeError, LookupError: The choice has another shape than the interface promises.
            GenerationError: The model broke off, or gave an answer that cannot be used.
        """
        message = choice["message"]
        self._thinks = self._thinks or has_headless_thoughts("" + (message.get("content") or ""))
        reading = _ReplyReader(ThoughtFilter(within=self._thinks))
        whole = {"choices": [{"delta": message, "finish_reason": choice.get("finish_reason")}]}
        pieces = [*reading.read_event(whole), *reading.finish()]
        return "".join(piece for piece in pieces if isinstance(piece, str))

    async def choose(self, messages: Sequence[ChatMessage], words: WordPair, seconds: float) -> tuple[float, Usage]:
        """See `ChatModel.choose`. An endpoint that tells no probabilities, or whose model thinks first, is asked for
        the word from then on.
        """
        if self._tells_probabilities and not self._thinks:
            try:
                async with self._enforce_deadline(seconds), release_place():
                    reply = await self._request_json(messages, self._one_token)
                    choice, usage = reply["choices"][0], Usage(calls=1) + _read_usage(reply)
            except GenerationForbidden:
                raise
            except GenerationRejected as error:  # such an endpoint knows no such parameters
                logger.bind(model=self.name).info("no probabilities of tokens: {}", error)
            else:
                if alternatives := read_alternatives(choice):
                    return choose_by_probability(alternatives, words), usage
            self._tells_probabilities = False
        text, usage = await self.complete(messages, seconds)
        return choose_by_word(text, words), usage

    async def close(self) -> None:
        """Closes the connections."""
        await self._streams.close()
        await self._client.close()

    @asynccontextmanager
    async def _open_events(
        self, messages: Sequence[ChatMessage], headers: Mapping[str, str], deadline: float
    ) -> AsyncIterator[EventReader]:
        async with self._limit_step(deadline):
            response = await self._streams.open(list(messages), headers)
        try:
            async with aclosing(response):
                yield EventReader(response.aiter_bytes())
        except ThoughtsAloud:
            self._thinks = True  # from now on nothing is said before the thoughts end
            logger.bind(model=self.name).warning("the model thinks aloud without a beginning: set its thinks to true")
            raise

    def _limit_step(self, deadline: float) -> AbstractAsyncContextManager[None]:
        """Limits one step of a streamed reply to the patience with silence, and to what is left of the whole."""
        return self._enforce_deadline(min(self._options.silence, deadline - time.monotonic()))

    async def _ask_for_shape(self, messages: Sequence[ChatMessage]) -> Any:
        """Returns a whole reply. The first request for a shape finds out how to ask for it; what the endpoint refuses
        is not tried again.
        """
        shape = get_shape(messages)
        if shape is None:
            return await self._request_json(messages)
        bound: dict[str, Any] = {}
        if shape.tokens and not self._thinks:  # thoughts count, too
            bound = dict.fromkeys(self._length, min(shape.tokens, self._options.max_tokens))
        if self._shaping is not None:
            return await self._request_json(messages, self._shaping | bound)
        import openai

        while True:
            mode = self._modes[0]
            try:
                return await self._request_json(messages, build_request_fields(mode, shape) | bound)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if mode is Mode.PLAIN:  # it was not about the shape
                    self._modes = list(Mode)
                    raise
                self._modes = [other for other in self._modes if other is not mode]
                logger.bind(model=self.name).info("the endpoint knows no {}: {}", mode, error)

    async def _request_json(self, messages: Sequence[ChatMessage], further: Mapping[str, Any] | None = None) -> Any:
        """Returns a whole reply as plain JSON: `chat.completions.create` would build objects, which takes 1 ms."""
        options: Any = {"headers": dict(get_current_span().build_headers())}
        body = {**self._body, **(further or {}), "messages": list(messages)}
        return await self._client.post(_PATH, cast_to=object, body=body, options=options)

    @asynccontextmanager
    async def _enforce_deadline(self, seconds: float) -> AsyncIterator[None]:
        """Wraps one step of the client with a deadline, and turns its errors into ours."""
        import openai

        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                yield
        except TimeoutError as error:
            raise GenerationLate(f"{self.name}: silent for {seconds:.1f} s") from error
        except (openai.APIStatusError, httpx.HTTPStatusError) as error:
            status = error.response.status_code
            if status in _TEMPORARY or status >= 500:
                raise GenerationUnavailable(f"{self.name}: status {status}", _read_retry_after(error)) from error
            kind = GenerationForbidden if status in _FOR_ALL else GenerationRejected
            raise kind(f"{self.name}: status {status}, {error.response.text[:_TOLD]}") from error
        except (openai.OpenAIError, httpx.HTTPError) as error:
            raise GenerationUnavailable(f"{self.name}: {type(error).__name__}") from error
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise GenerationUnavailable(f"{self.name}: not the agreed JSON") from error


class _ReplyReader:
    """Reads a streamed reply. Usage may be told once, in every event, or twice: each token counts once."""

    def __init__(self, thoughts: ThoughtFilter) -> None:
        self._thoughts = thoughts
        self._told = Usage()
        self._thinking = False

    def read_event(self, chunk: Any) -> list[Part]:
        """Returns the parts of one event. Raises TypeError, AttributeError, LookupError, GenerationError."""
        pieces: list[Part] = self._count_new_usage(chunk)
        for choice in chunk["choices"]:
            pieces += self._count_new_usage(choice)
            if choice.get("finish_reason") == "content_filter":
                raise GenerationRejected(f"{chunk.get('model')}: content filter")
            delta = choice.get("delta") or {}
            if thinks := any(delta.get(name) for name in _THOUGHTS):
                self._thoughts.leave_thoughts()
            content = "" + (delta.get("content") or "")  # a number for a text raises
            if text := self._thoughts.feed(content):
                pieces.append(text)
            elif (thinks or content) and not self._thinking:
                self._thinking = True
                pieces.append(Thinking())
            if choice.get("finish_reason") == "length":
                pieces += [*self.finish(), Cut()]
        return pieces

    def finish(self) -> list[Part]:
        """Returns what was held back."""
        rest = self._thoughts.finish()
        return [rest] if rest else []

    def _count_new_usage(self, source: Any) -> list[Part]:
        reported = _read_usage(source)
        more = Usage(
            0,
            max(0, reported.prompt_tokens - self._told.prompt_tokens),
            max(0, reported.completion_tokens - self._told.completion_tokens),
        )
        self._told += more
        return [more] if more != Usage() else []


def _read_usage(reply: Any) -> Usage:
    usage = reply.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or usage.get("prompt_cache_hit_tokens")
    prompt_tokens, completion_tokens = (int(usage.get(name) or 0) for name in _COUNTS)
    return Usage(0, prompt_tokens, completion_tokens, int(cached or 0))


def _read_retry_after(error: Any) -> float:
    """Returns the seconds of the header; 0.0 without it, or when it is a date."""
    value = error.response.headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdigit() else 0.0
