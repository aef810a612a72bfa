"""What was said before, and what rules make of a message in its light."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.types import Question, Turn
from agents.understanding.followups import picked, rewritten_by_rules
from agents.understanding.reading import Reading
from agents.understanding.state import NOTHING_SAID, DialogueState, state_of
from app.chat.session import Message
from app.conversations.rows import proposal_of, readable
from app.conversations.types import TurnRow

if TYPE_CHECKING:
    from app.conversations.repository import ConversationRepository


SUMMARISED, SUMMARISED_CHARS = 12, 40
"""Questions of the summary, and characters of each: it rolls on with the conversation and costs a model 500 at most."""


class History:
    """turns: how many earlier ones are looked at, 0 for none; rows_to_model: see `readable`."""

    def __init__(self, conversations: ConversationRepository, turns: int, *, rows_to_model: Callable[[], bool]) -> None:
        self._conversations = conversations
        self._turns = turns
        self._rows_to_model = rows_to_model

    async def question(self, message: Message, reading: Reading) -> Question:
        """The question with its history, with what it picks or leaves out, and what was proposed before it."""
        rows = await self._rows(message)
        turns: tuple[Turn, ...] = ()
        if self._turns:
            turns = _understood(message.history[-self._turns :]) if message.history else self._readable(message, rows)
        return Question(
            reading.text,
            reading=reading,
            rewrite=picked(reading, turns),
            follow_up=rewritten_by_rules(reading.text, turns),
            history=turns,
            summary=await self._summary(message) if self._turns and self._turns in (len(turns), len(rows)) else "",
            page=message.page,
            caller=message.caller,
            where=message.where,
            state=self._state(message, rows),
            session=message.session_id,
            proposal=proposal_of(rows[-1]) if rows and rows[-1].rows_of in ("", message.caller) else None,
        )

    async def state(self, message: Message) -> DialogueState:
        """What the conversation is about before this message."""
        return self._state(message, await self._rows(message))

    def _state(self, message: Message, rows: Sequence[TurnRow]) -> DialogueState:
        """That of the last turn; what was said about somebody else's data stays with them."""
        if message.history:
            return state_of(message.history[-self._turns :] if self._turns else ())
        state = DialogueState.from_json(rows[-1].state) if rows and self._turns else NOTHING_SAID
        return state if state.member in ("", message.caller) else NOTHING_SAID

    def _readable(self, message: Message, rows: Sequence[TurnRow]) -> tuple[Turn, ...]:
        return readable(rows, message.caller, to_model=self._rows_to_model())

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
            known = ("", message.caller) if self._rows_to_model() else ("",)
            asked = await self._conversations.questions_before(
                message.tenant, message.session_id, self._turns, SUMMARISED, known
            )
        return "；".join(dict.fromkeys(question[:SUMMARISED_CHARS] for question in asked))


def _understood(history: Iterable[Turn]) -> tuple[Turn, ...]:
    """What a client tells of earlier turns, each in the light of those before it."""
    turns: list[Turn] = []
    for turn in history:
        turns.append(replace(turn, standalone=rewritten_by_rules(turn.question, turns) or turn.question))
    return tuple(turns)
