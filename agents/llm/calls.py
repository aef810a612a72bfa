"""Records requests to language models: for the trace of the turn that they are made for, and as spans."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from agents.errors import UnreadableReply
from agents.llm.chat import ChatMessage, ChatModel, Part, Reply, StreamWatch
from agents.llm.model_wrapper import AskWhole, ModelWrapper
from agents.prompt_library import PromptedMessages
from agents.types import ModelCall, Usage
from knowledge.tracing import TracedSpan, Value, start_span

CallRecorder = Callable[[ModelCall], None]
# Not an argument: models are shared by all turns, and between a turn and its model stand generators, judges and agents
# that have no use for it.
_NOTE: ContextVar[CallRecorder | None] = ContextVar("model_calls", default=None)


@contextmanager
def record_calls(note: CallRecorder) -> Iterator[None]:
    """While the context lasts, passes each finished request, of tasks started within it too, to `note`."""
    token = _NOTE.set(note)
    try:
        yield
    finally:
        _NOTE.reset(token)


class RecordedModel(ModelWrapper):
    """A chat model whose requests are recorded. provider: of the model; price: gives the cost of a usage."""

    def __init__(self, model: ChatModel, provider: str, price: Callable[[Usage], float]) -> None:
        super().__init__(model)
        self._provider, self._price = provider, price

    def stream(self, messages: Sequence[ChatMessage], *watches: StreamWatch) -> AsyncGenerator[Part]:
        """See `ChatModel.stream`."""
        call = self._begin_call(messages)
        with call.span.enter():
            return self._model.stream(messages, *watches, self._watch_stream(call))

    @asynccontextmanager
    async def _watch_stream(self, call: _Call) -> AsyncIterator[Callable[[Part], None]]:
        def add_part(part: Part) -> None:
            if isinstance(part, Usage):
                call.usage += part
            elif isinstance(part, str) and not call.answered:
                call.mark_first_word()

        with self._record_call(call):
            yield add_part

    async def _ask_whole(
        self, messages: Sequence[ChatMessage], seconds: float, ask: AskWhole[Reply]
    ) -> tuple[Reply, Usage]:
        with self._record_call(self._begin_call(messages)) as call:
            call.usage = Usage(calls=1)
            try:
                with call.span.enter():
                    reply, call.usage = await ask(self._model, seconds)
            except UnreadableReply as error:
                call.usage, error.provider = error.usage or call.usage, self._provider
                raise
            return reply, call.usage

    def _begin_call(self, messages: Sequence[ChatMessage]) -> _Call:
        prompts = messages.prompts if isinstance(messages, PromptedMessages) else {}
        return _Call(self._open_span(prompts), prompts)

    @contextmanager
    def _record_call(self, call: _Call) -> Iterator[_Call]:
        note, failed = _NOTE.get(), None
        try:
            yield call
        except GeneratorExit:  # the caller needs no more of the reply
            raise
        except BaseException as error:
            failed = error
            raise
        finally:
            cost = self._price(call.usage)
            kind = type(failed).__name__ if failed else ""
            if note is not None:
                note(ModelCall(self.name, call.prompts, call.usage, cost, call.milliseconds, kind))
            call.span.set_attributes(_build_attributes(call.usage, cost))
            call.span.end(failed)

    def _open_span(self, prompts: Mapping[str, str]) -> TracedSpan:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self.name,
        }
        for name, version in list(prompts.items())[:1]:
            attributes |= {"yingda.prompt.name": name, "yingda.prompt.version": version}
        return start_span(f"chat {self.name}", attributes)


@dataclass(slots=True)
class _Call:
    span: TracedSpan
    prompts: Mapping[str, str]
    usage: Usage = field(default_factory=Usage)
    answered: bool = False
    _started: float = field(default_factory=time.perf_counter)

    @property
    def milliseconds(self) -> float:
        return round((time.perf_counter() - self._started) * 1000, 3)

    def mark_first_word(self) -> None:
        self.answered = True
        self.span.set_attributes({"yingda.first_token_ms": self.milliseconds})


def _build_attributes(usage: Usage, cost: float) -> Mapping[str, Value]:
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "yingda.requests": usage.calls,
        "yingda.cost": cost,
    }
