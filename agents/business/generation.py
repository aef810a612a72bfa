"""Questions that the offline layer does not know, as SQL of a language model: text, until the guard has read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from types import NoneType

from loguru import logger

from agents.business.engines.dialects import dialect_of
from agents.business.schema import Schema
from agents.errors import GenerationError
from agents.llm.chat import ChatModel
from agents.llm.replies import UnreadableReply, read_object
from agents.prompting import PromptedMessages, Prompts, shipped
from agents.types import Question, Usage
from agents.understanding.normalise import whole_word
from knowledge.tracing import span


@dataclass(frozen=True, slots=True)
class Written:
    """`sql` is None where the model says that the tables do not hold it, or did not answer as told; `failed`: it was
    late or out of reach.
    """

    sql: str | None
    usage: Usage
    failed: bool = False


class SqlWriter:
    """Asks a model for one statement; it sees the schema and the day, never who asks. timeout: seconds for a reply;
    prompts: gives those in force.
    """

    def __init__(
        self,
        model: ChatModel,
        schema: Schema,
        dialect: str,
        timeout: float,
        prompts: Callable[[], Prompts] = shipped,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._schema = schema.described()
        self._dialect = dialect_of(dialect).shown
        self._timeout = timeout

    async def write(self, question: Question, today: date, refused: tuple[str, str] | None = None) -> Written:
        """refused: the statement before this one, and what was wrong with it."""
        messages = self._messages(question, today)
        if refused is not None:
            sql, reason = refused
            messages.append({"role": "assistant", "content": json.dumps({"sql": sql}, ensure_ascii=False)})
            messages.append({"role": "user", "content": json.dumps({"refused": reason}, ensure_ascii=False)})
        try:
            with span("write_sql"):
                reply, usage = await self._model.complete(messages, self._timeout)
        except GenerationError:
            return Written(None, Usage(calls=1), failed=True)
        return Written(parse_sql(reply), usage)

    def _messages(self, question: Question, today: date) -> PromptedMessages:
        prompts = self._prompts()
        rules = prompts.fill("business_sql", dialect=self._dialect, today=f"{today:%Y-%m-%d}", schema=self._schema)
        text = question.resolved
        if question.caller and not question.caller.isdecimal():  # 12 is more often a number than a member's
            text = whole_word(question.caller).sub("我", text)
        asked = {"role": "user", "content": json.dumps({"message": text}, ensure_ascii=False)}
        return prompts.conversation("business_sql", messages=[{"role": "system", "content": rules}, asked])


def parse_sql(reply: str) -> str | None:
    """`{"sql": "…"}`; None as well for a reply of another shape."""
    try:
        sql = read_object(reply, sql=(str, NoneType))["sql"]
    except UnreadableReply as error:
        logger.opt(exception=error).info("a model wrote no statement as told")
        return None
    return sql if sql and sql.strip() else None
