"""A model on the scripted server, for the agents' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agents.generator import Citation, Piece, Request, Text, Withdrawn
from agents.llm.chat import ModelOptions
from agents.llm.endpoint import EndpointModel
from agents.llm.writer import ModelGenerator
from agents.profile import TenantProfile
from scripts.scripted_llm import Behaviour, ScriptedLLM, Step
from tests.agents.support import candidate, retrieval

QUESTION = "退款多久到账"
RETURNS = "退款在验货后 1～5 个工作日内到账。退货运费由您承担，首重 12 元。"
WARRANTY = "路由器整机保修三年。人为损坏不在保修范围内。"


@asynccontextmanager
async def scripted(
    *script: Step, silence: float | None = None, retries: int = 0, **options: Any
) -> AsyncIterator[Scripted]:
    """A scripted server and a model that asks it, with little patience for a stall; options: of ScriptedLLM."""
    if silence is None:
        silence = 0.3 if {Behaviour.STALL_FIRST, Behaviour.STALL_MIDWAY} & set(script) else 20.0
    async with ScriptedLLM(*script, **options) as server:
        model = EndpointModel(
            ModelOptions("scripted", server.base_url, "key", silence=silence, total=60.0, retries=retries)
        )
        try:
            yield Scripted(server, model)
        finally:
            await model.close()


class Scripted:
    """Server and model."""

    def __init__(self, server: ScriptedLLM, model: EndpointModel) -> None:
        self.server, self.model = server, model


def by_default(llm: Scripted) -> ModelGenerator:
    """What writes with it for a tenant that set nothing."""
    return ModelGenerator(llm.model, TenantProfile(), 3, 800)


def request(*texts: str, question: str = QUESTION, **fields: Any) -> Request:
    """A request over fragments of these texts."""
    fragments = tuple(candidate(text, number=number) for number, text in enumerate(texts))
    found = retrieval(question, *fragments)
    return Request(question, fragments, found.terms, found.idf, **fields)


def reply_of(pieces: list[Piece]) -> str:
    """The text that stands at the end, citations as `[fragment]`."""
    reply = ""
    for piece in pieces:
        match piece:
            case Text(text):
                reply += text
            case Citation(fragment):
                reply += f"[{fragment}]"
            case Withdrawn():
                reply = ""
    return reply
