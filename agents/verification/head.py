"""How likely it is that passages state a claim: forests of randomised trees over what words, facts and meaning show.

One knows the vectors of one embedder, the other goes by words alone. Both were fitted on claims over documents of many
trades by `scripts/evaluation/claims.py --fit`, which writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from knowledge.types import Matrix, Vector

# The embedder whose vectors the forest knows; cosines of others lie elsewhere.
FITTED_ON = "e5/multilingual-e5-small-q4/0.3.0"
# Of `ConditionCheck.compute_features`, and whether a passage holds the claim up by `SupportChecker`'s own rules.
WORDS = (
    "said",
    "headed",
    "unsaid",
    "unsaid_after",
    "key_unsaid",
    "subject_new",
    "numbers_elsewhere",
    "numbers_unknown",
    "numbers_unsaid",
    "names_new",
    "contradicts",
    "negations",
    "held",
)
# Of `ClaimMeaning.compute_features`.
MEANING = (
    "own",
    "asked",
    "own_above",
    "asked_above",
    "margin",
    "gain",
    "clause_least",
    "clause_here",
    "clause_apart",
)
# Trees of a forest; questions to a leaf; the fewest examples of one.
TREES, DEPTH, MIN_LEAF = 100, 7, 5


@dataclass(frozen=True, slots=True)
class Forest:
    """Complete binary trees of `DEPTH` questions: the children of node n are 2n + 1 (at most the limit) and 2n + 2.

    features, limits: shape (trees, 2^DEPTH - 1); leaves: shares of claims that hold, shape (trees, 2^DEPTH).
    """

    features: NDArray[np.uint8]
    limits: Matrix
    leaves: Matrix

    def estimate_chance(self, values: Vector) -> float:
        """Returns the probability that a claim with these features holds."""
        trees = np.arange(len(self.features))
        nodes = np.zeros(len(trees), dtype=np.intp)
        for _ in range(DEPTH):
            beyond = values[self.features[trees, nodes]] > self.limits[trees, nodes]
            nodes = 2 * nodes + 1 + beyond
        return float(self.leaves[trees, nodes - (2**DEPTH - 1)].mean())


@cache
def load_forests() -> dict[str, Forest]:
    """Reads the shipped forests: `words`, and `meaning` over both kinds of features."""
    with as_file(files("agents.verification") / "claim_forests.npz") as path, np.load(path) as stored:
        parts = ("features", "limits", "leaves")
        return {name: Forest(*(stored[f"{name}_{part}"] for part in parts)) for name in ("words", "meaning")}


def estimate_claim_chance(words: Mapping[str, float], meaning: Mapping[str, float] | None) -> float:
    """Returns the probability that a claim holds. meaning: None without vectors of `FITTED_ON`."""
    if meaning is None:
        return load_forests()["words"].estimate_chance(_build_row(words, WORDS))
    return load_forests()["meaning"].estimate_chance(_build_row({**words, **meaning}, WORDS + MEANING))


def fit_forest(rows: Matrix, holds: NDArray[np.bool_], seed: int = 0) -> Forest:
    """Fits extremely randomised trees (Geurts, Ernst and Wehenkel 2006), claims that hold and others weighing the same.

    rows: (claims, features).
    """
    chance = np.random.default_rng(seed)
    weights = np.where(holds, 0.5 / holds.mean(), 0.5 / (1 - holds.mean()))
    trees = [_grow_tree(rows, holds, weights, chance) for _ in range(TREES)]
    features, limits, leaves = (np.stack(part) for part in zip(*trees, strict=True))
    return Forest(features.astype(np.uint8), limits.astype(np.float32), leaves.astype(np.float32))


def _build_row(values: Mapping[str, float], names: Sequence[str]) -> Vector:
    return np.array([values[name] for name in names], dtype=np.float32)


def _grow_tree(
    rows: Matrix, holds: NDArray[np.bool_], weights: NDArray[np.floating], chance: np.random.Generator
) -> tuple[NDArray[np.intp], Matrix, Matrix]:
    """Grows one tree. Below a node that is not divided, both ways lead to leaves of the same share."""
    inner = 2**DEPTH - 1
    features, limits = np.zeros(inner, np.intp), np.full(inner, np.inf, np.float32)
    leaves = np.zeros(2**DEPTH, np.float32)
    members = {0: np.arange(len(rows))}
    for node in range(2 * inner + 1):
        own = members.pop(node)
        if node >= inner:
            leaves[node - inner] = _compute_share(holds[own], weights[own])
            continue
        split = _divide_node(rows[own], holds[own], weights[own], chance)
        if split is None:
            members[2 * node + 1] = members[2 * node + 2] = own
            continue
        features[node], limits[node] = split
        beyond = rows[own, split[0]] > split[1]
        members[2 * node + 1], members[2 * node + 2] = own[~beyond], own[beyond]
    return features, limits, leaves


def _divide_node(
    rows: Matrix, holds: NDArray[np.bool_], weights: NDArray[np.floating], chance: np.random.Generator
) -> tuple[int, float] | None:
    """Returns the best of random limits of some features; None where nothing is left to divide."""
    if len(rows) < 2 * MIN_LEAF or holds.all() or not holds.any():
        return None
    tried = chance.permutation(rows.shape[1])[: max(round(rows.shape[1] ** 0.5), 1)]
    best: tuple[float, int, float] | None = None
    for feature in tried.tolist():
        least, most = float(rows[:, feature].min()), float(rows[:, feature].max())
        limit = float(np.float32(chance.uniform(least, most)))
        beyond = rows[:, feature] > limit
        if min(beyond.sum(), (~beyond).sum()) < MIN_LEAF:
            continue
        impurity = sum(
            float(weights[side].sum()) * share * (1 - share)
            for side in (beyond, ~beyond)
            for share in [_compute_share(holds[side], weights[side])]
        )
        if best is None or impurity < best[0]:
            best = impurity, feature, limit
    return None if best is None else best[1:]


def _compute_share(holds: NDArray[np.bool_], weights: NDArray[np.floating]) -> float:
    return float(weights[holds].sum() / weights.sum())
