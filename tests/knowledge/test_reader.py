"""A reader's judgements act on the one gate, and never let through what it did not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from knowledge.gate import EvidenceGate
from knowledge.probability import CalibrationMap
from knowledge.reader import READER, apply_judgements, fit_reader, measure_nearness
from knowledge.types import GateVerdict, Retrieval
from tests.agents.support import candidate, retrieval

CALIBRATION = CalibrationMap(READER, -2.0, 0.0, 2.0, most=3.0)
GATE = EvidenceGate()


def found(*probabilities: float) -> Retrieval:
    candidates = [candidate(f"第 {n} 段。", p, number=n) for n, p in enumerate(probabilities)]
    return replace(retrieval("问题", *candidates), top=len(candidates))


def ids(result: Retrieval) -> list[str]:
    return [each.chunk.id for each in result.candidates]


def test_what_is_near_and_does_not_state_the_answer_is_refused() -> None:
    result = apply_judgements(found(0.95, 0.9), (-4.0, -4.0), CALIBRATION, GATE)
    assert result.verdict is not GateVerdict.PASS
    assert result.confidence < 0.6
    assert {each.scorer for each in result.candidates} == {READER}


def test_what_was_judged_stays_as_near_as_the_search_found_it() -> None:
    result = apply_judgements(found(0.95, 0.6), (-4.0, None), CALIBRATION, GATE)
    assert [measure_nearness(each) for each in result.candidates] == [0.95, 0.6]
    assert all(each.probability < measure_nearness(each) for each in result.candidates)
    assert [measure_nearness(each) for each in found(0.95).candidates] == [0.95]


def test_the_passage_that_states_the_answer_comes_first() -> None:
    result = apply_judgements(found(0.9, 0.8, 0.7), (-4.0, -3.0, 4.0), CALIBRATION, GATE)
    assert ids(result)[0] == "c2"
    assert result.verdict is GateVerdict.PASS
    assert result.candidates[0].score == pytest.approx(4.0)


def test_among_passages_that_state_the_answer_the_order_of_the_search_stands() -> None:
    result = apply_judgements(found(0.9, 0.8, 0.7), (1.0, -4.0, 4.0), CALIBRATION, GATE)
    assert ids(result) == ["c0", "c2", "c1"]
    assert result.candidates[0].probability < result.candidates[1].probability == result.confidence


def test_a_stated_answer_is_told_though_the_search_was_unsure() -> None:
    result = apply_judgements(found(0.5), (4.0,), CALIBRATION, GATE)
    assert result.verdict is GateVerdict.PASS


def test_a_weak_reader_does_not_refuse_what_the_search_is_sure_of() -> None:
    weak = replace(CALIBRATION, most=1.2)
    assert apply_judgements(found(0.95), (-9.0,), weak, GATE).verdict is GateVerdict.PASS
    assert apply_judgements(found(0.7), (-9.0,), weak, GATE).verdict is not GateVerdict.PASS


def test_a_judgement_counts_for_as_much_as_the_reader_tells_apart() -> None:
    spread = np.linspace(-2.0, 2.0, 16)
    weak, strong = (fit_reader(spread + apart, spread) for apart in (1.5, 4.0))
    assert 0 < weak.most < strong.most
    middle = apply_judgements(found(0.7), (4.0,), strong, GATE).confidence
    assert apply_judgements(found(0.7), (9.0,), strong, GATE).confidence == pytest.approx(middle)


def test_a_passage_that_nobody_judged_does_not_pass_where_the_judged_ones_fail() -> None:
    result = apply_judgements(found(0.95, 0.94, 0.93), (-4.0, -4.0), CALIBRATION, GATE)
    assert ids(result)[-1] == "c2"
    assert result.verdict is not GateVerdict.PASS
    assert result.candidates[-1].probability <= min(each.probability for each in result.candidates[:-1])


def test_a_passage_that_was_late_stays_behind_those_that_were_judged() -> None:
    result = apply_judgements(found(0.9, 0.95, 0.8), (2.0, None, 3.0), CALIBRATION, GATE)
    assert ids(result)[-1] == "c1"
    assert READER not in result.degraded


@pytest.mark.parametrize("judgements", [(), (None, 3.0)])
def test_without_a_judgement_of_the_first_the_search_stands_and_says_so(judgements: tuple[float | None, ...]) -> None:
    before = found(0.9, 0.8)
    result = apply_judgements(before, judgements, CALIBRATION, GATE)
    assert result == replace(before, degraded=(READER,))


def test_candidates_behind_the_shown_ones_keep_their_number() -> None:
    whole = found(0.9, 0.8, 0.7)
    before = replace(whole, candidates=whole.candidates[:2], beyond=whole.candidates[2:], top=2)
    result = apply_judgements(before, (-3.0, 3.0), CALIBRATION, GATE)
    assert (ids(result), [each.chunk.id for each in result.beyond]) == (["c1", "c0"], ["c2"])


def test_the_probability_rises_with_either_witness() -> None:
    by_reader = [apply_judgements(found(0.7), (odds,), CALIBRATION, GATE).confidence for odds in (-4, -1, 0, 1, 4)]
    by_search = [apply_judgements(found(p), (0.5,), CALIBRATION, GATE).confidence for p in (0.1, 0.4, 0.7, 0.9)]
    assert by_reader == sorted(set(by_reader))
    assert by_search == sorted(set(by_search))


def test_a_calibration_hardly_moves_with_the_noise_of_a_model() -> None:
    noise = np.random.default_rng(7).normal(0, 0.05, (50, 32))
    answered = np.array([0.8, 1.2, 1.4, 1.6, 1.7, 1.9, 2.3, 2.5, 2.6, 2.7, 2.7, 2.9, 3.1, 3.2, 3.9, 5.0])
    near = np.array([-1.8, -0.9, -0.1, 0.0, 0.1, 0.4, 0.6, 0.6, 0.6, 0.7, 0.9, 1.0, 1.4, 1.5, 1.6, 3.4])
    fits = [fit_reader(answered + some[:16], near + some[16:]) for some in noise]
    at_one = [fit.compute_probability(1.0) for fit in fits]
    assert max(at_one) - min(at_one) < 0.1
