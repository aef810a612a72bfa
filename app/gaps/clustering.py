"""Which questions ask the same, by their vectors. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knowledge.types import Matrix, Vector

NEIGHBOURS = 4
"""What surrounds a question: its density there is taken off, so that one threshold holds in a base of invoices alone
and in one of everything (cross-domain similarity local scaling, Conneau et al. 2018).
"""
THRESHOLD = -0.55
"""Mean similarity at which two clusters are one. Purity comes before few clusters: two gaps of one topic are merged by
a click, while one gap of two topics would be answered wrongly. See docs/gaps.md for the figures.
"""
_PRIOR = 5
"""Sentences of the background that the centre of few questions leans on."""


def similarities(questions: Matrix, background: Matrix) -> Matrix:
    """(n, n), symmetric, of unit vectors; near 0 for two that are as close as their nearest neighbours, about -1 for
    unrelated ones. background: sentences of customer service at large.
    """
    count = len(questions)
    centre = (questions.sum(axis=0) + _PRIOR * background.mean(axis=0)) / (count + _PRIOR)
    own, others = _unit(questions - centre), _unit(background - centre)
    near = own @ own.T
    np.fill_diagonal(near, -1.0)
    around = np.hstack([near, own @ others.T])
    width = min(NEIGHBOURS, around.shape[1])
    density = np.partition(around, -width, axis=1)[:, -width:].mean(axis=1)
    found: Matrix = 2 * near - density[:, None] - density[None, :]
    np.fill_diagonal(found, 0.0)
    return found


def joined(found: Matrix, gaps: Mapping[str, Sequence[int]], new: Sequence[int]) -> dict[int, str]:
    """Which of the new questions belong to which gap that is there; gaps: the places of some of its questions."""
    names = [name for name, places in gaps.items() if places]
    if not names or not new:
        return {}
    means = np.stack([found[np.ix_(new, gaps[name])].mean(axis=1) for name in names], axis=1)
    best = means.argmax(axis=1)
    return {
        place: names[column]
        for place, column, value in zip(new, best, means.max(axis=1), strict=True)
        if value >= THRESHOLD
    }


def clusters(found: Matrix, places: Sequence[int]) -> list[list[int]]:
    """Average linkage of these questions, the largest cluster first; the first of each stands for it best."""
    groups = [[places[row] for row in rows] for rows in _average_linkage(found[np.ix_(places, places)])]
    return sorted((central_first(found, group) for group in groups), key=lambda group: (-len(group), group))


def _average_linkage(found: Matrix) -> list[list[int]]:
    """The rows of each cluster: the two most similar ones are joined until none are as similar as THRESHOLD.

    found: (n, n), symmetric.
    """
    means = found.astype(np.float64)  # of clusters, each at the row of its first question
    np.fill_diagonal(means, -np.inf)
    groups = [[row] for row in range(len(means))]
    while len(means):
        first, second = sorted(divmod(int(means.argmax()), len(means)))
        if means[first, second] < THRESHOLD:
            break
        weights = len(groups[first]), len(groups[second])
        means[first] = means[:, first] = np.average(means[[first, second]], axis=0, weights=weights)
        means[second] = means[:, second] = -np.inf
        groups[first] += groups[second]
        groups[second] = []
    return [group for group in groups if group]


def central_first(found: Matrix, group: Sequence[int]) -> list[int]:
    """The most typical question first."""
    part: Vector = found[np.ix_(group, group)].sum(axis=1)
    return [group[place] for place in np.argsort(-part, kind="stable").tolist()]


def _unit(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
