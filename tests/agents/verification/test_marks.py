from __future__ import annotations

import pytest

from agents.verification.marks import Mark, MarkScanner, strip_marks


def scanned(text: str, size: int) -> list[str | Mark]:
    """Parts of a text that comes in pieces of a size; neighbouring texts joined."""
    scanner = MarkScanner()
    parts = [
        part for at in range(0, len(text), size) for part in scanner.scan_text(text[at : at + size])
    ] + scanner.flush_rest()
    joined: list[str | Mark] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("退款[1]。运费[2, 3]", ["退款", Mark((1,)), "。运费", Mark((2, 3))]),
        ("甲【1】乙［２］", ["甲", Mark((1,)), "乙", Mark((2,))]),
        ("[无依据]", [Mark(())]),
        ("数组[i] 和 [12", ["数组[i] 和 [12"]),
        ("[无", ["[无"]),
        ("网页[0]", ["网页", Mark((0,))]),
    ],
)
def test_marks_are_found_however_the_text_comes(text: str, parts: list[str | Mark], size: int) -> None:
    assert scanned(text, size) == parts


def test_only_what_may_become_a_mark_is_held_back() -> None:
    scanner = MarkScanner()
    assert scanner.scan_text("退款 5 天") == ["退款 5 天"]
    assert scanner.scan_text("到账[1") == ["到账"]
    assert scanner.scan_text("]。") == [Mark((1,)), "。"]


def test_a_reply_without_its_marks() -> None:
    assert strip_marks("退款 5 天到账[1]。[2]") == "退款 5 天到账。"
