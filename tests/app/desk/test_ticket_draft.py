"""What the ticket is called that stands for a customer while nobody is there."""

from __future__ import annotations

import pytest

from agents.types import Answer, HandoffReason, HandoffRequest, Outcome, Question
from agents.understanding.tickets import Category, Priority
from agents.understanding.utterance import Utterance
from app.conversations.types import TurnRow
from app.desk.card import build_card
from app.desk.ticket_draft import SUBJECT, draft_ticket
from tests.app.desk.test_triggers import row

ASKED = HandoffRequest(HandoffReason.ASKED)


def called(*, instructs: bool = False) -> Answer:
    """The answer that calls a person."""
    return Answer("", Outcome.HANDOFF, "human_request", "escalation", instructs=instructs)


@pytest.mark.parametrize(
    ("text", "before", "subject", "category"),
    [
        ("转人工", [row(1, "退货运费谁出")], "退货运费谁出", Category.QUESTION),
        ("转人工", [row(1, "空调不制冷了，昨天开始的")], "空调不制冷了，昨天开始的", Category.REPAIR),
        ("转人工", [row(1, "你好", "chitchat")], SUBJECT, Category.HANDOFF),
        ("转人工", [], SUBJECT, Category.HANDOFF),
        ("找人工，洗碗机不转", [], "找人工，洗碗机不转", Category.REPAIR),
    ],
)
def test_a_ticket_is_named_by_what_the_customer_wants_to_know(
    text: str, before: list[TurnRow], subject: str, category: Category
) -> None:
    new = draft_ticket(build_card(Question(Utterance(text)), called(), ASKED, before, 0), 0)
    assert (new.subject, new.category, new.priority) == (subject, category, Priority.NORMAL)


def test_the_product_is_named_where_the_question_does_not_name_it() -> None:
    before = [row(1, "我的 DW-450X 装好了", "chitchat"), row(2, "排水管怎么接")]
    assert (
        draft_ticket(build_card(Question(Utterance("转人工")), called(), ASKED, before, 0), 0).subject
        == "排水管怎么接（DW-450X）"
    )
    named = [row(1, "dw-450x 的排水管怎么接")]
    assert (
        draft_ticket(build_card(Question(Utterance("转人工")), called(), ASKED, named, 0), 0).subject
        == "dw-450x 的排水管怎么接"
    )


def test_of_several_products_the_one_named_last_counts() -> None:
    texts = ("我的 DW-450X 装好了", "还是 DW-600A 好", "算了，我的 DW-450X", "排水管怎么接")
    before = [row(number, text, "chitchat") for number, text in enumerate(texts[:3])] + [row(3, texts[3])]
    subject = draft_ticket(build_card(Question(Utterance("转人工")), called(), ASKED, before, 0), 0).subject
    assert subject == "排水管怎么接（DW-450X）"


def test_a_danger_that_care_heard_of_is_a_matter_of_safety_and_urgent() -> None:
    request = HandoffRequest(HandoffReason.HIGH_STAKES, 1)
    new = draft_ticket(build_card(Question(Utterance("插座冒烟了，有焦味")), called(instructs=True), request, [], 1), 1)
    assert (new.subject, new.category, new.priority) == ("插座冒烟了，有焦味", Category.SAFETY, Priority.URGENT)


@pytest.mark.parametrize(
    ("urgency", "priority"),
    [(0, Priority.NORMAL), (1, Priority.HIGH), (2, Priority.HIGH), (3, Priority.URGENT), (9, Priority.URGENT)],
)
def test_a_ticket_has_the_priority_of_its_queue(urgency: int, priority: Priority) -> None:
    request = HandoffRequest(HandoffReason.EMOTION, urgency)
    new = draft_ticket(build_card(Question(Utterance("说好的退款一直没有到")), called(), request, [], urgency), urgency)
    assert (new.priority, new.category) == (priority, Category.COMPLAINT)


def test_the_body_is_what_the_customer_said_and_no_outcome_of_ours() -> None:
    new = draft_ticket(
        build_card(Question(Utterance("转人工")), called(), ASKED, [row(1, "退货运费谁出"), row(2, "多久退款")], 0), 0
    )
    assert new.description == "退货运费谁出\n多久退款\n转人工"


def test_what_is_personal_stays_out() -> None:
    new = draft_ticket(
        build_card(Question(Utterance("转人工")), called(), ASKED, [row(1, "13800138000 的订单怎么还没发货")], 0), 0
    )
    assert "13800138000" not in f"{new.subject}{new.description}"
