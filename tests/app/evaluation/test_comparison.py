from __future__ import annotations

from dataclasses import replace

import pytest

from app.evaluation.comparison import TurnEffect, compare_results
from app.evaluation.judgement import TurnVerdict
from app.evaluation.results import TurnResult, compute_figures

RIGHT = TurnResult("a", 1, "退货要几天", "t", TurnVerdict.CORRECT, "", "answered", "7天")


def result(case: str, verdict: TurnVerdict, reply: str = "7天", **fields: object) -> TurnResult:
    return replace(RIGHT, case=case, verdict=verdict, reply=reply, **fields)  # type: ignore[arg-type]


def test_what_changed_comes_first_and_what_is_not_the_same_question_is_left_out() -> None:
    good, part, bad = TurnVerdict.CORRECT, TurnVerdict.PARTLY, TurnVerdict.WRONG
    before = [result("same", good), result("other", good), result("better", part), result("worse", good)]
    before += [result("numbers", bad, say="W5 保修 3 年吗")]
    before += [result("gone", good), result("edited", bad), result("dated", bad, say="订单 20260301 到哪了")]
    after = [result("same", good), result("other", good, "七天"), result("better", good), result("worse", part)]
    after += [result("numbers", good, say="W6 保修 2 年吗")]
    after += [result("new", good), result("edited", good, say="保修多久")]
    after += [result("dated", good, say="订单 20261123 到哪了")]
    found = compare_results(before, after)
    assert [(turn.effect, turn.after.case) for turn in found.turns] == [
        (TurnEffect.WORSE, "worse"),
        (TurnEffect.BETTER, "better"),
        (TurnEffect.BETTER, "dated"),
        (TurnEffect.OTHER, "other"),
        (TurnEffect.SAME, "same"),
    ]
    assert (found.gained, found.lost, found.unmatched) == (2, 1, 6)
    assert found.counts == {"worse": 1, "better": 2, "other": 1, "same": 1}


def test_figures_are_of_the_turns_that_have_them() -> None:
    results = [
        result("a", TurnVerdict.CORRECT, precision=1.0, recall=1.0, unfounded=(), faithfulness=0.5, seconds=1.0),
        result(
            "b",
            TurnVerdict.WRONG,
            recall=0.0,
            unfounded=("3 天",),
            degraded=("llm",),
            false_answer=True,
            tag="u",
            seconds=3.0,
        ),
        result("b", TurnVerdict.PARTLY, precision=0.5, recall=1.0),
    ]
    told = compute_figures(results)
    assert (told["turns"], told["conversations"], told["conversations_clean"], told["partly"]) == (3, 2, 1, 1)
    assert (told["hallucination_rate"], told["citation_precision"]) == (0.5, 0.75)
    assert told["citation_recall"] == pytest.approx(2 / 3, abs=1e-3)
    assert (told["faithfulness"], told["relevance"]) == (0.5, None)
    assert told["by_tag"] == {"t": {"correct": 1, "turns": 2}, "u": {"correct": 0, "turns": 1}}
    assert (told["judged"], told["degraded"]) == (1, 1)
    assert compute_figures([])["accuracy"] == 0.0
