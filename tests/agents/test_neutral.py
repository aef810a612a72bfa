"""What is shown of an answer."""

from __future__ import annotations

import random
import re

import pytest

from agents.markup import MarkupFilter, clean_markup

_PIECES = (
    *("<", "!", "[", "]", "(", ")", ":", "[a]", "](", "![", "javascript:", "http://e/", "\n", " ", "x", "\\", '"'),
    *("](http://e)", "[b](http://e)", "![](x)", "\x00", "中", "[r]: ", "a" * 100),
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3 < 5，<100 元，<张三>", "3 < 5，<100 元，<张三>"),
        ("第一行<br>第二行", "第一行＜br>第二行"),
        ("自签收起 7 天[1]，见[2]。", "自签收起 7 天[1]，见[2]。"),
        ("[帮助](/help/a.md#x)和[官网](https://a.b/c_(d) '题')", "[帮助](/help/a.md#x)和[官网](https://a.b/c_(d))"),
        ("[信](mailto:a@b.c) [电话](tel:400)", "[信](mailto:a@b.c) [电话](tel:400)"),
        ("[点这里](javascript:alert(1))", "点这里"),
        ("![图](https://e.example/x.png)好", "图好"),
        ("!![](x)[b](http://e)", "!［b](http://e)"),
        ("[r]: javascript:x", "[r]： javascript:x"),
        ("[[x]] a[0] 等!", "[[x]] a[0] 等!"),
    ],
)
def test_what_stays_and_what_goes(text: str, shown: str) -> None:
    assert clean_markup(text) == shown


def test_no_cut_of_a_text_changes_what_is_shown() -> None:
    source = random.Random(7)
    for _ in range(2000):
        text = "".join(source.choices(_PIECES, k=source.randint(1, 25)))
        whole, written, shown, place = clean_markup(text), MarkupFilter(), "", 0
        while place < len(text):
            size = source.randint(1, 6)
            shown += written.feed(text[place : place + size])
            place += size
        assert shown + written.feed("", final=True) == whole
        assert not re.search(r"!\[|\]:|<[a-z!/?\\]|\]\(\s*<?(?:javascript:|\\)", whole), (text, whole)
