from __future__ import annotations

from agents.dialogue import add_turn, build_state
from agents.types import Answer, Outcome
from agents.understanding.named_versions import MAX_VERSIONS, merge_named_versions
from agents.understanding.state import NOTHING_SAID, DialogueState, Turn
from agents.understanding.utterance import Utterance


def test_the_version_that_was_named_last_comes_first_and_few_are_kept() -> None:
    assert merge_named_versions("V2.2 和 V2.3 有什么不同", ("1.0",)) == ("2.3", "2.2", "1.0")
    assert merge_named_versions("怎么导出", ("2.2",)) == ("2.2",)
    assert len(merge_named_versions("V1.1、V1.2、V1.3、V1.4", ("2.2",))) == MAX_VERSIONS


def test_a_conversation_remembers_what_the_customer_uses() -> None:
    answer = Answer("在报表里。", Outcome.ANSWERED, "knowledge", "knowledge")
    state = add_turn(NOTHING_SAID, "我用的是 V2.2", answer)
    for question in ("怎么导出", "怎么导入", "怎么打印", "怎么分享"):
        state = add_turn(state, question, answer)
    assert state.context.versions == ("2.2",)
    assert DialogueState.from_json(state.to_json()) == state
    kept = state.to_json()
    del kept["versions"]
    assert DialogueState.from_json(kept).versions == ()  # of a turn before it was kept
    told = [Turn(Utterance("我用的是 V2.2"), ""), Turn(Utterance("怎么导出"), "")]
    assert build_state(told).context.versions == ("2.2",)
