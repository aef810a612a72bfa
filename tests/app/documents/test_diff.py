from __future__ import annotations

from app.documents.diff import MAX_LINE_CHARS, MAX_LINES, LineKind, compared

SAME, REMOVED, ADDED = LineKind


def test_changes_are_told_with_what_stands_around_them() -> None:
    old = ["甲", "乙", "丙", "丁", "戊", "己", "庚"]
    new = ["甲", "乙", "丙改", "丁", "戊", "己", "庚", "辛"]
    found = compared(old, new, 2, 1)
    first, second = found.hunks
    assert [(line.kind, line.text) for line in first.lines] == [
        (SAME, "乙"), (REMOVED, "丙"), (ADDED, "丙改"), (SAME, "丁"),
    ]  # fmt: skip
    assert (first.old_start, first.new_start) == (2, 2)
    assert [(line.kind, line.text) for line in second.lines] == [(SAME, "庚"), (ADDED, "辛")]
    assert (found.added, found.removed, found.version, found.against, found.truncated) == (2, 1, 2, 1, False)


def test_what_did_not_change_has_no_hunks() -> None:
    assert compared(["甲"], ["甲"], 2, 1).hunks == ()
    assert compared([], [], 1, 0).hunks == ()


def test_a_first_version_is_all_new() -> None:
    (hunk,) = compared((), ("甲", "乙"), 1, 0).hunks
    assert {line.kind for line in hunk.lines} == {ADDED}


def test_however_much_changed_what_is_told_is_bounded() -> None:
    found = compared([f"旧 {n}" for n in range(3000)], ["新" * 5000] * 3000, 2, 1)
    lines = [line for hunk in found.hunks for line in hunk.lines]
    assert (len(lines), found.added, found.removed, found.truncated) == (MAX_LINES, 3000, 3000, True)
    assert max(len(line.text) for line in lines) <= MAX_LINE_CHARS
