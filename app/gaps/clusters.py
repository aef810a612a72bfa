"""Clusters of questions that ask the same, by their vectors. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from knowledge.types import Matrix, Vector

# Neighbours of a question whose mean similarity, the local density, is subtracted, so that one threshold holds in a
# base of invoices alone and in one of everything (cross-domain similarity local scaling, Conneau et al. 2018).
NEIGHBOURS = 4
# Mean similarity at which two clusters are one. Purity comes before few clusters: two gaps of one topic are merged by
# a click, while one gap of two topics would be answered wrongly. See docs/gaps.md for the figures.
THRESHOLD = -0.55
# Sentences of the background that the centre of few questions leans on.
_PRIOR = 5


def compute_similarities(questions: Matrix, background: Matrix) -> Matrix:
    """Computes the similarity of each question to each.

    Args:
        questions: Unit vectors, shape (n, dimension).
        background: The same of general sentences of customer service.

    Returns:
        Shape (n, n), symmetric: near 0 for two that are as close as their nearest neighbours, about -1 for unrelated
        ones.
    """
    count = len(questions)
    centre = (questions.sum(axis=0) + _PRIOR * background.mean(axis=0)) / (count + _PRIOR)
    own, others = _normalize_rows(questions - centre), _normalize_rows(background - centre)
    near = own @ own.T
    np.fill_diagonal(near, -1.0)  # a question is not its own neighbour
    around = np.hstack([near, own @ others.T])
    width = min(NEIGHBOURS, around.shape[1])
    density = np.partition(around, -width, axis=1)[:, -width:].mean(axis=1)
    found: Matrix = 2 * near - density[:, None] - density[None, :]
    np.fill_diagonal(found, 0.0)
    return found


def assign_to_gaps(found: Matrix, gaps: Mapping[str, Sequence[int]], new: Sequence[int]) -> dict[int, str]:
    """Assigns new questions to existing gaps.

    Args:
        found: Similarities of all questions.
        gaps: By gap, the rows of some of its questions.
        new: The rows of the new questions.

    Returns:
        By row, the gap; without the questions that belong to none.
    """
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


def build_clusters(found: Matrix, places: Sequence[int]) -> list[list[int]]:
    """Clusters these questions by average linkage: the largest first, each with its most typical question first."""
    groups = [[places[row] for row in rows] for rows in _link_clusters(found[np.ix_(places, places)])]
    return sorted((sort_by_centrality(found, group) for group in groups), key=lambda group: (-len(group), group))


def _link_clusters(found: Matrix) -> list[list[int]]:
    """Joins the two most similar clusters until none are as similar as THRESHOLD, and returns the rows of each.

    found: shape (n, n), symmetric.
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
        means[second] = means[:, second] = -np.inf  # it is part of the first now, and joined with nothing any more
        groups[first] += groups[second]
        groups[second] = []
    return [group for group in groups if group]


def sort_by_centrality(found: Matrix, group: Sequence[int]) -> list[int]:
    """Sorts the questions of a cluster, the most typical first."""
    part: Vector = found[np.ix_(group, group)].sum(axis=1)
    return [group[place] for place in np.argsort(-part, kind="stable").tolist()]


def _normalize_rows(vectors: Matrix) -> Matrix:
    unit: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
