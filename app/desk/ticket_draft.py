"""The ticket that stands for a customer while nobody is there, made of the handoff card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.care import FURY_PRIORITY
from agents.ticketing.types import NewTicket
from agents.understanding.tickets import Category, Priority

# Of the ticket of a customer who said nothing but that a person is wanted.
SUBJECT = "人工客服跟进"
_PRODUCT = "product_model"


def draft_ticket(card: Mapping[str, Any], urgency: int) -> NewTicket:
    """Names the ticket by what the customer wants to know, and the product where the question does not name it.

    Args:
        card: see `app.desk.card`.
        urgency: the priority of the session in the queue.
    """
    category = Category(card.get("category", Category.HANDOFF))
    subject = _subject(str(card.get("question", "")), card.get("entities", ()))
    return NewTicket(subject, str(card.get("summary", "")) or subject, category, _priority(category, urgency))


def _subject(question: str, entities: Any) -> str:
    products = [str(entity["value"]) for entity in entities if entity["kind"] == _PRODUCT]
    if not products:
        return question or SUBJECT
    product = products[-1]
    if not question:
        return product
    return question if product.casefold() in question.casefold() else f"{question}（{product}）"


def _priority(category: Category, urgency: int) -> Priority:
    """Returns the priority of a ticket: that of the queue, but urgent for a danger."""
    if category is Category.SAFETY or urgency >= FURY_PRIORITY:
        return Priority.URGENT
    return Priority.HIGH if urgency > 0 else Priority.NORMAL
