"""What was said before, and what the customer means in its light."""

from __future__ import annotations

from dataclasses import replace

from agents.rewriter import FollowUpRewriter
from agents.types import Question, Turn
from app.chat.session import Message
from app.db.conversations import ConversationRepository, TurnRow


class History:
    """turns: how many earlier turns are looked at; 0 takes every message by itself."""

    def __init__(self, conversations: ConversationRepository, rewriter: FollowUpRewriter, turns: int) -> None:
        self._conversations = conversations
        self._rewriter = rewriter
        self._turns = turns

    async def question(self, message: Message, text: str) -> Question:
        """The question with its history, and its rewrite when it is a follow-up."""
        if self._turns == 0:
            return Question(text)
        turns = await self._before(message)
        return Question(text, self._rewriter.rewrite(text, turns), turns)

    async def _before(self, message: Message) -> tuple[Turn, ...]:
        if message.history:
            return self._understood(message.history[-self._turns :])
        rows = await self._conversations.last(message.tenant, message.session_id, self._turns)
        return tuple(_turn(row) for row in rows)

    def _understood(self, history: tuple[Turn, ...]) -> tuple[Turn, ...]:
        """What a client tells of earlier turns, each in the light of those before it."""
        turns: list[Turn] = []
        for turn in history:
            turns.append(replace(turn, standalone=self._rewriter.rewrite(turn.question, turns) or turn.question))
        return tuple(turns)


def _turn(row: TurnRow) -> Turn:
    return Turn(row.question, row.standalone, row.reply, tuple(row.response["data"]["suggestions"]))
