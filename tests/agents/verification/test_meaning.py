"""What the vectors of a claim show."""

from __future__ import annotations

import numpy as np

from agents.verification.head import MEANING
from agents.verification.meaning import ClaimMeaning

UNITS = np.eye(3, dtype=np.float32)


def test_clauses_that_are_near_different_sentences_stand_apart() -> None:
    claim = (UNITS[0] + UNITS[1]) / np.float32(2**0.5)
    mixed = ClaimMeaning(UNITS, (4, 5, 6), claim, UNITS[0], UNITS[:2]).compute_features()
    whole = ClaimMeaning(UNITS, (4, 5, 6), UNITS[0], UNITS[0], UNITS[:1]).compute_features()
    assert mixed["clause_apart"] > whole["clause_apart"] == 0.0
    assert mixed["own"] < whole["own"]
    assert tuple(mixed) == MEANING


def test_the_nearest_fragment_is_that_of_the_sentence_nearest_behind_the_question() -> None:
    none = np.zeros((0, 3), np.float32)
    assert ClaimMeaning(UNITS, (4, 5, 6), UNITS[0], UNITS[2], none).nearest_fragment == 6
