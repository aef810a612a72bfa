"""Makes follow-ups self-contained by a small model, held to the facts of the conversation."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from loguru import logger

from agents.asking import IDENTIFIER
from agents.errors import GenerationError
from agents.llm.citations import without_marks
from agents.llm.model import ChatModel
from agents.llm.quotable import safe_text
from agents.pages import subject_of
from agents.prompting import fill, one_line, template
from agents.rewriter import Rewrite, keeps_facts
from agents.routing.rules import explicit
from agents.types import Page, Turn, Usage
from knowledge.text import clean, fold

MAX_CHARS = 120
"""Of a rewrite; a longer one is an answer or a lecture."""
MAX_TURNS = 3
MAX_REPLY_CHARS = 200
"""What a follow-up refers to was said lately."""
_QUOTES = "“”\"'「」『』 "
_DIGITS = re.compile(r"\d+")


class ModelRewriter:
    """Asks the model about every message that comes behind others, but for 谢谢 and the like, which stand alone; what
    fails or is not safe is no rewrite.
    """

    def __init__(self, model: ChatModel, seconds: float) -> None:
        """seconds: deadline of the model."""
        self._model = model
        self._seconds = seconds

    async def rewrite(self, text: str, history: Sequence[Turn], page: Page | None = None) -> Rewrite:
        """See `Rewriter.rewrite`."""
        if not history or history[-1].rows or explicit(text):  # what leans on rows is not for a model
            return Rewrite(None)
        shown = _shown(history)
        prompt = fill("follow_up", tag=secrets.token_hex(8), history=shown, page=subject_of(page), text=one_line(text))
        messages = [{"role": "system", "content": template("rewrite")}, {"role": "user", "content": prompt}]
        try:
            reply, usage = await self._model.complete(messages, self._seconds)
        except GenerationError as error:
            logger.opt(exception=error).warning("no rewrite, the model failed")
            return Rewrite(None, ("rewrite",), Usage(calls=1))
        written = clean(reply).strip().strip(_QUOTES)
        if not _safe(written, text, f"{shown}\n{subject_of(page)}"):
            return Rewrite(None, usage=usage)
        return Rewrite(written if written != text.strip() else None, usage=usage)


def _safe(written: str, text: str, known: str) -> bool:
    """One line that keeps the facts of the question and adds none that the conversation does not hold."""
    if not written or len(written) > MAX_CHARS or "\n" in written or not safe_text(written):
        return False
    before, after = fold(f"{known}\n{text}"), fold(written)
    numbers = set(_DIGITS.findall(after)) <= set(_DIGITS.findall(before))
    return keeps_facts(text, written) and numbers and all(name in before for name in IDENTIFIER.findall(after))


def _shown(history: Sequence[Turn]) -> str:
    turns = (
        f"顾客：{one_line(turn.question)}\n客服：{one_line(without_marks(turn.reply))[:MAX_REPLY_CHARS]}"
        for turn in history[-MAX_TURNS:]
        if not turn.rows
    )
    return "\n".join(turns)
