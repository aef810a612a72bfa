"""Drafts a curated answer by a model, from what staff said and what the knowledge base holds."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.llm.replies import Completer, UnreadableReply
from agents.llm.writer import format_prompt_text
from agents.prompt_library import Prompts, join_lines, load_shipped_prompts
from agents.shapes import TEXT, Shape
from agents.verification.quantities import convert_numerals
from knowledge.text import fold

# Of all that staff said, and of each fragment.
MAX_CHARS = 1500
_DRAFT = Shape("draft", {"question": TEXT, "answer": TEXT}, {})
# 第一步 and 第二步 only count on.
_NUMBER = re.compile(r"(?<![第\d.])\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class DraftText:
    """A question and its answer; the answer is empty where the material holds none."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class FaqDrafter:
    """`seconds`: deadline of the request; `prompts`: those in force."""

    model: Completer
    seconds: float
    prompts: Prompts = field(default_factory=load_shipped_prompts)

    async def write(self, questions: Sequence[str], staff: str, fragments: Sequence[str]) -> DraftText:
        """Drafts question and answer.

        Args:
            questions: as customers asked.
            staff: what staff answered, may be empty.
            fragments: of the knowledge base, may be empty.

        Raises:
            GenerationUnavailable, GenerationRejected: see `ChatModel.complete`.
            UnreadableReply: the reply has another shape, or a number that is not in the material.
        """
        material = "\n\n".join(format_prompt_text(fragment, MAX_CHARS) for fragment in fragments)
        prompts = self.prompts
        prompt = prompts.fill(
            "gap_draft_material",
            tag=secrets.token_hex(8),
            questions="\n".join(join_lines(question) for question in questions),
            staff=format_prompt_text(staff, MAX_CHARS) or "（无）",
            fragments=material or "（无）",
        )
        rules = prompts.get_template("gap_draft")
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": prompt}]
        request = prompts.build_messages("gap_draft", "gap_draft_material", messages=messages, shape=_DRAFT)
        reply, _ = await self.model.complete(request, self.seconds)
        fields = _DRAFT.read(reply)
        question, answer = join_lines(fields["question"]), fields["answer"].strip()
        known = set(_find_numbers("\n".join((*questions, staff, *fragments))))
        if invented := [number for number in _find_numbers(answer) if number not in known]:
            raise UnreadableReply(f"numbers out of nowhere: {', '.join(invented)}")
        if not question:
            raise UnreadableReply("no question")
        if prompts.extract_examples("gap_draft") & {fold(question), fold(answer)}:
            raise UnreadableReply("an example of the prompt")
        return DraftText(question, answer)


def _find_numbers(text: str) -> list[str]:
    """Returns the numbers in digits, however they are written: 七天 is 7."""
    return _NUMBER.findall(convert_numerals(fold(text)))
