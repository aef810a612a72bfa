from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from agents.care import CareAgent, CarePolicy
from agents.chitchat import ChitchatAgent, DeflectionAgent
from agents.escalation import EscalationAgent
from agents.language import is_reply_english
from agents.profile import FALLBACK, ReplyLanguage, TenantProfile
from agents.routing.types import Intent
from agents.types import NOTHING_FOUND, Proposal, Question
from agents.understanding.state import Turn
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import LANGUAGES, load_catalogue, say
from app.settings import Settings
from tests.agents.support import collect_events, finish

SOURCES = [path for folder in ("agents", "app") for path in Path(folder).rglob("*.py")]
BRUSH_OFFS = ("闲聊", "不太在行", "帮不上忙")


def places(key: str, language: str) -> set[frozenset[str]]:
    """The placeholders of every variant."""
    return {
        frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name)
        for text in load_catalogue(language)[key]
    }


def asked(text: str, *before: str, proposed: str = "") -> Question:
    history = tuple(Turn(Utterance(question), "好的") for question in before)
    proposal = Proposal("create", {"subject": proposed, "priority": "normal"}, 0.0) if proposed else None
    return Question(Utterance(text), history=history, proposal=proposal)


def test_both_languages_say_the_same() -> None:
    chinese, english = map(load_catalogue, LANGUAGES)
    assert chinese.keys() == english.keys()
    assert all(len(places(key, "zh") | places(key, "en")) == 1 for key in chinese)
    assert not any(re.search(r"[\u3400-\u9fff]", text) for texts in english.values() for text in texts)


def test_every_sentence_is_said_somewhere() -> None:
    code = "\n".join(path.read_text("utf-8") for path in SOURCES)
    assert [key for key in load_catalogue("zh") if not re.search(rf"[\"']{key}[\"']", code)] == []
    said = set(re.findall(r"\bsay\(\s*[\"'](\w+)[\"']", code))
    assert said and said <= load_catalogue("zh").keys()


def test_the_same_question_gets_the_same_variant_and_others_get_others() -> None:
    def told(seed: str) -> str:
        return say("irrelevant", False, seed=seed, name="小应")

    seeds = [f"问题 {number}" for number in range(20)]
    assert [told(seed) for seed in seeds] == [told(seed) for seed in seeds]
    assert len({told(seed) for seed in seeds}) == len(load_catalogue("zh")["irrelevant"]) > 1
    assert told("\ud800") and told("") == load_catalogue("zh")["irrelevant"][0].format(name="小应")


def test_nobody_is_brushed_off() -> None:
    assert not [
        text for texts in load_catalogue("zh").values() for text in texts for words in BRUSH_OFFS if words in text
    ]


def test_the_fallback_has_a_twin_while_the_tenant_keeps_it() -> None:
    assert Settings.model_fields["fallback_script"].default == FALLBACK == TenantProfile().get_fallback(False)
    assert TenantProfile().get_fallback(True).isascii()
    assert TenantProfile(fallback_script="没查到。").get_fallback(True) == "没查到。"


@pytest.mark.parametrize(
    ("question", "english"),
    [
        (asked("how long is the warranty"), True),
        (asked("refund please"), True),
        (asked("保修多久"), False),
        (asked("iPhone 15 Pro Max 怎么激活"), False),
        (asked("iPhone 15 Pro Max"), False),
        (asked("X200-A"), False),
        (asked("X200-A", "where is my order"), True),
        (asked("X200-A", "where is my order", "我的订单到哪了"), False),
        (asked("ok", "我的订单到哪了"), False),
        (asked("thanks", "我的订单到哪了", "E05", "where is my order"), True),
        (asked("where is it", "我的订单到哪了"), True),
        (asked("hello"), True),
        (asked("hi"), False),
        (asked("VIP"), False),
        (asked("E05 error"), False),
        (asked("12345"), False),
        (asked("yes", "report a fault", proposed="空调不制冷"), False),
        (asked("yes", proposed="the kettle does not heat"), True),
    ],
)
def test_the_reply_is_in_the_customers_language(question: Question, english: bool) -> None:
    assert is_reply_english(question, TenantProfile()) is english


@pytest.mark.parametrize(("language", "english"), [("en", True), ("zh-Hans", False), ("zh-Hant", False)])
def test_the_tenants_own_choice_of_language_stands_first(language: ReplyLanguage, english: bool) -> None:
    profile = TenantProfile(reply_language=language)
    assert {is_reply_english(asked(text), profile) for text in ("where is my order", "我的订单呢", "E05")} == {english}


@pytest.mark.parametrize(
    "agent",
    [
        ChitchatAgent(TenantProfile()),
        CareAgent(),
        EscalationAgent(CarePolicy()),
        *(DeflectionAgent(intent, TenantProfile()) for intent in (Intent.NONSENSE, Intent.IRRELEVANT)),
    ],
    ids=lambda agent: agent.name,
)
@pytest.mark.parametrize("text", ["thank you", "you charged me twice", "will it rain tomorrow"])
async def test_english_in_english_out(agent: ChitchatAgent | CareAgent | EscalationAgent, text: str) -> None:
    answer = await finish(await collect_events(agent, Question(Utterance(text)), NOTHING_FOUND))
    assert not re.search(r"[\u3400-\u9fff]", answer.reply)
