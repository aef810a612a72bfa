"""What was said before, and what the customer means in its light."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agents.rewriter import Rewriter, rewritten_by_rules
from agents.types import Question, Turn
from app.chat.session import Message
from app.db.conversations import ConversationRepository, TurnRow

SUMMARISED, SUMMARISED_CHARS = 12, 40
"""Questions of the summary, and characters of each: it rolls on with the conversation and costs a model 500 at most."""


class History:
    """rewriter: None leaves follow-ups as they are; turns: how many earlier ones are looked at, 0 for none."""

    def __init__(self, conversations: ConversationRepository, rewriter: Rewriter | None, turns: int) -> None:
        self._conversations = conversations
        self._rewriter = rewriter
        self._turns = turns

    async def question(self, message: Message, text: str) -> Question:
        """The question with its history, and its rewrite when it is a follow-up."""
        if self._turns == 0:
            return Question(text, page=message.page)
        turns = await self._before(message)
        summary = await self._summary(message) if len(turns) == self._turns else ""
        question = Question(text, history=turns, summary=summary, page=message.page)
        if self._rewriter is None:
            return question
        rewrite = await self._rewriter.rewrite(text, turns, message.page)
        return replace(question, rewrite=rewrite.text, degraded=rewrite.degraded, usage=rewrite.usage)

    async def _before(self, message: Message) -> tuple[Turn, ...]:
        if message.history:
            return _understood(message.history[-self._turns :])
        rows = await self._conversations.last(message.tenant, message.session_id, self._turns)
        return tuple(_turn(row) for row in rows)

    async def _summary(self, message: Message) -> str:
        """What was asked before the turns that are looked at, each question cut, the latest ones kept."""
        if message.history:
            asked = [turn.question for turn in message.history[: -self._turns][-SUMMARISED:]]
        else:
            asked = await self._conversations.questions_before(
                message.tenant, message.session_id, self._turns, SUMMARISED
            )
        return "；".join(dict.fromkeys(question[:SUMMARISED_CHARS] for question in asked))


def _understood(history: Iterable[Turn]) -> tuple[Turn, ...]:
    """What a client tells of earlier turns, each in the light of those before it."""
    turns: list[Turn] = []
    for turn in history:
        turns.append(replace(turn, standalone=rewritten_by_rules(turn.question, turns) or turn.question))
    return tuple(turns)


def _turn(row: TurnRow) -> Turn:
    return Turn(row.question, row.standalone, row.reply, tuple(row.response["data"]["suggestions"]))
