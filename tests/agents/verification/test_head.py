"""The forests that weigh a claim."""

from __future__ import annotations

import numpy as np

from agents.verification.head import DEPTH, MEANING, TREES, WORDS, fit_forest, load_forests


def test_a_forest_learns_what_two_features_say_together() -> None:
    rows = np.random.default_rng(1).uniform(size=(600, 3)).astype(np.float32)
    holds = (rows[:, 0] > 0.5) & (rows[:, 1] > 0.3)
    forest = fit_forest(rows[:400], holds[:400])
    chances = np.array([forest.estimate_chance(row) for row in rows[400:]])
    assert chances[holds[400:]].mean() > chances[~holds[400:]].mean() + 0.4


def test_the_shipped_forests_look_at_the_features_that_there_are() -> None:
    for name, columns in (("words", WORDS), ("meaning", WORDS + MEANING)):
        forest = load_forests()[name]
        assert forest.features.shape == forest.limits.shape == (TREES, 2**DEPTH - 1)
        assert forest.leaves.shape == (TREES, 2**DEPTH)
        assert int(forest.features.max()) < len(columns)
