from __future__ import annotations

import pytest

from knowledge.stores import terms
from knowledge.stores.terms import TermTable

WORDS = ("退货", "运费", "", "AX-3000", "𝄞", "\ud800", "a", "退货运费", "的")


@pytest.mark.parametrize("fewest", [0, 3, 4096])
def test_it_maps_as_a_dict_does_however_its_terms_came(monkeypatch: pytest.MonkeyPatch, fewest: int) -> None:
    monkeypatch.setattr(terms, "_FEWEST", fewest)
    words = [*WORDS, *(f"词{number}" for number in range(500))]
    table = TermTable()
    for start in (*range(0, 20), *range(20, len(words), 60)):
        table.extend(start, words[start : start + (1 if start < 19 else 60)])
    expected = {word: number for number, word in enumerate(words[: len(table)])}
    assert dict(table) == expected
    assert list(table) == list(expected)
    assert [table[word] for word in expected] == list(expected.values())
    assert table.get("从未出现") is None
    assert "从未出现" not in table


def test_words_that_share_a_hash_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_FEWEST", 0)
    monkeypatch.setattr(terms, "_HASH", 1)
    table = TermTable()
    table.extend(0, WORDS)
    assert [table.get(word) for word in (*WORDS, "从未出现")] == [*range(len(WORDS)), None]


def test_terms_that_it_has_already_may_come_again_and_a_gap_is_an_error() -> None:
    table = TermTable()
    table.extend(0, WORDS[:3])
    table.extend(1, WORDS[1:5])
    table.extend(0, WORDS[:2])
    assert list(table) == list(WORDS[:5])
    with pytest.raises(ValueError, match="from 7 on"):
        table.extend(7, ["x"])
