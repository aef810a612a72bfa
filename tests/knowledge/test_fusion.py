from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.fusion import RRF_K, fuse_rankings


def test_the_constant_is_that_of_the_paper() -> None:
    assert RRF_K == 60


def test_scores_are_weight_over_k_plus_rank_counted_from_one() -> None:
    fused = fuse_rankings([(0.6, ["a", "b", "c"]), (0.4, ["b", "d"])])
    assert fused == pytest.approx({"b": 0.6 / 62 + 0.4 / 61, "a": 0.6 / 61, "c": 0.6 / 63, "d": 0.4 / 62})
    assert list(fused) == ["b", "a", "c", "d"]


def test_a_smaller_k_favours_the_first_ranks() -> None:
    assert fuse_rankings([(1.0, ["a", "b"])], k=1) == pytest.approx({"a": 1 / 2, "b": 1 / 3})


def test_ties_go_to_the_earlier_ranking() -> None:
    assert list(fuse_rankings([(0.5, ["c", "d"]), (0.5, ["a", "b"])])) == ["c", "a", "d", "b"]


def test_the_heavier_ranking_wins_a_disagreement() -> None:
    assert list(fuse_rankings([(0.4, ["a", "b"]), (0.6, ["b", "a"])])) == ["b", "a"]


def test_nothing_fuses_to_nothing() -> None:
    assert fuse_rankings([]) == {}
    assert fuse_rankings([(0.6, []), (0.4, [])]) == {}


@given(st.lists(st.tuples(st.floats(0.1, 1), st.lists(st.sampled_from("abcdefgh"), unique=True)), max_size=4))
def test_the_result_is_sorted_and_holds_every_id_once(rankings: list[tuple[float, list[str]]]) -> None:
    fused = fuse_rankings(rankings)
    assert set(fused) == {item for _, ids in rankings for item in ids}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    for item, score in fused.items():
        parts = [weight / (RRF_K + ids.index(item) + 1) for weight, ids in rankings if item in ids]
        assert score == pytest.approx(sum(parts))
