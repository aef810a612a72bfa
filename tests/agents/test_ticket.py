from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, replace
from zoneinfo import ZoneInfo

import pytest

from agents.profile import TenantProfile
from agents.router import Router, RouterParts
from agents.routing.types import Intent, Tier
from agents.ticket import PROPOSAL_SECONDS, TicketAgent
from agents.ticketing.types import TicketState
from agents.types import NOTHING_FOUND, Answer, Outcome, Proposal, Question
from agents.understanding.state import Turn
from agents.understanding.tickets import Priority
from agents.understanding.utterance import Utterance
from tests.agents.support import collect_events, finish
from tests.agents.tickets import MemoryTickets


class Talk:
    """A conversation with the ticket agent; what a turn proposes goes through JSON to the next, as it is stored."""

    def __init__(
        self, tickets: MemoryTickets, session: str = "s", caller: str = "", profile: TenantProfile | None = None
    ) -> None:
        self.now = 1_000.0
        self._agent = TicketAgent(tickets, profile, clock=lambda: self.now)
        self._question = Question(Utterance(""), session=session, caller=caller)

    async def say(self, text: str) -> Answer:
        question = replace(self._question, utterance=Utterance(text))
        answer = await finish(await collect_events(self._agent, question, NOTHING_FOUND))
        stored = json.loads(json.dumps(asdict(answer.proposal))) if answer.proposal else None
        turn = Turn(Utterance(text), answer.reply, proposed=answer.proposal.action if answer.proposal else "")
        self._question = replace(
            question, history=(*question.history, turn), proposal=Proposal(**stored) if stored else None
        )
        return answer


@pytest.fixture
def tickets() -> MemoryTickets:
    return MemoryTickets()


async def test_nothing_is_created_before_the_customer_says_yes(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    proposed = await talk.say("空调不制冷了，帮我报个修")
    assert (proposed.outcome, proposed.suggestions, tickets.kept) == (Outcome.ANSWERED, ("确认", "取消"), [])
    assert "主题：空调不制冷了" in proposed.reply
    created = await talk.say("确认")
    (kept,) = tickets.kept
    assert kept.ticket.number in created.reply and created.proposal is None
    assert (kept.new.subject, kept.new.category.value, kept.owner.session) == ("空调不制冷了", "repair", "s")


async def test_a_no_drops_it(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    await talk.say("空调不制冷了，帮我报个修")
    dropped = await talk.say("算了，不用了")
    assert (dropped.proposal, tickets.kept) == (None, []) and "没有提交" in dropped.reply


async def test_what_is_added_is_shown_again_and_goes_into_the_ticket(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    await talk.say("空调不制冷了，帮我报个修")
    again = await talk.say("补充：昨天还冒烟了，电话 13800138000")
    assert "冒烟" in again.reply and again.proposal is not None and tickets.kept == []
    await talk.say("好的，下午三点以后在家")
    (kept,) = tickets.kept
    assert "13800138000" in kept.new.description and "下午三点以后在家" in kept.new.description
    assert kept.new.priority is Priority.URGENT


async def test_a_bare_request_asks_what_it_is_about(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    asked = await talk.say("帮我建个工单")
    assert "说明遇到的问题" in asked.reply and asked.suggestions == ()
    assert "主题：洗衣机一直漏水" in (await talk.say("洗衣机一直漏水")).reply
    await talk.say("确认")
    assert [kept.new.subject for kept in tickets.kept] == ["洗衣机一直漏水"]


async def test_a_bare_request_takes_up_what_was_said_before(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    talk._question = replace(talk._question, history=(Turn(Utterance("门锁指纹识别不了"), "请重新录入。"),))
    assert "主题：门锁指纹识别不了" in (await talk.say("帮我建个工单")).reply


async def test_a_problem_is_registered_once_a_conversation(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    for text in ("空调不制冷了，帮我报个修", "确认"):
        await talk.say(text)
    again = await talk.say("空调不制冷了，帮我报个修")
    assert tickets.kept[0].ticket.number in again.reply and again.proposal is None
    assert len(tickets.kept) == 1


async def test_what_went_into_a_ticket_is_not_what_the_next_one_is_about(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    for text in ("扫地机器人坏了，帮我报个修", "还冒烟了", "确认"):
        await talk.say(text)
    number = tickets.kept[0].ticket.number
    await talk.say(f"{number} 处理得怎么样了")
    assert "说明遇到的问题" in (await talk.say("帮我建个工单")).reply
    await talk.say("路由器老是掉线")
    await talk.say("确认")
    new = tickets.kept[1].new
    assert (new.subject, new.description, new.priority) == ("路由器老是掉线", "路由器老是掉线", Priority.NORMAL)


async def test_a_problem_whose_ticket_was_dropped_may_still_become_one(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    for text in ("空调不制冷了，帮我报个修", "取消"):
        await talk.say(text)
    assert "主题：空调不制冷了" in (await talk.say("还是帮我建个工单吧")).reply


async def test_an_old_proposal_is_over(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    await talk.say("空调不制冷了，帮我报个修")
    talk.now += PROPOSAL_SECONDS + 1
    await talk.say("确认")
    assert tickets.kept == []


async def test_tickets_are_looked_up_by_their_owner_only(tickets: MemoryTickets) -> None:
    talk = Talk(tickets, "s", "m1")
    for text in ("空调不制冷了，帮我报个修", "确认"):
        await talk.say(text)
    number = tickets.kept[0].ticket.number
    for text in ("我的工单怎么样了", f"{number} 处理得怎么样了", f"查一下 {number.lower()}"):
        assert f"{number}（空调不制冷了）：待处理" in (await talk.say(text)).reply
        assert number in (await Talk(tickets, "elsewhere", "m1").say(text)).reply
        stranger = (await Talk(tickets, "elsewhere", "m2").say(text)).reply
        assert "没有查到" in stranger and "空调" not in stranger


async def test_pressing_and_adding_reach_the_one_that_is_open(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    for text in ("空调不制冷了，帮我报个修", "确认"):
        await talk.say(text)
    assert "已为您催办" in (await talk.say("催一下我的工单")).reply
    assert "已补充" in (await talk.say("补充工单：型号是 YS-A1")).reply
    assert tickets.kept[0].words == ["催办", "补充工单：型号是 YS-A1"]


async def test_of_several_the_customer_says_which(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    for text in ("空调不制冷了，帮我报个修", "确认", "洗衣机漏水，帮我报修", "确认"):
        await talk.say(text)
    first, second = (kept.ticket.number for kept in tickets.kept)
    reply = (await talk.say("催一下我的工单")).reply
    assert first in reply and second in reply and tickets.kept[0].words == tickets.kept[1].words == []
    await talk.say(f"催一下 {second}")
    assert (tickets.kept[0].words, tickets.kept[1].words) == ([], ["催办"])


async def test_withdrawing_wants_a_yes_too(tickets: MemoryTickets) -> None:
    talk = Talk(tickets)
    for text in ("空调不制冷了，帮我报个修", "确认", "帮我撤销工单"):
        await talk.say(text)
    assert "保持不变" in (await talk.say("取消")).reply
    states = [tickets.kept[0].ticket.state]
    await talk.say("帮我撤销工单")
    assert "已关闭" in (await talk.say("确认")).reply
    states.append(tickets.kept[0].ticket.state)
    assert states == [TicketState.OPEN, TicketState.CLOSED]


async def test_english_is_answered_in_english_from_the_proposal_to_the_end(tickets: MemoryTickets) -> None:
    talk, said = Talk(tickets), list[str]()
    problem = "My air conditioner stopped cooling"
    for text in ("open a ticket", problem, "also: it smells", "ok", "my tickets"):
        said.append((await talk.say(text)).reply)
    (kept,) = tickets.kept
    assert kept.new.subject == problem and "it smells" in kept.new.description
    assert "describe the problem" in said[0] and "“confirm”" in said[1] and "was submitted" in said[3]
    assert "we aim to solve it by" in said[4] and kept.ticket.number in said[4]
    for text in (
        "hurry up with my ticket",
        "add to my ticket: model YS-A1",
        "cancel my ticket",
        "TK260301000009",
        "yes",
    ):
        said.append((await talk.say(text)).reply)
    assert "urgent" in said[5] and "Added" in said[6] and "withdraw" in said[7] and "no ticket" in said[8]
    assert not [text for text in said if re.search("[\u3400-\u9fff]", text)]


async def test_a_request_in_english_is_about_what_follows_it(tickets: MemoryTickets) -> None:
    proposed = await Talk(tickets).say("Hi, please open a ticket for me: the router is dead")
    assert "Subject: the router is dead" in proposed.reply and proposed.suggestions == ("Confirm", "Cancel")
    talk = Talk(tickets)
    talk._question = replace(talk._question, history=(Turn(Utterance("the door lock is stuck"), ""),))
    assert "Mentioned before: the door lock is stuck" in (await talk.say("please open a ticket")).reply


@pytest.mark.parametrize("word", ["OK", "ok 👌", "iPhone 15 Pro Max", "YS-A1", "yes"])
async def test_a_latin_word_makes_no_chinese_conversation_english(tickets: MemoryTickets, word: str) -> None:
    talk = Talk(tickets)
    await talk.say("空调不制冷了，帮我报个修")
    assert re.search("[\u3400-\u9fff]{6}", (await talk.say(word)).reply)
    talk._question = replace(talk._question, history=())  # HISTORY_TURNS=0
    assert "确认" in (await talk.say("YS-A1")).reply or tickets.kept
    assert "没有查到" in (await Talk(tickets, "elsewhere").say("TK260301000009")).reply


async def test_the_profile_may_fix_the_language(tickets: MemoryTickets) -> None:
    english, chinese = (TenantProfile(reply_language=language) for language in ("en", "zh-Hans"))
    assert "confirm" in (await Talk(tickets, profile=english).say("空调不制冷了，帮我报个修")).reply
    assert "确认" in (await Talk(tickets, profile=chinese).say("open a ticket: the router is dead")).reply


async def test_a_word_on_a_proposal_is_routed_to_tickets_whatever_it_looks_like() -> None:
    router = Router(RouterParts(None))
    proposal = Proposal("ticket", {}, 9e12)
    for text in ("确认", "好的", "取消", "地址是幸福路 3 号，电话 13800138000"):
        route = await router.route(Question(Utterance(text), proposal=proposal), None)
        assert (route.intents, route.trace.tier) == ((Intent.TICKET,), Tier.RULES)
    for question in (Question(Utterance("好的")), Question(Utterance("好的"), proposal=Proposal("ticket", {}, 1.0))):
        assert (await router.route(question, None)).intents == (Intent.CHITCHAT,)
    assert (await router.route(Question(Utterance("转人工"), proposal=proposal), None)).intents == (
        Intent.HUMAN_REQUEST,
    )
    assert (
        Intent.TICKET not in (await router.route(Question(Utterance("退款多久到账"), proposal=proposal), None)).intents
    )


async def test_a_ticket_number_leads_to_tickets() -> None:
    router = Router(RouterParts(None))
    assert (await router.route(Question(Utterance("TK260301482913")), None)).intents == (Intent.TICKET,)


@pytest.mark.parametrize(
    "text",
    [
        "我的工单怎么样了",
        "补充工单：型号是 YS-A1",
        "my ticket status",
        "add to my ticket: the model is YS-A1",
        "please open a ticket: my vacuum does not start",
        "open a ticket for me",
        "hurry up with my ticket",
        "please cancel my ticket",
    ],
)
async def test_what_replies_tell_customers_to_say_needs_no_model(text: str) -> None:
    assert (await Router(RouterParts(None)).route(Question(Utterance(text)), None)).intents == (Intent.TICKET,)


@pytest.mark.parametrize("text", ["怎么补充工单", "how do I open a ticket", "where can I file a claim", "open a box"])
async def test_a_question_about_tickets_is_no_request(text: str) -> None:
    assert (await Router(RouterParts(None)).route(Question(Utterance(text)), None)).intents == (Intent.KNOWLEDGE_QA,)


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York", "Pacific/Kiritimati"])
async def test_times_are_told_in_the_companys_zone_wherever_the_server_stands(
    tickets: MemoryTickets, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT+5")
    time.tzset()
    try:
        talk = Talk(tickets, profile=TenantProfile(timezone=zone))
        await talk.say("空调不制冷了，帮我报个修")
        reply = (await talk.say("确认")).reply
    finally:
        monkeypatch.undo()
        time.tzset()
    (kept,) = tickets.kept
    due = kept.ticket.resolve_by.astimezone(ZoneInfo(zone))
    assert f"{due.month} 月 {due.day} 日 {due:%H:%M}" in reply
