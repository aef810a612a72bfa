from __future__ import annotations

from dataclasses import replace

import pytest

from agents.router import Router, RouterParts, apply_named_intents
from agents.routing.anchors import load_shipped_anchors
from agents.routing.head import fit_head
from agents.routing.types import Band, Intent, Tier
from agents.types import Question
from agents.understanding.utterance import RewriteKind, Utterance
from tests.agents.routers import EMBEDDER, FixedEvidence, FixedResolver, routed, router


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("转人工", Intent.HUMAN_REQUEST),
        ("麻烦帮我转人工客服，谢谢", Intent.HUMAN_REQUEST),
        ("I want to talk to a human", Intent.HUMAN_REQUEST),
        ("您好", Intent.CHITCHAT),
        ("谢谢！", Intent.CHITCHAT),
        ("？？？", Intent.NONSENSE),
        ("阿啵阿啵阿啵阿啵", Intent.NONSENSE),
        ("asdfgh", Intent.NONSENSE),
    ],
)
async def test_rules_decide_what_says_one_thing_in_so_many_words(text: str, intent: Intent) -> None:
    if text.startswith("I want"):
        text = text.removeprefix("I want to ")
    route = await routed(text)
    assert (route.intents, route.trace.tier, route.trace.band) == ((intent,), Tier.RULES, Band.HIGH)
    assert not route.trace.scores


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("空调不制冷了，帮我报个修", {Intent.TICKET}),
        ("洗衣机漏水我要报修", {Intent.TICKET}),
        ("登记一下，网络断了三个小时", {Intent.TICKET}),
        ("我要提交一个问题", {Intent.TICKET}),
        ("后台打不开，能帮我提个工单吗", {Intent.TICKET}),
        ("麻烦派人来修一下网络", {Intent.TICKET}),
        ("I want to report a fault", {Intent.TICKET}),
        ("我要报修，上门收不收费", {Intent.TICKET, Intent.KNOWLEDGE_QA}),
        ("怎么报修", {Intent.KNOWLEDGE_QA}),
        ("怎么才能让你们帮我报修", {Intent.KNOWLEDGE_QA}),
        ("报修要收费吗", {Intent.KNOWLEDGE_QA}),
        ("报修需要提供什么资料", {Intent.KNOWLEDGE_QA}),
        ("在哪里提交问题反馈", {Intent.KNOWLEDGE_QA}),
        ("不要帮我报修", {Intent.KNOWLEDGE_QA}),
        ("报修过了没人来", {Intent.KNOWLEDGE_QA}),
        ("缺货登记之后会通知我吗", {Intent.KNOWLEDGE_QA}),
        ("登记手机号怎么改", {Intent.KNOWLEDGE_QA}),
        ("我要登记发票抬头", {Intent.KNOWLEDGE_QA}),
        ("how do I report a fault", {Intent.KNOWLEDGE_QA}),
    ],
)
async def test_without_a_head_a_ticket_is_asked_for_in_so_many_words(text: str, intents: set[Intent]) -> None:
    route = await Router(RouterParts(None)).route(Question(Utterance(text)), None)
    assert set(route.intents) == intents


async def test_laughter_is_no_noise() -> None:
    assert (await routed("哈哈哈哈哈哈")).primary is not Intent.NONSENSE


@pytest.mark.parametrize(
    ("text", "intent"), [("20240518003321", Intent.BUSINESS_QUERY), ("报错 E03 怎么办", Intent.KNOWLEDGE_QA)]
)
async def test_a_message_that_only_names_something_goes_where_its_kind_suggests(text: str, intent: Intent) -> None:
    route = await routed(text)
    assert (route.intents, route.trace.tier) == ((intent,), Tier.ENTITIES)
    assert route.trace.verdict == intent


async def test_the_head_decides_the_rest_and_traces_why() -> None:
    route = await routed("怎么退货呢", evidence=FixedEvidence(4.0))
    trace = route.trace
    assert (route.intents, trace.tier, trace.closeness) == ((Intent.KNOWLEDGE_QA,), Tier.HEAD, 4)
    assert set(trace.scores) == set(Intent)
    assert trace.scores[Intent.KNOWLEDGE_QA] == max(trace.scores.values())
    assert trace.thresholds[Intent.KNOWLEDGE_QA] <= trace.scores[Intent.KNOWLEDGE_QA]


async def test_several_intents_hold_at_once() -> None:
    assert set((await routed("我的订单能退吗，运费怎么算")).intents) == {Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA}


async def test_who_names_a_person_at_work_gets_the_offer_beside_the_answer() -> None:
    route = await routed("人工客服怎么联系，退款多久到账")
    assert route.primary is Intent.HUMAN_REQUEST
    assert route.trace.forced == (Intent.HUMAN_REQUEST,)


async def test_nearness_to_the_tenants_own_knowledge_speaks_against_off_topic() -> None:
    text = "讲讲天气"
    assert (await routed(text, evidence=FixedEvidence(0.0))).intents == (Intent.IRRELEVANT,)
    assert (await routed(text, evidence=FixedEvidence(12.0))).intents != (Intent.IRRELEVANT,)


async def test_nearness_is_not_asked_of_a_message_in_another_language() -> None:
    assert (await routed("shipping to France", evidence=FixedEvidence(-9.0))).trace.closeness is None


async def test_a_name_that_the_business_database_knows_adds_its_intent_unconditionally() -> None:
    resolver = FixedResolver("13800001111")
    route = await routed("讲讲历史，13800001111", resolver=resolver)
    assert Intent.BUSINESS_QUERY in route.intents
    assert Intent.IRRELEVANT not in route.intents
    assert [entity.kind for entity in resolver.asked] == ["phone"]


async def test_a_doubtful_name_counts_only_when_the_database_knows_it() -> None:
    known, unknown = FixedResolver("张三"), FixedResolver()
    assert [entity.text for entity in (await routed("张三的订单到哪了", resolver=known)).trace.entities] == ["张三"]
    assert (await routed("张三的订单到哪了", resolver=unknown)).trace.entities == ()
    assert [entity.text for entity in unknown.asked] == ["张三"]
    assert (await routed("张三的订单到哪了")).trace.entities == ()


async def test_a_database_out_of_reach_is_named_and_stops_nothing() -> None:
    route = await routed("我的订单到哪了，手机号 13800001111", resolver=FixedResolver(down=True))
    assert route.intents == (Intent.BUSINESS_QUERY,)
    assert route.degraded == ("business",)


@pytest.mark.parametrize("understood", [{Intent.BUSINESS_QUERY}, {Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA}])
async def test_of_a_question_that_is_understood_to_the_last_word_only_that_is_asked(understood: set[Intent]) -> None:
    route = await routed("怎么退货呢", sure=lambda text, *, member: frozenset(understood))
    assert set(route.intents) == understood
    assert route.trace.verdict == "+".join(route.intents)


UNDECIDED = "播放退货"


async def test_what_a_model_names_counts_where_the_evidence_is_undecided_and_only_there() -> None:
    route = await routed(UNDECIDED)
    assert route.trace.band is Band.LOW
    told = apply_named_intents(route, {Intent.KNOWLEDGE_QA, Intent.TICKET})
    assert (told.intents, told.trace.tier) == ((Intent.TICKET, Intent.KNOWLEDGE_QA), Tier.LLM)
    assert told.trace.verdict == "ticket+knowledge_qa"
    assert apply_named_intents(route, ()) == route
    sure = await routed("怎么退货")
    assert apply_named_intents(sure, {Intent.IRRELEVANT}) == sure


async def test_a_model_cannot_take_away_what_is_known_for_sure() -> None:
    chosen = await router(resolver=FixedResolver("13800001111"))
    route = await chosen.route(Question(Utterance("播放 13800001111")), None)
    assert route.intents == (Intent.BUSINESS_QUERY,)
    for told in ({Intent.IRRELEVANT}, {Intent.BUSINESS_QUERY, Intent.KNOWLEDGE_QA}):
        assert Intent.BUSINESS_QUERY in apply_named_intents(route, told).intents


async def test_what_a_model_finds_named_counts_where_it_is_the_callers_own() -> None:
    resolver = FixedResolver("4711")
    chosen = await router(resolver=resolver)
    question, vector = Question(Utterance("4711 怎么样了")), await EMBEDDER.embed_question("4711 怎么样了")
    assert Intent.BUSINESS_QUERY not in (await chosen.route(question, vector)).intents and not resolver.asked
    slots = ("order_number", "4711"), ("colour", "红"), ("amount", "3 元")
    route = await chosen.route(replace(question, utterance=Utterance("4711 怎么样了", slots=slots)), vector)
    assert Intent.BUSINESS_QUERY in route.intents
    assert [(entity.kind, entity.value) for entity in resolver.asked] == [("order_number", "4711")]
    question = replace(question, utterance=Utterance("4711 怎么样了", slots=(("phone", "12"),)))
    assert Intent.BUSINESS_QUERY not in (await chosen.route(question, vector)).intents


async def test_without_an_embedding_nothing_is_called_off_topic() -> None:
    chosen = await router()
    for text in ("播放一首歌", "怎么退货", "我的订单到哪了"):
        route = await chosen.route(Question(Utterance(text)), None)
        assert route.primary in (Intent.KNOWLEDGE_QA, Intent.BUSINESS_QUERY)
        assert (route.trace.band, route.degraded) == (Band.LOW, ("embedding",))


async def test_a_follow_up_is_routed_by_what_it_means() -> None:
    question, vector = (
        Question(Utterance("那运费呢").add_rewrite("退货 怎么算运费", RewriteKind.MODEL)),
        await EMBEDDER.embed_question("那运费呢"),
    )
    assert (await (await router()).route(question, vector)).intents == (Intent.KNOWLEDGE_QA,)


async def test_a_rewrite_is_not_embedded_for_its_route() -> None:
    parts = RouterParts(await fit_head(EMBEDDER, load_shipped_anchors()))
    question, vector = (
        Question(Utterance("那运费呢").add_rewrite("退货的运费怎么算", RewriteKind.MODEL)),
        await EMBEDDER.embed_question("那运费呢"),
    )
    route = await Router(parts).route(question, vector)
    assert (route.degraded, route.trace.tier) == ((), Tier.HEAD)


@pytest.mark.parametrize(
    ("positive", "negative", "intent"),
    [
        ("我的货款已到账了吗", "我的货款还没到账吗", Intent.BUSINESS_QUERY),
        ("已到账还可以撤销吗", "还没到账是什么原因", Intent.KNOWLEDGE_QA),
        ("已发货怎么取消订单", "没发货怎么取消订单", Intent.KNOWLEDGE_QA),
    ],
)
async def test_a_negation_keeps_the_kind_of_the_question(positive: str, negative: str, intent: Intent) -> None:
    for text in (positive, negative):
        assert (await routed(text, load_shipped_anchors())).intents == (intent,)


@pytest.mark.parametrize(
    ("wanted", "unwanted"), [("我要转人工客服处理", "不用转人工客服处理"), ("找人工问", "别找人工问")]
)
async def test_a_negated_request_for_a_person_is_none(wanted: str, unwanted: str) -> None:
    assert (
        Intent.HUMAN_REQUEST
        in (await routed(wanted, load_shipped_anchors())).trace.forced
        + (await routed(wanted, load_shipped_anchors())).intents
    )
    assert (await routed(unwanted, load_shipped_anchors())).trace.forced == ()
