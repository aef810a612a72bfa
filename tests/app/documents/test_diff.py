from __future__ import annotations

from difflib import Match, SequenceMatcher
from random import Random

import pytest

from app.documents.diff import MAX_LINE_CHARS, MAX_LINES, Diff, LineKind, compare_paragraphs

SAME, REMOVED, ADDED = LineKind


def test_changes_are_told_with_what_stands_around_them() -> None:
    old = ["甲", "乙", "丙", "丁", "戊", "己", "庚"]
    new = ["甲", "乙", "丙改", "丁", "戊", "己", "庚", "辛"]
    found = compare_paragraphs(old, new, 2, 1)
    first, second = found.hunks
    assert [(line.kind, line.text) for line in first.lines] == [
        (SAME, "乙"), (REMOVED, "丙"), (ADDED, "丙改"), (SAME, "丁"),
    ]  # fmt: skip
    assert (first.old_start, first.new_start) == (2, 2)
    assert [(line.kind, line.text) for line in second.lines] == [(SAME, "庚"), (ADDED, "辛")]
    assert (found.added, found.removed, found.version, found.against, found.truncated) == (2, 1, 2, 1, False)


def test_what_did_not_change_has_no_hunks() -> None:
    assert compare_paragraphs(["甲"], ["甲"], 2, 1).hunks == ()
    assert compare_paragraphs([], [], 1, 0).hunks == ()


def test_a_first_version_is_all_new() -> None:
    (hunk,) = compare_paragraphs((), ("甲", "乙"), 1, 0).hunks
    assert {line.kind for line in hunk.lines} == {ADDED}


def test_however_much_changed_what_is_told_is_bounded() -> None:
    found = compare_paragraphs([f"旧 {n}" for n in range(3000)], ["新" * 5000] * 3000, 2, 1)
    lines = [line for hunk in found.hunks for line in hunk.lines]
    assert (len(lines), found.added, found.removed, found.truncated) == (MAX_LINES, 3000, 3000, True)
    assert max(len(line.text) for line in lines) <= MAX_LINE_CHARS


def test_a_table_of_which_every_answer_changed_is_read_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, find = 0, SequenceMatcher.find_longest_match

    def counted(self: SequenceMatcher[str], alo: int, ahi: int, blo: int, bhi: int) -> Match:
        nonlocal looked
        looked += ahi - alo
        return find(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(SequenceMatcher, "find_longest_match", counted)
    old, new = ([line for n in range(1000) for line in (f"问 {n}", f"{said} {n}")] for said in ("旧答", "新答"))
    found = compare_paragraphs(old, new, 2, 1)
    assert (found.added, found.removed) == (1000, 1000)
    assert looked <= 10 * len(old)


def test_what_is_told_makes_the_new_version_of_the_old_one() -> None:
    chance = Random(7)
    for _ in range(200):
        old = [chance.choice("甲乙丙丁戊己庚辛") + "一二三"[chance.randrange(3)] for _ in range(chance.randrange(30))]
        new = [text for text in old if chance.random() < 0.8]
        for _ in range(chance.randrange(5)):
            new.insert(chance.randrange(len(new) + 1), chance.choice("甲乙丙壬癸") + "一")
        assert _applied(compare_paragraphs(old, new, 2, 1), old) == new


def _applied(diff: Diff, old: list[str]) -> list[str]:
    made: list[str] = []
    at = 0
    for hunk in diff.hunks:
        made += old[at : hunk.old_start - 1]
        assert len(made) == hunk.new_start - 1
        made += [line.text for line in hunk.lines if line.kind is not REMOVED]
        told = [line.text for line in hunk.lines if line.kind is not ADDED]
        assert old[hunk.old_start - 1 : hunk.old_start - 1 + len(told)] == told
        at = hunk.old_start - 1 + len(told)
    return made + old[at:]
