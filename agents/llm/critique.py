"""Checks a reply by a model: does it answer the question, and do the fragments support its claims?"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from agents.llm.replies import Completer, UnreadableReply, check_numbers
from agents.llm.writer import format_prompt_heading, format_prompt_text
from agents.prompt_library import Prompts, join_lines, load_shipped_prompts
from agents.shapes import NUMBERS, Shape, build_list_schema, build_object_schema
from agents.types import Usage
from knowledge.types import Chunk

# Checked in one request.
MAX_CLAIMS = 10

# How much of the question a reply answers.
Coverage = Literal["FULLY", "PARTIALLY", "CANNOT"]
_CLAIM = build_object_schema({"claim": {"type": "integer"}, "supported": {"type": "boolean"}, "fragments": NUMBERS})
_CRITIQUE = Shape(
    "critique",
    {
        "verdict": {"type": "string", "enum": get_args(Coverage)},
        "quality": {"type": "integer"},
        "relevance": {"type": "number"},
        "claims": build_list_schema(_CLAIM),
    },
    {},
)


@dataclass(frozen=True, slots=True)
class Critique:
    """`quality`: 0 to 100; `relevance`: 0 to 1; `supported`: for every claim, in order, whether a fragment
    supports it.
    """

    coverage: Coverage
    quality: int
    relevance: float
    supported: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Critic:
    """`seconds`: deadline of the request; `max_chunk_chars`: of a fragment in the prompt."""

    model: Completer
    seconds: float
    max_chunk_chars: int
    prompts: Prompts = field(default_factory=load_shipped_prompts)

    async def judge(
        self, question: str, reply: str, claims: Sequence[str], fragments: Mapping[int, Chunk]
    ) -> tuple[str, Usage]:
        """Returns the model's reply, for `read_critique`. Raises GenerationUnavailable, GenerationRejected."""
        prompt = self.prompts.fill(
            "verify_reply",
            tag=secrets.token_hex(8),
            fragments="\n\n".join(
                format_fragment(number, chunk, self.max_chunk_chars) for number, chunk in fragments.items()
            ),
            question=join_lines(question),
            reply=reply.strip(),
            claims="\n".join(f"{number}. {claim}" for number, claim in enumerate(claims, start=1)) or "（无）",
        )
        rules = self.prompts.get_template("verify")
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": prompt}]
        request = self.prompts.build_messages("verify", "verify_reply", messages=messages, shape=_CRITIQUE)
        return await self.model.complete(request, self.seconds)


def read_critique(reply: str, claims: int, fragments: Sequence[int]) -> Critique:
    """Reads the model's reply. Every claim has to be judged once, and a supported one has to name its fragment.

    Args:
        reply: of the model.
        claims: how many were given.
        fragments: their numbers.

    Raises:
        UnreadableReply: the reply has another shape.
    """
    fields = _CRITIQUE.read(reply)
    coverage, relevance = fields["verdict"], float(fields["relevance"])
    if coverage not in get_args(Coverage):
        raise UnreadableReply(f"verdict {coverage!r}")
    if not 0 <= fields["quality"] <= 100 or not math.isfinite(relevance) or not 0 <= relevance <= 1:
        raise UnreadableReply(f"quality {fields['quality']}, relevance {relevance}")
    judged: dict[int, bool] = {}
    for claim in fields["claims"]:
        named = check_numbers(claim["fragments"], fragments)
        judged[claim["claim"]] = claim["supported"] and bool(named)
    if sorted(judged) != list(range(1, claims + 1)) or len(judged) != len(fields["claims"]):
        raise UnreadableReply(f"judged {sorted(judged)} of {claims} claims")
    supported = tuple(judged[number] for number in range(1, claims + 1))
    return Critique(cast(Coverage, coverage), fields["quality"], relevance, supported)


def format_fragment(number: int, chunk: Chunk, max_chars: int) -> str:
    """Returns a fragment under its number, without the sentences that address a model."""
    return f"[{number}] {format_prompt_heading(chunk)}\n{format_prompt_text(chunk.text, max_chars, chunk.layout)}"
