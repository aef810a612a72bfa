"""What was said before, and what rules make of a message in its light."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.dialogue import build_state
from agents.passages.quotable import is_safe_text
from agents.passages.sentences import split_sentences
from agents.types import Question
from agents.understanding.followups import find_choice, rewrite_by_rules
from agents.understanding.state import NOTHING_SAID, DialogueState, Turn
from agents.understanding.utterance import RewriteKind, Utterance
from app.conversations.rows import read_proposal, select_readable
from app.conversations.types import TurnRow
from app.turns.types import Message
from app.types import SessionKey

if TYPE_CHECKING:
    from app.conversations.repository import ConversationRepository


# Questions of the summary, and characters of each: it rolls on with the conversation and costs a model 500 at most.
SUMMARISED, SUMMARISED_CHARS = 12, 40

# Of a picture's text: what the embedder reads beside a message.
PICTURED_CHARS = 200


class History:
    """turns: how many earlier ones are looked at, 0 for none; rows_to_model: see `select_readable`; texts: what is
    written in pictures, by the ids of attachments.
    """

    def __init__(
        self,
        conversations: ConversationRepository,
        turns: int,
        *,
        rows_to_model: Callable[[], bool],
        texts: Callable[[SessionKey, Sequence[str]], Awaitable[tuple[str, ...]]] | None = None,
    ) -> None:
        self._conversations = conversations
        self._turns = turns
        self._rows_to_model = rows_to_model
        self._texts = texts

    async def build_question(self, message: Message, utterance: Utterance) -> Question:
        """Builds the question with its history, what it picks or leaves out, and what the last turn proposed."""
        rows = await self._load_rows(message)
        turns: tuple[Turn, ...] = ()
        if self._turns:
            turns = (
                _rewrite_turns(message.history[-self._turns :])
                if message.history
                else self._select_readable(message, rows)
            )
        return Question(
            _complete_utterance(utterance, turns),
            history=turns,
            summary=await self._summarize_earlier(message)
            if self._turns and self._turns in (len(turns), len(rows))
            else "",
            page=message.page,
            caller=message.caller,
            sender=message.sender,
            where=message.where,
            pictured=await self._read_pictures(message, rows) if utterance.original else (),
            state=self._derive_state(message, rows),
            session=message.session_id,
            proposal=read_proposal(rows[-1]) if rows and rows[-1].rows_of in ("", message.caller) else None,
        )

    async def _read_pictures(self, message: Message, rows: Sequence[TurnRow]) -> tuple[str, ...]:
        """Reads the text in the pictures that the message is about: its own, else those of the message before it. Text
        that addresses a model is left out, and so is more than a search can use.
        """
        sent = [one.id for one in message.attached] or [one["id"] for one in (rows[-1].attachments if rows else ())]
        if not sent or self._texts is None:
            return ()
        read = await self._texts(SessionKey(message.tenant, message.session_id), sent)
        sentences = [sentence.text.strip() for text in read for sentence in split_sentences(text)]
        told = " ".join(text for text in sentences if text and is_safe_text(text))[:PICTURED_CHARS]
        return (told,) if told else ()

    async def load_state(self, message: Message) -> DialogueState:
        """Loads what the conversation was about before this message."""
        return self._derive_state(message, await self._load_rows(message))

    def _derive_state(self, message: Message, rows: Sequence[TurnRow]) -> DialogueState:
        """Returns the state of the last turn. What was said about another member's data is not passed on."""
        if message.history:
            return build_state(message.history[-self._turns :] if self._turns else ())
        state = DialogueState.from_json(rows[-1].state) if rows and self._turns else NOTHING_SAID
        return state if state.member in ("", message.caller) else NOTHING_SAID

    def _select_readable(self, message: Message, rows: Sequence[TurnRow]) -> tuple[Turn, ...]:
        return select_readable(rows, message.caller, to_model=self._rows_to_model())

    async def _load_rows(self, message: Message) -> list[TurnRow]:
        """Loads the last stored turns, at least one."""
        if message.new_session:
            return []
        return await self._conversations.load_last_turns(message.tenant, message.session_id, max(self._turns, 1))

    async def _summarize_earlier(self, message: Message) -> str:
        """Lists the questions before the turns in view, each of them cut, the latest ones kept."""
        if message.history:
            asked = [turn.utterance.original for turn in message.history[: -self._turns][-SUMMARISED:]]
        else:
            known = ("", message.caller) if self._rows_to_model() else ("",)
            asked = await self._conversations.load_earlier_questions(
                message.tenant, message.session_id, self._turns, SUMMARISED, known
            )
        return "；".join(dict.fromkeys(question[:SUMMARISED_CHARS] for question in asked))


def _complete_utterance(utterance: Utterance, turns: Sequence[Turn]) -> Utterance:
    """Completes an utterance by what it leaves out, and by what it chooses, which alone is surely meant."""
    completed = utterance.add_rewrite(rewrite_by_rules(utterance.original, turns), RewriteKind.RULES, searched=False)
    return completed.add_rewrite(find_choice(utterance.reading, turns), RewriteKind.CHOICE)


def _rewrite_turns(history: Iterable[Turn]) -> tuple[Turn, ...]:
    """Rewrites the turns that a client sent along, each in the light of those before it."""
    turns: list[Turn] = []
    for turn in history:
        rewrite = rewrite_by_rules(turn.utterance.original, turns)
        turns.append(replace(turn, utterance=turn.utterance.add_rewrite(rewrite, RewriteKind.RULES)))
    return tuple(turns)
