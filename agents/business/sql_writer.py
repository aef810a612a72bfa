"""Writes SQL by a language model for questions that the offline layer does not know; the guard checks it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import NoneType

from loguru import logger

from agents.business.company_tools import CompanyTool
from agents.business.engines.dialects import find_dialect
from agents.business.schema import Schema
from agents.business.tools import TOOLS, ToolRequest, read_call
from agents.errors import BudgetExhausted, GenerationError, GenerationForbidden, GenerationRejected
from agents.llm.chat import ChatMessage, ChatModel
from agents.llm.replies import UnreadableReply, read_object
from agents.prompt_library import PromptedMessages, Prompts, load_shipped_prompts
from agents.types import Question, Usage
from agents.understanding.normalise import compile_whole_word
from knowledge.tracing import start_span


@dataclass(frozen=True, slots=True)
class WrittenSql:
    """`sql` is None where the model says that the tables do not hold it, or did not reply as told."""

    sql: str | None
    usage: Usage
    # It was late or out of reach.
    failed: bool = False
    # The other tool that it called.
    requested: ToolRequest | None = None


class SqlWriter:
    """Asks a model for one statement, or for another tool; the model sees the schema and the day, never who asks.

    Its first reply tells whether the model calls tools at all; one that does not is asked for JSON alone from then on.
    `timeout`: seconds for a reply; `prompts`: gives those in force; `company`: the company's tools, offered beside
    ours.
    """

    def __init__(
        self,
        model: ChatModel,
        schema: Schema,
        dialect: str,
        timeout: float,
        prompts: Callable[[], Prompts] = load_shipped_prompts,
        company: Mapping[str, CompanyTool] | None = None,
    ) -> None:
        self._model = model
        self._company = company or {}
        own = "、".join(self._company)
        self._own_tools = f"公司另有工具 {own}：问的正是它们各自说明的内容时才调用，不写是谁。" if own else ""
        self._tools = (*TOOLS, *(tool.build_tool() for tool in self._company.values()))
        self._prompts = prompts
        self._schema = schema.describe()
        self._dialect = find_dialect(dialect).shown
        self._timeout = timeout
        self._calls_tools: bool | None = None

    async def write(self, question: Question, today: date, refused: tuple[str, str] | None = None) -> WrittenSql:
        """Writes a statement. refused: the statement before this one, and what was wrong with it."""
        try:
            with start_span("write_sql"):
                if self._calls_tools is not False:
                    called = await self._write_or_call(self._build_messages(question, today, refused, offers=True))
                    if called is not None:
                        return called
                messages = self._build_messages(question, today, refused, offers=False)
                reply, usage = await self._model.complete(messages, self._timeout)
        except GenerationError:
            return WrittenSql(None, Usage(calls=1), failed=True)
        return WrittenSql(parse_sql(reply), usage)

    async def _write_or_call(self, messages: PromptedMessages) -> WrittenSql | None:
        """As `write`; None where the endpoint knows no tools. Raises GenerationError."""
        try:
            reply, usage = await self._model.complete_or_call(messages, self._tools, self._timeout)
        except (GenerationForbidden, BudgetExhausted):
            raise
        except GenerationRejected as error:
            if self._calls_tools:
                raise
            logger.bind(model=self._model.name).info("no tools: {}", error)
            self._calls_tools = False
            return None
        if isinstance(reply, str):
            self._calls_tools = bool(self._calls_tools)
            return WrittenSql(parse_sql(reply), usage)
        self._calls_tools = True
        requested = read_call(reply, self._company)
        if requested is None:
            logger.info("a model called a tool otherwise than told")
            return WrittenSql(None, usage)
        return WrittenSql(requested.sql or None, usage, requested=requested)

    def _build_messages(
        self, question: Question, today: date, refused: tuple[str, str] | None, *, offers: bool
    ) -> PromptedMessages:
        prompts, names = self._prompts(), ["business_sql"]
        rules = prompts.fill("business_sql", dialect=self._dialect, today=f"{today:%Y-%m-%d}", schema=self._schema)
        if offers:
            names.append("business_tools")
            rules = f"{rules}\n\n{prompts.get_template('business_tools')}{self._own_tools}"
        text = question.utterance.expanded_text
        if question.caller and not question.caller.isdecimal():  # 12 is more often a number than a member's
            text = compile_whole_word(question.caller).sub("我", text)
        messages = [{"role": "system", "content": rules}, _build_message("user", message=text)]
        if refused is not None:
            sql, reason = refused
            messages += [_build_message("assistant", sql=sql), _build_message("user", refused=reason)]
        return prompts.build_messages(*names, messages=messages)


def _build_message(role: str, **fields: str) -> ChatMessage:
    return {"role": role, "content": json.dumps(fields, ensure_ascii=False)}


def parse_sql(reply: str) -> str | None:
    """Reads `{"sql": "…"}`; None as well for a reply of another shape."""
    try:
        sql = read_object(reply, sql=(str, NoneType))["sql"]
    except UnreadableReply as error:
        logger.opt(exception=error).info("a model wrote no statement as told")
        return None
    return sql if sql and sql.strip() else None
