from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.business.database import BusinessDatabase, BusinessOptions
from agents.business.facts import BusinessFacts
from agents.business.sample.database import seed_database
from agents.care import CareAgent, CarePolicy, detect_danger, detect_worded_danger, find_cause, measure_emotion
from agents.errors import BusinessUnavailable
from agents.heads.safety import Safety
from agents.offers import SHIPPED, Fact, Offers, load_offers
from agents.types import NOTHING_FOUND, Answer, Findings, HandoffReason, Outcome, Question
from agents.understanding.causes import Cause
from agents.understanding.reading import read
from agents.understanding.safety import Danger
from agents.understanding.utterance import Utterance
from knowledge.errors import InvalidConfiguration
from tests.agents.business.asking import SHOP
from tests.agents.support import candidate, collect_events, finish, retrieval

TODAY = date(2026, 3, 1)
LEAVING = "我要注销账号，不用了"
GOLD = {
    "id": "gold",
    "for": ["cancellation"],
    "when": {"level": ["gold", "black"], "points": {"min": 100}},
    "text": "金 {points}",
}
OFFERS = {
    "facts": ["SELECT level, points FROM members"],
    "offers": [
        GOLD,
        {"id": "old", "for": ["cancellation"], "when": {"joined_on": {"months_min": 12}}, "text": "老"},
        {"id": "new", "for": ["cancellation"], "when": {"joined_on": {"days_max": 30}}, "text": "新"},
    ],
}


@pytest.fixture
def offers(tmp_path: Path) -> Offers:
    return load_offers(written(tmp_path, OFFERS))


def written(folder: Path, data: Any) -> Path:
    path = folder / "offers.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), "utf-8")
    return path


class FixedFacts:
    """Knows one member."""

    def __init__(self, **facts: str | int | float) -> None:
        self._facts = {name: Fact(value, str(value)) for name, value in facts.items()}
        self.asked: list[str] = []

    async def load_facts(self, caller: str) -> dict[str, Fact]:
        self.asked.append(caller)
        return self._facts if caller == "m1" else {}


class NoFacts:
    """Is out of reach."""

    async def load_facts(self, caller: str) -> dict[str, Fact]:
        raise BusinessUnavailable


async def cared(policy: CarePolicy, text: str = LEAVING, caller: str = "m1") -> Answer:
    agent = CareAgent(policy, lambda: TODAY)
    return await finish(await collect_events(agent, Question(Utterance(text), caller=caller), NOTHING_FOUND))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"level": "gold", "points": 100}, "金 100"),
        ({"level": "gold", "points": 99, "joined_on": "2024-01-01"}, "老"),
        ({"level": "green", "points": 9999, "joined_on": "2026-02-20"}, "新"),
        ({"level": "gold"}, None),
        ({"joined_on": "2025-06-01"}, None),
        ({"joined_on": "not a date"}, None),
        ({}, None),
    ],
)
async def test_the_first_offer_whose_rules_the_members_own_data_meet_is_made(
    offers: Offers, facts: dict[str, str | int | float], said: str | None
) -> None:
    known = {name: Fact(value, str(value)) for name, value in facts.items()}
    assert offers.choose(Cause.CANCELLATION, known, TODAY) == said
    assert offers.choose(Cause.BILLING, known, TODAY) is None
    reply = (await cared(CarePolicy(0.7, offers, FixedFacts(**facts)))).reply
    assert (said in reply) if said else not any(word in reply for word in ("金 ", "老", "新"))


async def test_without_a_proved_member_or_a_database_nothing_is_offered(offers: Offers) -> None:
    facts = FixedFacts(level="gold", points=500)
    plain = (await cared(CarePolicy())).reply
    assert (await cared(CarePolicy(0.7, offers, facts), caller="")).reply == plain and facts.asked == []
    assert (await cared(CarePolicy(0.7, offers, facts), caller="m2")).reply == plain
    assert (await cared(CarePolicy(0.7, offers, None))).reply == plain


async def test_an_outage_keeps_nobody_from_being_heard(offers: Offers) -> None:
    answer = await cared(CarePolicy(0.7, offers, NoFacts()))
    assert answer.degraded == ("business",) and answer.handoff is not None
    assert answer.reply == (await cared(CarePolicy())).reply


async def test_a_person_is_asked_for_by_a_typed_request(offers: Offers) -> None:
    answer = await cared(CarePolicy(0.7, offers, FixedFacts(level="gold", points=500)))
    assert (answer.outcome, answer.escalate_to_human) == (Outcome.HIGH_STAKES, True)
    assert answer.handoff is not None and answer.handoff.reason is HandoffReason.HIGH_STAKES


async def test_in_a_crisis_nothing_is_sold(offers: Offers) -> None:
    facts = FixedFacts(level="gold", points=500)
    answer = await cared(CarePolicy(0.7, offers, facts), "我要注销账号，不想活了")
    assert facts.asked == [] and "金 " not in answer.reply and "12356" in answer.reply


def test_who_is_read_as_ending_their_life_is_in_a_crisis_whatever_their_words() -> None:
    question = Question(Utterance("我先走了，后面的事拜托你们"))
    assert measure_emotion(question, NOTHING_FOUND, None, Safety(Danger.SELF_HARM, 0.9)).crisis
    assert (
        not measure_emotion(question, NOTHING_FOUND, None, Safety(Danger.HARM, 0.9)).crisis
        and not measure_emotion(question, NOTHING_FOUND, None, None).crisis
    )


@pytest.mark.parametrize(
    ("chance", "kind", "probability", "danger"),
    [
        (0.6, Danger.FRAUD, 0.8, False),
        (0.95, Danger.FRAUD, 0.8, True),
        (0.6, Danger.FRAUD, 0.65, True),
        (0.6, Danger.SELF_HARM, 0.95, True),
    ],
)
def test_what_may_be_a_danger_and_is_answered_by_documents_is_a_question(
    chance: float, kind: Danger, probability: float, danger: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.care.read_safety", lambda *_: Safety(kind, chance))
    text = "还款扣了两次，额度没恢复"
    found = Findings(retrieval=retrieval(text, candidate("还款后额度次日恢复。", probability)))
    assert (detect_danger(Question(Utterance(text)), found, CarePolicy()) is not None) == danger


async def test_english_gets_english() -> None:
    assert (await cared(CarePolicy(), "cancel my membership")).reply.startswith("We are sorry to hear")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("我要注销账号，不用了", Cause.CANCELLATION),
        ("不续费了，退订", Cause.CANCELLATION),
        ("给我销户，再也不用了", Cause.CANCELLATION),
        ("重复扣款了两次，马上处理", Cause.BILLING),
        ("这期账单多算了八十块，什么意思", Cause.BILLING),
        ("我的卡被盗刷了", Cause.FRAUD),
        ("没经过我同意就扣了会员费，我要退会员", Cause.BILLING),
        ("充电宝冒烟把我烫伤了，我要投诉", Cause.SAFETY),
        ("客服态度太差了，我要投诉", Cause.COMPLAINT),
        ("this is a scam", Cause.COMPLAINT),
        ("you charged me twice", Cause.BILLING),
        ("洗衣机在冒烟，怎么办", Cause.SAFETY),
        ("屋里有很重的煤气味", Cause.SAFETY),
        ("有人冒充你们客服，让我报验证码", Cause.FRAUD),
        ("someone pretending to be your staff called me", Cause.FRAUD),
        ("你们把我的手机号泄露了，天天接骚扰电话", Cause.PRIVACY),
        ("my personal data was leaked", Cause.PRIVACY),
    ],
)
def test_the_acknowledgement_fits_the_case(text: str, cause: Cause) -> None:
    reading = read(text)
    assert find_cause(reading, detect_worded_danger(reading)) is cause


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("充电宝冒烟把我烫伤了", ("120", "停")),
        ("洗衣机在冒烟", ("119", "断电")),
        ("有人冒充你们客服，让我转账", ("110", "验证码")),
        ("你们泄露了我的手机号", ("个人信息", "截图")),
        ("重复扣款了两次", ("扣", "截图")),
        ("客服态度太差了", ("服务",)),
        ("you charged me twice", ("charge", "bank")),
        ("someone pretending to be your staff called me", ("police", "codes")),
    ],
)
async def test_the_matter_is_named_with_what_to_do_first_and_then_the_person(text: str, words: tuple[str, ...]) -> None:
    first, *_, last = (await cared(CarePolicy(), text)).reply.split("\n")
    assert all(word in first for word in words)
    assert "人工客服" in last or "colleague" in last


@pytest.mark.parametrize(
    ("text", "instructs"),
    [
        ("洗衣机在冒烟", True),
        ("有人冒充你们客服，让我转账", True),
        ("我不想活了", True),
        ("客服态度太差了", False),
        (LEAVING, False),
    ],
)
async def test_only_what_cannot_wait_for_a_person_is_an_instruction(text: str, instructs: bool) -> None:
    assert (await cared(CarePolicy(), text)).instructs == instructs


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"when": {}}, "when"),
        ({"for": ["christmas"]}, "christmas"),
        ({"when": {"points": {"least": 1}}}, "points"),
        ({"text": "{points.__class__}"}, "text"),
        ({"text": "{points:>10}"}, "text"),
    ],
)
def test_offers_that_make_no_sense_are_refused_by_name(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    data = OFFERS | {"offers": [GOLD | change]}
    with pytest.raises(InvalidConfiguration, match=named):
        load_offers(written(tmp_path, data))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    path = tmp_path_factory.mktemp("business") / "shop.sqlite3"
    rows = asyncio.run(seed_database(f"sqlite:///{path}", TODAY))
    return path, [dict(row) for row in rows["members"]]


@pytest.fixture
async def database(seeded: tuple[Path, list[dict[str, Any]]]) -> AsyncIterator[BusinessDatabase]:
    database = BusinessDatabase(BusinessOptions(f"sqlite:///{seeded[0]}", SHOP))
    yield database
    await database.close()


async def test_the_shipped_offers_speak_of_each_members_own_rows(
    database: BusinessDatabase, seeded: tuple[Path, list[dict[str, Any]]]
) -> None:
    shipped = load_offers(SHIPPED)
    facts = BusinessFacts(database, shipped.queries)
    offered = 0
    for member in seeded[1]:
        known = await facts.load_facts(member["id"])
        assert (known["level"].value, known["points"].value) == (member["level"], member["points"])
        offered += shipped.choose(Cause.CANCELLATION, known, TODAY) is not None
    assert offered > len(seeded[1]) / 2
    assert (await facts.load_facts("nobody")).keys() <= {"orders", "open_refunds"}


async def test_facts_beyond_the_described_tables_are_refused(database: BusinessDatabase) -> None:
    for query in ("SELECT password FROM members", "SELECT * FROM sqlite_master", "DELETE FROM members"):
        with pytest.raises(InvalidConfiguration):
            BusinessFacts(database, [query])
