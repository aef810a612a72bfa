from __future__ import annotations

import pytest

from app.chat.guard import Guard, Rejected


def test_a_message_is_freed_of_what_nobody_can_see() -> None:
    assert Guard(100).check(" 退款\x00多久\u200b到账\ud800 ") == "退款多久到账"


@pytest.mark.parametrize("text", ["", "   \n", "\x00\x01", "\u200b\u202e"])
def test_a_message_without_text_is_rejected_calmly(text: str) -> None:
    result = Guard(100).check(text)
    assert isinstance(result, Rejected)
    assert "请" in result.reply


def test_the_limit_counts_characters_and_is_named() -> None:
    assert Guard(10).check("一" * 10) == "一" * 10
    result = Guard(10).check("一" * 11)
    assert isinstance(result, Rejected)
    assert "10" in result.reply
