from __future__ import annotations

import pytest

from knowledge.types import DocumentMeta
from knowledge.versions import (
    choose_versions,
    compare_versions,
    find_product,
    find_version,
    find_versions,
    format_version,
    get_series,
    normalize_version,
)


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("用户手册 V2.3", ("2.3",)),
        ("用户手册（v2.3.1）", ("2.3.1",)),
        ("用户手册 Ｖ２．３", ("2.3",)),
        ("管理员指南 version 3", ("3",)),
        ("管理员指南 版本 4.0", ("4.0",)),
        ("管理员指南 版本：4.0", ("4.0",)),
        ("报销制度（2023版）", ("2023",)),
        ("报销制度 2023年版", ("2023",)),
        ("员工手册第三版", ("3",)),
        ("员工手册第十二版", ("12",)),
        ("manual_v2.3-beta1", ("2.3-beta1",)),
        ("发布说明 2.3.1", ("2.3.1",)),
        ("V2.2 和 V2.3 的导出有什么不同", ("2.2", "2.3")),
        ("我用的是3.0版的，怎么导出", ("3.0",)),
        ("5.1 安装", ()),
        ("云笙扫地机 V5 说明书", ()),
        ("套餐 9.9 元", ()),
        ("会议纪要 2024.05.01", ()),
        ("访问 192.168.1.1", ()),
        ("2023版权声明", ()),
        ("企业版和个人版", ()),
        ("YS-100 用户手册", ()),
        ("", ()),
    ],
)
def test_a_version_is_a_number_that_is_marked_as_one(text: str, versions: tuple[str, ...]) -> None:
    assert find_versions(text) == versions


@pytest.mark.parametrize(
    ("title", "name", "folder", "version"),
    [
        ("用户手册 V2.3", "a.md", "v1.0", "2.3"),
        ("用户手册", "用户手册-V2.2.pdf", "v1.0", "2.2"),
        ("安装", "install.md", "docs/v1.2/setup", "1.2"),
        ("安装", "install.md", "docs/2.x", "2.x"),
        ("安装", "install.md", "docs/第二版", "2"),
        ("安装", "install.md", "docs/2024", ""),
    ],
)
def test_the_nearest_name_tells_the_version(title: str, name: str, folder: str, version: str) -> None:
    assert find_version(title, name, folder) == version


def test_a_product_is_the_model_in_the_title_or_a_folder() -> None:
    assert find_product("云笙 YS-100 用户手册 V2.3", "手册/YS-200") == "YS-100"
    assert find_product("用户手册 V2.3", "手册/YS-200/v2.3") == "YS-200"
    assert find_product("USB-C 接口说明 V2.3", "手册") == ""


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("2.2", "2.3", -1),
        ("V2.10", "2.9", 1),
        ("2.3", "2.3.0", 0),
        ("2.3-beta", "2.3", -1),
        ("2.3b", "2.3", 1),
        ("2.3-rc1", "2.3-rc2", -1),
        ("2023", "2024", -1),
        ("2024-05", "2024.4", 1),
        ("2023", "2.3", None),
        ("Honeycomb", "2.3", None),
        ("", "2.3", None),
    ],
)
def test_versions_are_put_in_order_or_not_at_all(one: str, other: str, expected: int | None) -> None:
    assert compare_versions(one, other) == expected
    assert compare_versions(other, one) == (None if expected is None else -expected)


@pytest.mark.parametrize(
    ("given", "kept"), [("V2.3", "2.3"), ("2023版", "2023"), (" 专业版 ", "专业版"), ("第三版", "3"), ("版本 2", "2")]
)
def test_a_version_has_one_form(given: str, kept: str) -> None:
    assert normalize_version(given) == kept


def manual(version: str, title: str = "用户手册", folder: str = "", product: str = "") -> DocumentMeta:
    return DocumentMeta(f"{title}{version}{folder}{product}", "a.md", title, "", (), folder, product, version)


def test_versions_of_one_manual_share_all_but_the_version() -> None:
    same = [manual("2.2", "用户手册 V2.2"), manual("2.3", "用户手册（V2.3）"), manual("2.4", "用户手册")]
    assert len({get_series(each) for each in same}) == 1
    apart = [manual("2.2"), manual("2.2", "安装手册"), manual("2.2", folder="北区"), manual("2.2", product="YS-1")]
    assert len({get_series(each) for each in apart}) == 4
    assert get_series(manual("1.2", "安装", "docs/v1.2/a")) == get_series(manual("1.3", "安装", "docs/v1.3/a"))


OLD, NEW, NEWEST = manual("2.2"), manual("2.3"), manual("2.10")
OTHER = manual("1.0", "安装手册")


def test_the_newest_of_a_series_answers_for_the_others() -> None:
    choice = choose_versions([OLD, NEWEST, NEW, OTHER], "怎么导出")
    assert choice.excluded == choice.older == {OLD.id, NEW.id}


def test_a_version_that_is_named_answers_and_no_other() -> None:
    choice = choose_versions([OLD, NEWEST, NEW, OTHER], "V2.2 怎么导出")
    assert choice.excluded == {NEW.id, NEWEST.id} and not choice.older
    assert choose_versions([OLD, NEW], "V2.2 和 V2.3 的导出有什么不同").excluded == frozenset()
    assert choose_versions([OLD, NEW], "2版怎么导出").excluded == frozenset()


def test_what_is_asked_now_counts_before_what_was_named_before() -> None:
    assert choose_versions([OLD, NEW], "V2.3 呢", ["2.2"]).excluded == {OLD.id}
    assert choose_versions([OLD, NEW], "怎么导入", ["2.2"]).excluded == {NEW.id}


def test_a_version_that_no_manual_has_does_not_count() -> None:
    assert choose_versions([OLD, NEW], "V9.9 怎么导出", ["2.2"]).excluded == {NEW.id}
    assert choose_versions([OLD, NEW], "V9.9 怎么导出").excluded == {OLD.id}


YEAR, NAMED = manual("2023"), manual("Honeycomb")


def test_all_stay_where_nobody_can_tell_which_is_newer() -> None:
    assert choose_versions([NEW, YEAR, NAMED], "怎么导出").excluded == frozenset()
    assert choose_versions([OLD, NEW, YEAR], "怎么导出").excluded == {OLD.id}


def test_a_conversation_goes_on_with_the_version_that_answered() -> None:
    assert choose_versions([NEW, YEAR, NAMED], "怎么导入", cited={YEAR.id}).excluded == {NEW.id, NAMED.id}
    assert choose_versions([OLD, NEW], "怎么导入", cited={OLD.id}).excluded == {OLD.id}


def test_a_version_without_a_number_is_named_by_its_name() -> None:
    assert choose_versions([NEW, NAMED], "honeycomb 怎么导出").excluded == {NEW.id}


@pytest.mark.parametrize(("version", "shown"), [("2.3", "V2.3"), ("2023", "2023版"), ("Honeycomb", "Honeycomb")])
def test_customers_read_a_version_as_they_write_it(version: str, shown: str) -> None:
    assert format_version(version) == shown
    assert version == "Honeycomb" or find_versions(shown) == (version,)
