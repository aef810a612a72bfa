from __future__ import annotations

from typing import Any

import pytest

from app.evaluation.dialogues import Expectation, TurnKind
from app.evaluation.judgement import JudgedReply, Judgement, TurnVerdict, judge_reply

POLICY = {"index": 1, "title": "退货说明", "heading": "谁承担运费"}
ROW = {"index": "SQL", "table": "orders"}


def heard(outcome: str, reply: str = "", agent: str = "", *sources: dict[str, Any], **data: Any) -> JudgedReply:
    return JudgedReply.from_response(
        {"outcome": outcome, "reply": reply, "data": {"agent": agent, "sources": list(sources), **data}}
    )


def expect(*kinds: str, **fields: Any) -> Expectation:
    return Expectation(frozenset(map(TurnKind, kinds)), **fields)


@pytest.mark.parametrize(
    ("response", "kinds"),
    [
        (heard("answered", "8 元[1]", "knowledge", POLICY), {"answer"}),
        (heard("low_confidence", "仅供参考", "knowledge"), {"answer"}),
        (heard("partially_answered", "有些", "care", POLICY), {"answer"}),
        (heard("answered", "两笔 [SQL]", "business", ROW), {"business"}),
        (heard("answered", "没有查到", "business"), {"business"}),
        (heard("answered", "都在这里", "business", ROW, POLICY), {"business", "answer"}),
        (heard("answered", "都在这里", "business", POLICY), {"answer"}),
        (heard("answered", "要登记吗", "knowledge", POLICY, proposal={"action": "ticket"}), {"answer", "ticket"}),
        (heard("answered", "已登记", "ticket"), {"ticket"}),
        (heard("answered", "您好", "chitchat"), {"chat"}),
        (heard("no_evidence"), {"refuse"}),
        (heard("irrelevant"), {"refuse"}),
        (heard("nonsense"), {"clarify"}),
        (heard("clarify", "您指哪一款？"), {"clarify"}),
        (heard("clarify", "请先登录。"), {"login"}),
        (heard("clarify", "Please SIGN IN first."), {"login"}),
        (heard("high_stakes", "非常抱歉", "care", POLICY), {"care"}),
        (heard("handoff"), {"handoff"}),
        (heard("rejected"), {"reject"}),
        (heard("HTTP 503", "稍后再试"), {"HTTP 503"}),
    ],
)
def test_a_response_is_of_a_kind(response: JudgedReply, kinds: set[str]) -> None:
    assert response.kinds == kinds


def test_an_answer_with_all_facts_from_the_right_place_is_correct() -> None:
    wanted = expect("answer", must_any=(("8元", "八元"), ("无理由",)), sources=("退货",))
    assert judge_reply(wanted, heard("answered", "无理由退货 8 元。[1]", "knowledge", POLICY)) == Judgement(
        TurnVerdict.CORRECT
    )


def test_some_of_the_facts_are_partly_right_and_none_of_them_wrong() -> None:
    wanted = expect("answer", must_any=(("8元",), ("无理由",)))
    assert judge_reply(wanted, heard("answered", "运费 8 元。", "knowledge")).verdict is TurnVerdict.PARTLY
    assert judge_reply(wanted, heard("answered", "运费 18 元。", "knowledge")).verdict is TurnVerdict.WRONG


def test_an_answer_from_elsewhere_is_wrong_whatever_it_says() -> None:
    wanted = expect("answer", must_any=(("8元",),), sources=("会员",))
    judged = judge_reply(wanted, heard("answered", "8 元[1]", "knowledge", POLICY))
    assert (judged.verdict, judged.why) == (TurnVerdict.WRONG, "cites none of ['会员']")
    assert judge_reply(wanted, heard("answered", "8 元", "knowledge")).correct  # nothing is cited


def test_facts_are_asked_of_an_answer_and_not_of_a_refusal_that_is_right_too() -> None:
    wanted = expect("answer", "refuse", must_any=(("8元",),))
    assert judge_reply(wanted, heard("no_evidence", "没有找到")).correct
    assert not judge_reply(wanted, heard("answered", "9 元", "knowledge")).correct
    assert (
        judge_reply(expect("clarify", must_any=(("哪一款",),)), heard("clarify", "请再说一次")).verdict
        is TurnVerdict.WRONG
    )


def test_the_facts_of_a_neighbour_are_a_false_answer() -> None:
    judged = judge_reply(expect("answer", must_not=("12元",)), heard("answered", "12 元", "knowledge"))
    assert (judged.verdict, judged.false_answer) == (TurnVerdict.WRONG, True)


def test_an_answer_where_there_is_none_to_give_is_a_false_one() -> None:
    judged = judge_reply(expect("refuse", "clarify"), heard("answered", "能", "knowledge"))
    assert (judged.correct, judged.false_answer) == (False, True)
    assert not judge_reply(expect("refuse", "care"), heard("answered", "能", "knowledge")).false_answer


def test_small_talk_and_out_of_scope_instead_of_an_answer_are_brush_offs() -> None:
    wanted = expect("answer", must_not=("闲聊",))
    for response in (heard("answered", "闲聊我不在行", "chitchat"), heard("out_of_scope"), heard("nonsense")):
        judged = judge_reply(wanted, response)
        assert (judged.brush_off, judged.false_answer) == (True, False)
    assert not judge_reply(expect("chat"), heard("answered", "您好", "chitchat")).brush_off
    assert not judge_reply(wanted, heard("no_evidence")).brush_off


def test_the_queue_swallows_what_asked_for_nobody() -> None:
    assert judge_reply(expect("answer"), heard("handoff")).swallowed
    assert judge_reply(expect("handoff"), heard("handoff")).correct
    judged = judge_reply(expect("care"), heard("handoff"))  # a person was right, if not in this way
    assert (judged.swallowed, judged.correct) == (False, False)
