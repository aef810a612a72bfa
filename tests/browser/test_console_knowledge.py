"""The console's documents, and the hit test on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from knowledge.sheets import read_sheet
from tests.browser.axe import serious
from tests.browser.console import confirm, dropped, opened

CARTRIDGE = "# 星云打印机墨盒\n\n星云打印机的黑色墨盒可以打印 1500 页，彩色墨盒可以打印 900 页。\n"


def test_files_are_dropped_found_edited_and_deleted(server: str, page: Page) -> None:
    content = opened(page, server, "documents")
    dropped(page, ("星云墨盒.md", CARTRIDGE), ("坏文件.docx", "PK 这不是文档"))
    report = content.get_by_role("region", name="导入进度")
    expect(report.get_by_role("heading")).to_have_text("1 个可以检索，1 个没有导入，共 2 个")
    expect(report.get_by_role("listitem").filter(has_text="坏文件.docx")).to_contain_text("已损坏")
    report.get_by_role("button", name="收起").click()

    content.get_by_role("searchbox", name="搜索文件名、目录或标题").fill("星云")
    expect(page).to_have_url(re.compile(r"q=%E6%98%9F%E4%BA%91"))
    rows = content.get_by_role("table").locator("tbody tr")
    expect(rows).to_have_count(1)
    content.get_by_role("link", name="星云打印机墨盒").click()
    expect(content).to_contain_text("黑色墨盒可以打印 1500 页")

    content.get_by_role("button", name="修改").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("分类").fill("打印")
    dialog.get_by_label("失效").fill("2020-01-01T00:00")
    dialog.get_by_role("button", name="保存").click()
    expect(content.get_by_role("complementary")).to_contain_text("不在有效期")
    with page.expect_download() as download:
        content.get_by_role("link", name="下载原文件").click()
    assert download.value.path().read_text("utf-8") == CARTRIDGE

    content.get_by_role("button", name="删除").click()
    confirm(page, "取消")
    expect(content).to_contain_text("黑色墨盒可以打印 1500 页")
    content.get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(content.get_by_role("heading", level=1, name="文档")).to_be_visible()
    opened(page, server, "documents?q=%E6%98%9F%E4%BA%91")
    expect(content).to_contain_text("没有符合条件的内容")

    content = opened(page, server, "documents/bin")
    binned = content.get_by_role("table").locator("tbody tr").filter(has_text="星云打印机墨盒")
    binned.get_by_role("button", name="恢复").click()
    expect(content).to_contain_text("黑色墨盒可以打印 1500 页")
    content.get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(content.get_by_role("heading", level=1, name="文档")).to_be_visible()
    content = opened(page, server, "documents/bin")
    binned.get_by_role("button", name="彻底删除").click()
    confirm(page, "彻底删除")
    expect(binned).to_have_count(0)


def test_several_documents_are_sorted_kept_as_a_file_disabled_and_deleted_together(server: str, page: Page) -> None:
    content = opened(page, server, "documents")
    dropped(
        page,
        ("彗星甲.md", "# =彗星甲\n\n彗星键盘有线。\n"),
        ("彗星乙.md", "# 彗星乙\n\n彗星键盘无线。\n" + "长。" * 200),
    )
    expect(content.get_by_role("region", name="导入进度").get_by_role("heading")).to_contain_text("2 个可以检索")
    opened(page, server, "documents?q=%E5%BD%97%E6%98%9F")
    rows = content.get_by_role("table").locator("tbody tr")
    expect(rows).to_have_count(2)
    content.get_by_role("button", name="大小").click()
    expect(page).to_have_url(re.compile("sort=-size"))
    expect(rows.first).to_contain_text("彗星乙")
    content.get_by_role("button", name="大小").click()
    expect(content.get_by_role("columnheader", name="大小")).to_have_attribute("aria-sort", "ascending")
    page.reload()
    expect(rows.first).to_contain_text("=彗星甲")
    with page.expect_download() as kept:
        content.get_by_role("button", name="导出 CSV").click()
    text = Path(kept.value.path()).read_bytes().decode("utf-8-sig")
    assert text.splitlines()[1].startswith("'=彗星甲,"), "a spreadsheet would run it otherwise"
    assert [row.cells["文件"] for row in read_sheet("a.csv", text.encode()).rows] == ["=彗星甲", "彗星乙"]

    content.get_by_role("checkbox", name="选择=彗星甲").check()
    bulk = content.get_by_role("group", name="已选 1 条")
    bulk.get_by_role("button", name="停用").click()
    assert serious(page) == []
    confirm(page, "停用")
    expect(rows.first).to_contain_text("已停用")
    expect(rows.last).not_to_contain_text("已停用")
    content.get_by_label("停用", exact=True).select_option(label="只看停用的")
    expect(rows).to_have_count(1)
    content.get_by_role("button", name="清除条件").click()
    opened(page, server, "documents?q=%E5%BD%97%E6%98%9F")
    content.get_by_role("checkbox", name="选择本页全部").check()
    content.get_by_role("group", name="已选 2 条").get_by_role("button", name="删除").click()
    confirm(page, "删除")
    expect(content).to_contain_text("没有符合条件的内容")


@pytest.mark.acceptance(only=True)
def test_an_import_that_the_list_of_jobs_tells_too_is_shown_once(server: str, page: Page) -> None:
    listed: list[Route] = []

    def told_meanwhile(upload: Route) -> None:
        answer = upload.fetch()
        listed[0].fulfill(json={"items": [answer.json()["job"]], "total": 1})
        upload.fulfill(response=answer)

    page.route("**/api/v1/knowledge/jobs?*", lambda route: listed.append(route))
    page.route("**/api/v1/knowledge/documents?wait=0", told_meanwhile)
    content = opened(page, server, "documents")
    dropped(page, ("坏文件.docx", "PK 这不是文档"))
    expect(content.get_by_role("region", name="导入进度").get_by_role("heading")).to_contain_text("1 个没有导入")
    page.wait_for_timeout(1000)  # a look at the job later
    expect(content.get_by_role("region", name="导入进度")).to_have_count(1)


@pytest.mark.acceptance(only=True)
def test_a_draft_is_compared_tried_submitted_published_and_rolled_back(server: str, page: Page) -> None:
    content = opened(page, server, "documents")
    dropped(page, ("流星鼠标.md", "# 流星鼠标\n\n流星鼠标的电池可以用半年。\n"))
    expect(content.get_by_role("region", name="导入进度").get_by_role("heading")).to_contain_text("1 个可以检索")
    content.get_by_text("归类（可选）").click()
    content.get_by_label("存为草稿，先不发布").check()
    content.get_by_label("为什么改").fill("换了电池")
    dropped(page, ("流星鼠标.md", "# 流星鼠标\n\n流星鼠标的电池可以用一年。\n"))
    waiting = content.get_by_role("region", name="还没发布的版本")
    expect(waiting).to_contain_text("换了电池")
    waiting.get_by_role("link", name="流星鼠标").click()

    place, versions = page.url, content.get_by_role("region", name="版本").get_by_role("listitem")
    expect(versions).to_have_count(2)
    versions.first.get_by_role("button", name="对比").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("ins")).to_contain_text("可以用一年")
    expect(dialog.locator("del")).to_contain_text("可以用半年")
    dialog.get_by_role("button", name="关闭").click()

    def decide(action: str, state: str, *, row: int = 0) -> None:
        versions.nth(row).get_by_role("button", name=action).click()
        dialog.get_by_role("button", name=action).click()
        expect(versions.first).to_contain_text(state)

    decide("提交审核", "待审")
    decide("通过并发布", "已发布")
    expect(content).to_contain_text("流星鼠标的电池可以用一年")
    decide("回到这一版", "第 3 版", row=1)
    expect(content).to_contain_text("流星鼠标的电池可以用半年")

    versions.nth(1).get_by_role("link", name="试一试").click()
    expect(content).to_contain_text("正在试这篇文档的第 2 版")
    content.get_by_role("textbox", name="顾客会怎么问").fill("流星鼠标的电池可以用多久")
    content.get_by_role("button", name="试一试").click()
    expect(content.locator(".ad-candidate").first).to_contain_text("可以用一年")
    content.get_by_role("button", name="不带草稿再试").click()
    expect(content.locator(".ad-candidate").first).to_contain_text("可以用半年")

    page.goto(place)
    content.get_by_role("button", name="删除", exact=True).click()
    confirm(page, "删除")
    expect(content.get_by_role("heading", level=1, name="文档")).to_be_visible()


@pytest.mark.acceptance(only=True)
def test_the_list_has_pages_and_keeps_its_place_in_the_address(server: str, page: Page) -> None:
    content = opened(page, server, "documents?limit=20")
    names = content.get_by_role("table").locator("tbody a[href^='#/documents/']")
    expect(names).to_have_count(20)
    first = names.first.inner_text()
    content.get_by_role("button", name="下一页").click()
    expect(names.first).not_to_have_text(first)
    second = names.first.inner_text()
    page.reload()
    expect(names.first).to_have_text(second)
    page.go_back()
    expect(names.first).to_have_text(first)
    content.get_by_role("link", name="退换货", exact=True).first.click()
    expect(content.get_by_role("button", name="分类 退换货")).to_be_visible()
    expect(content.locator("tbody tr").filter(has_not_text="退换货")).to_have_count(0)


def test_a_hit_is_shown_from_question_to_decision_and_a_miss_is_explained(server: str, page: Page) -> None:
    content = opened(page, server, "hit-test")
    content.get_by_role("textbox", name="顾客会怎么问").fill("退货运费谁出")
    content.get_by_role("button", name="试一试").click()
    expect(content.get_by_role("heading", name="会回答")).to_be_visible()
    steps = content.locator(".ad-funnel .ad-step-title")
    expect(steps).to_have_text(
        [re.compile(name) for name in ("读懂问题", "按意思找", "按字词找", "合并去重", "细看排序", "可用来回答")]
    )
    expect(content.locator(".ad-candidate").first).to_contain_text("运费")
    expect(content.locator(".ad-bids")).to_contain_text("知识问答")
    expect(content.locator(".ad-hypotheses")).to_contain_text("退货运费谁出")

    content.get_by_role("searchbox", name="文档").fill("分期")
    content.locator(".ad-pick").get_by_role("button", name="支付方式与分期").click()
    ladder = content.get_by_role("list", name="走到了：")
    expect(ladder.locator("[data-step=here]")).to_have_count(1)
    expect(content.get_by_role("region", name="为什么没有这一条？")).to_contain_text("没有被找到")
    expect(page).to_have_url(re.compile("document="))


@pytest.mark.acceptance(only=True)
def test_a_file_of_questions_becomes_a_table_that_can_be_kept(server: str, page: Page) -> None:
    content = opened(page, server, "hit-test")
    questions = '问题,之前问过\n退货运费谁出,\n"你们在火星, 有分店吗",\n'
    file: FilePayload = {"name": "问题.csv", "mimeType": "text/csv", "buffer": questions.encode()}
    content.get_by_label("选择文件").set_input_files(files=file)
    rows = content.get_by_role("table", name="每一问的结果").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("会回答")
    expect(rows.last.get_by_role("link")).to_have_text("你们在火星, 有分店吗")
    with page.expect_download() as kept:
        content.get_by_role("link", name="下载结果").click()
    assert read_sheet("a.csv", Path(kept.value.path()).read_bytes()).rows[0].cells["verdict"] == "pass"
    assert serious(page) == []
