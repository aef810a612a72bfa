"""The handoff card: what a person has to know at a glance, without personal data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.dialogue import ATTACHMENT
from agents.types import Answer, HandoffReason, HandoffRequest, Question, RowSource, Source
from agents.understanding.acts import Act
from agents.understanding.reading import read
from agents.understanding.tickets import Category, detect_category
from app.conversations.types import TurnRow
from app.privacy import mask_personal_data

# Turns on a card.
TRIED = 6
# Of a question and of a reply: a card is read at a glance.
ASKED_CHARS, REPLY_CHARS = 80, 160
# Kinds of entities of which a card shows the end alone.
_PERSONAL = frozenset({"phone", "order_number", "member_name"})
# Characters of that end.
SHOWN_CHARS = 4
# Agents that answer what is no question about the matter.
_NO_QUESTION = frozenset({ATTACHMENT, "care", "chitchat", "deflection", "desk", "escalation", "screening"})


def build_card(
    question: Question, answer: Answer | None, request: HandoffRequest, before: Sequence[TurnRow], priority: int
) -> dict[str, Any]:
    """Builds the card by which a person takes over a conversation, without personal data.

    Args:
        question: The customer's last question.
        answer: The answer that asked for a person; None where the customer asked without the bot.
        request: Why a person is asked for.
        before: Earlier turns, oldest first.
        priority: The priority in the queue.
    """
    tried = [_describe_turn(turn) for turn in before[-TRIED:]]
    asked = _open_question(question, request, before)
    return {
        "summary": _summarize_conversation(question, before),
        "question": _clip_text(asked, ASKED_CHARS),
        "category": _detect_category(asked, answer, request).value,
        "intent": answer.intent if answer else "human_request",
        "outcome": answer.outcome.value if answer else "handoff",
        "entities": _collect_entities([*(turn.question for turn in before[-TRIED:]), question.utterance.expanded_text]),
        "tried": tried,
        "sources": _list_titles(answer),
        "emotion": round(request.emotion, 3),
        "priority": priority,
        "reason": request.reason.value,
    }


def _summarize_conversation(question: Question, before: Sequence[TurnRow]) -> str:
    """Returns what the customer said, one message a line, behind the rolling summary of older messages."""
    lines = [f"此前聊过：{_clip_text(question.summary, 2 * REPLY_CHARS)}"] if question.summary else []
    said = [*(turn.standalone for turn in before[-TRIED:]), question.utterance.original]
    return "\n".join([*lines, *(_clip_text(text, ASKED_CHARS) for text in said if text)])


def _open_question(question: Question, request: HandoffRequest, before: Sequence[TurnRow]) -> str:
    """Returns what the customer wants to know: 转人工 is no question, the one before it is, or what stands beside."""
    if request.reason is not HandoffReason.ASKED:
        return question.utterance.expanded_text
    asked = [turn.standalone for turn in before if turn.response["data"]["agent"] not in _NO_QUESTION]
    if asked:
        return asked[-1]
    return question.utterance.expanded_text if question.utterance.reading.act in (Act.ASKS, Act.TELLS) else ""


def _detect_category(asked: str, answer: Answer | None, request: HandoffRequest) -> Category:
    """Detects what a handoff is about: a danger first, then whether something is asked, reported or
    complained about.
    """
    said = read(asked)
    if (answer is not None and answer.instructs) or said.dangers or said.emotion.crisis:
        return Category.SAFETY
    if not asked:
        return Category.HANDOFF
    named = detect_category(asked)
    if said.act is not Act.ASKS and named is not Category.OTHER:
        return named
    return Category.QUESTION if request.reason is HandoffReason.ASKED else Category.COMPLAINT


def _describe_turn(turn: TurnRow) -> dict[str, Any]:
    sources = turn.response["data"]["sources"]
    return {
        "question": _clip_text(turn.standalone, ASKED_CHARS),
        "reply": _clip_text(turn.reply, REPLY_CHARS),
        "outcome": turn.outcome,
        "sources": [source.get("title") or source.get("table", "") for source in sources],
    }


def _list_titles(answer: Answer | None) -> list[str]:
    sources: Sequence[Source | RowSource] = answer.sources if answer else ()
    return [source.table if isinstance(source, RowSource) else source.title for source in sources]


def _collect_entities(texts: Sequence[str]) -> list[dict[str, str]]:
    """Collects the entities that the texts name, masked, each once, in the order in which they were named last."""
    found: dict[tuple[str, str], None] = {}
    for text in texts:
        for entity in read(text).mentions.certain:
            key = entity.kind, _mask_value(entity.kind, entity.value)
            found.pop(key, None)  # a key that is set again would keep its first place
            found[key] = None
    return [{"kind": kind, "value": value} for kind, value in found]


def _mask_value(kind: str, value: str) -> str:
    if kind in _PERSONAL or mask_personal_data(value) != value:
        return "****" + value[-SHOWN_CHARS:] if len(value) > SHOWN_CHARS else "****"
    return value


def _clip_text(text: str, chars: int) -> str:
    text = " ".join(mask_personal_data(text).split())
    return text if len(text) <= chars else text[: chars - 1] + "…"
