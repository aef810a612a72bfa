"""What was said before, and what the customer means in its light."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agents.rewriter import Rewriter, rewritten_by_rules
from agents.types import Proposal, Question, Turn
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
        """The question with its history, its rewrite when it is a follow-up, and what was proposed before it."""
        rows = await self._rows(message)
        turns: tuple[Turn, ...] = ()
        if self._turns:
            turns = _understood(message.history[-self._turns :]) if message.history else tuple(map(_turn, rows))
        question = Question(
            text,
            history=turns,
            summary=await self._summary(message) if turns and len(turns) == self._turns else "",
            page=message.page,
            caller=message.caller,
            session=message.session_id,
            proposal=_proposal(rows[-1]) if rows else None,
        )
        if self._rewriter is None or not self._turns:
            return question
        rewrite = await self._rewriter.rewrite(text, turns, message.page)
        return replace(question, rewrite=rewrite.text, degraded=rewrite.degraded, usage=rewrite.usage)

    async def _rows(self, message: Message) -> list[TurnRow]:
        """The last turns that are kept, at least one."""
        if message.new_session:
            return []
        return await self._conversations.last(message.tenant, message.session_id, max(self._turns, 1))

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
    data, proposal = row.response["data"], _proposal(row)
    proposed = proposal.action if proposal else ""
    return Turn(row.question, row.standalone, row.reply, tuple(data["suggestions"]), proposed)


def _proposal(row: TurnRow) -> Proposal | None:
    stored = row.response["data"].get("proposal")
    return Proposal(**stored) if stored else None
