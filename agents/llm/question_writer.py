"""Writes by a model what customers may ask about a passage: one question that it answers, one that it leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.llm.replies import Completer, UnreadableReply, read_object
from agents.llm.writer import format_prompt_heading, format_prompt_text
from agents.prompt_library import Prompts, join_lines, load_shipped_prompts
from knowledge.types import Chunk

MAX_PASSAGE_CHARS = 800
MAX_QUESTION_CHARS = 100


@dataclass(frozen=True, slots=True)
class QuestionWriter:
    """`seconds`: deadline of one request; `prompts`: those in force."""

    model: Completer
    seconds: float
    prompts: Prompts = field(default_factory=load_shipped_prompts)

    async def write(self, chunk: Chunk) -> tuple[str, str]:
        """Returns a question that the passage should answer, and one that it should not; others judge whether that is
        so.

        Raises GenerationUnavailable, GenerationRejected, UnreadableReply.
        """
        passage = f"{format_prompt_heading(chunk)}\n{format_prompt_text(chunk.text, MAX_PASSAGE_CHARS, chunk.layout)}"
        rules = self.prompts.get_template("calibration_questions")
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": passage}]
        prompt = self.prompts.build_messages("calibration_questions", messages=messages)
        reply, _ = await self.model.complete(prompt, self.seconds)
        fields = read_object(reply, stated=str, missing=str)
        stated, missing = (join_lines(fields[name])[:MAX_QUESTION_CHARS] for name in ("stated", "missing"))
        if not stated or not missing:
            raise UnreadableReply("no question")
        return stated, missing
