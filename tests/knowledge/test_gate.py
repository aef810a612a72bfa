from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import InvalidConfiguration
from knowledge.gate import EvidenceGate
from knowledge.types import GateVerdict

PASS, CLARIFY, REFUSE = GateVerdict.PASS, GateVerdict.CLARIFY, GateVerdict.REFUSE
unit = st.floats(0, 1)
gates = st.builds(EvidenceGate, unit, unit, st.integers(1, 4))


def test_the_threshold_itself_passes() -> None:
    assert EvidenceGate().judge_all([0.6, 0.5999, 0.4, 0.3999]) == [PASS, CLARIFY, CLARIFY, REFUSE]


def test_a_threshold_of_zero_is_valid_and_lets_everything_pass() -> None:
    assert EvidenceGate(threshold=0).judge_all([0.0, 0.01, 1.0]) == [PASS] * 3


def test_a_threshold_of_one_lets_only_certainty_pass() -> None:
    assert EvidenceGate(threshold=1).judge_all([0.999999, 1.0]) == [CLARIFY, PASS]


def test_strict_mode_wants_company() -> None:
    strict = EvidenceGate(min_surviving=2)
    assert strict.judge_all([0.9, 0.5, 0.1]) == [CLARIFY, CLARIFY, REFUSE]
    assert strict.judge_all([0.9, 0.6, 0.1]) == [PASS, PASS, REFUSE]


def test_a_clarify_band_above_the_threshold_is_no_second_way_in() -> None:
    assert EvidenceGate(threshold=0.3, clarify=0.8).judge_all([0.5, 0.2]) == [PASS, REFUSE]


def test_not_a_number_never_passes() -> None:
    assert EvidenceGate(threshold=0).judge_all([math.nan]) == [REFUSE]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], REFUSE),
        ([REFUSE, REFUSE], REFUSE),
        ([REFUSE, CLARIFY], CLARIFY),
        ([CLARIFY, REFUSE, PASS], PASS),
    ],
)
def test_a_result_is_as_good_as_its_best_candidate(verdicts: list[GateVerdict], expected: GateVerdict) -> None:
    assert EvidenceGate().choose_verdict(verdicts) is expected


@pytest.mark.parametrize(
    "wrong",
    [{"threshold": -0.1}, {"threshold": 1.1}, {"threshold": math.nan}, {"clarify": 2.0}, {"min_surviving": 0}],
)
def test_impossible_values_are_refused_with_the_name_of_the_setting(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidConfiguration, match=r"THRESHOLD|MIN_SURVIVING_CHUNKS"):
        EvidenceGate(**wrong)  # type: ignore[arg-type]


@given(gates, st.lists(unit, max_size=10))
def test_nothing_below_the_threshold_passes_and_never_fewer_than_demanded(
    gate: EvidenceGate, probabilities: list[float]
) -> None:
    passing = [p for p, v in zip(probabilities, gate.judge_all(probabilities), strict=True) if v is PASS]
    assert all(probability >= gate.threshold for probability in passing)
    assert not passing or len(passing) >= gate.min_surviving


@given(gates, st.lists(unit, max_size=10))
def test_a_higher_probability_never_gets_a_worse_verdict(gate: EvidenceGate, probabilities: list[float]) -> None:
    order = list(GateVerdict)
    ranks = [order.index(verdict) for verdict in gate.judge_all(sorted(probabilities))]
    assert ranks == sorted(ranks, reverse=True)


@given(gates, unit, st.lists(unit, max_size=6))
def test_the_verdict_on_one_candidate_depends_on_the_others_only_by_their_number(
    gate: EvidenceGate, probability: float, others: list[float]
) -> None:
    verdict = gate.judge_all([probability, *others])[0]
    passing = sum(p >= gate.threshold for p in (probability, *others))
    alone = EvidenceGate(gate.threshold, gate.clarify).judge_all([probability])[0]
    assert verdict is (alone if alone is not PASS or passing >= gate.min_surviving else CLARIFY)
