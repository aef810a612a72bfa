from __future__ import annotations

from agents.types import Page
from app.contacts.alias import COLOURS, build_alias
from app.contacts.places import read_place


def test_a_visitor_has_the_same_name_each_time_and_another_with_another_tenant() -> None:
    first = build_alias("t", "s-1")
    assert first == build_alias("t", "s-1") != build_alias("other", "s-1")
    tree, number = first.zh.split("-")
    assert 10 <= int(number) < 100 and first.en.endswith(f"-{number}") and tree and 0 <= first.colour < COLOURS


def test_names_spread() -> None:
    names = [build_alias("t", str(number)) for number in range(500)]
    assert len({name.zh for name in names}) > 430 and {name.colour for name in names} == set(range(COLOURS))


def test_of_a_page_no_secret_is_kept() -> None:
    page = Page(url="https://me:pw@shop.example/p/1?token=x#y", title=" 耳机\n 说明 ")
    assert read_place(page) == ("https://shop.example/p/1", "耳机 说明")
    for url in ("", "javascript:alert(1)", "file:///etc/passwd", "http://[", "//x/y"):
        assert read_place(Page(url=url)) is None
