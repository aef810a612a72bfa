from __future__ import annotations

import random

import pytest

from knowledge.blocks import Block
from knowledge.errors import DocumentTooLarge, EmptyDocument, EncryptedDocument, HostileDocument
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.registry import parse
from knowledge.types import NoticeCode
from tests.knowledge.parsing.files import Text, page, pdf, texts_of

_FULL = "签收之日起七天以内商品完好并且没有影响二次销售的可以申请无理由退货退款申请入口在订单详情页"


def test_pages_count_from_one() -> None:
    parsed = parse("手册.pdf", pdf(page("第一段。"), page("第二段。")))
    assert parsed.title == "手册"
    assert parsed.blocks == (Block("第一段。", (), 1), Block("第二段。", (), 2))


def test_running_headers_footers_and_page_numbers_are_removed() -> None:
    pages = [
        page("云笙 产品手册", f"{text}内容。", f"第 {n} 页 共 3 页", f"- {n} -") for n, text in enumerate("甲乙丙", 1)
    ]
    assert [block.text for block in parse("a.pdf", pdf(*pages)).blocks] == ["甲内容。", "乙内容。", "丙内容。"]


def test_running_footer_in_two_columns_is_removed() -> None:
    def footed(text: str, number: int) -> list[Text]:
        return [*page(text), (60, 40, 10, "云笙"), (400, 40, 10, f"第 {number} 页")]

    parsed = parse("a.pdf", pdf(footed("甲内容。", 1), footed("乙内容。", 2)))
    assert [block.text for block in parsed.blocks] == ["甲内容。", "乙内容。"]


def test_wrapped_lines_are_joined_without_a_space_between_chinese() -> None:
    parsed = parse("a.pdf", pdf(page(_FULL, "右上角。", "另起一段，请联系客服。")))
    assert [block.text for block in parsed.blocks] == [_FULL + "右上角。", "另起一段，请联系客服。"]


def test_paragraph_over_a_page_break_is_one_block_on_its_first_page() -> None:
    parsed = parse("a.pdf", pdf(page("开头。", _FULL), page("右上角。", _FULL + "。")))
    assert parsed.blocks[1] == Block(_FULL + "右上角。", (), 1)


def test_wrapped_words_are_joined_with_a_space() -> None:
    line = "Open the order page and choose the item that you would like to return to us"
    width = [(60.0, 780 - 16.0 * index, 10.0, text) for index, text in enumerate((line, "within seven days."))]
    assert parse("a.pdf", pdf(width)).blocks[0].text == f"{line} within seven days."


def test_numbered_lines_are_headings() -> None:
    lines = ("第三章 售后", "一、退货", "（一）条件", "七天内。", "1.2 流程", "在线申请。", "二、换货", "十五天内。")
    parsed = parse("a.pdf", pdf(page(*lines)))
    assert [(block.text, block.heading_path) for block in parsed.blocks] == [
        ("七天内。", ("第三章 售后", "一、退货", "（一）条件")),
        ("在线申请。", ("第三章 售后", "一、退货", "（一）条件", "1.2 流程")),
        ("十五天内。", ("第三章 售后", "二、换货")),
    ]


def test_larger_lines_are_headings_and_the_largest_is_the_title() -> None:
    texts: list[Text] = [
        (60, 800, 20, "云笙耳机说明书"),
        (60, 760, 14, "安全须知"),
        (60, 740, 10, "请勿长时间以高音量使用耳机。"),
        (60, 700, 14, "保修"),
        (60, 680, 10, "一年。"),
    ]
    parsed = parse("a.pdf", pdf(texts))
    assert parsed.title == "云笙耳机说明书"
    assert [block.heading_path for block in parsed.blocks] == [("安全须知",), ("保修",)]


def test_bookmarks_are_headings() -> None:
    parsed = parse(
        "a.pdf", pdf(page("充电", "约两小时。"), page("清洁", "用干布。"), bookmarks=[(0, "充电"), (1, "清洁")])
    )
    assert parsed.blocks == (Block("约两小时。", ("充电",), 1), Block("用干布。", ("清洁",), 2))


def test_table_rows_are_readable_over_a_page_break() -> None:
    def rows(*cells: tuple[str, str, str]) -> list[Text]:
        places = (60, 160, 300)
        return [
            (x, 780 - 20 * index, 10, text)
            for index, row in enumerate(cells)
            for x, text in zip(places, row, strict=True)
            if text
        ]

    header = ("代码", "含义", "处理")
    first = rows(header, ("E01", "缺水", "请向水箱加水"), ("", "", "再重启"), ("E02", "", "重启"))
    parsed = parse("a.pdf", pdf(first, rows(header, ("E03", "卡住", "清理"))))
    assert texts_of(parsed) == (
        Block("代码：E01；含义：缺水；处理：请向水箱加水再重启", (), 1),
        Block("代码：E02；处理：重启", (), 1),
        Block("代码：E03；含义：卡住；处理：清理", (), 2),
    )


def test_contents_lines_are_left_out() -> None:
    parsed = parse("a.pdf", pdf(page("一、概述 ........ 1", "二、保修 ........ 9"), page("一、概述", "正文。")))
    assert parsed.blocks == (Block("正文。", ("一、概述",), 2),)


def test_password_is_named() -> None:
    with pytest.raises(EncryptedDocument, match="密码"):
        parse("机密.pdf", pdf(page("正文。"), password="secret"))


def test_scan_without_text_is_named() -> None:
    with pytest.raises(EmptyDocument, match="扫描件"):
        parse("扫描.pdf", pdf([], scanned=[0]))


_PROSE = (
    "签收之日起七天以内商品完好并且没有影响二次销售的可以申请无理由退货退款申请入口在订单详情页的右上角，"
    "请先登录再提交。定制商品、鲜活易腐商品、在线下载的数字商品和已经拆封的音像制品不支持无理由退货，"
    "下单以前会在商品页面上用醒目的文字提示并且需要买家勾选确认。"
)
_WARRANTY = (
    "整机从签收之日起保修一年，电池和充电盒保修半年，耳塞套等耗材不在保修范围内。人为损坏、进水、私自拆机"
    "不享受免费保修，可以付费维修，维修前会先报价，客户确认以后才开始维修，不修不收任何费用。"
)


def _column_of(text: str, x: float, top: float, characters: int = 20) -> list[Text]:
    lines = [text[start : start + characters] for start in range(0, len(text), characters)]
    return [(x, top - 16 * number, 10, line) for number, line in enumerate(lines)]


@pytest.mark.parametrize("by_line", [True, False])
def test_a_page_in_two_columns_is_read_column_by_column(by_line: bool) -> None:
    body = [*_column_of(_PROSE, 60, 720), *_column_of(_WARRANTY, 320, 720)]
    if by_line:
        body.sort(key=lambda text: (-text[1], text[0]))
    intro = "云笙商城服务条款的说明，适用于在本商城购买的所有商品，请在下单以前仔细阅读。"
    blocks = [block.text for block in parse("条款.pdf", pdf([(60, 760, 10, intro), *body])).blocks]
    assert blocks == [intro, _PROSE, _WARRANTY]


def test_a_few_lines_in_columns_on_the_last_page_follow_the_pages_before() -> None:
    first = [*_column_of(_PROSE, 60, 720), *_column_of(_WARRANTY, 320, 720)]
    last: list[Text] = [
        (60 + 260 * column, 720 - 16 * number, 10, text)
        for number, row in enumerate(("甲乙", "丙丁", "戊己"))
        for column, text in enumerate(f"其余{name}问题请联系客服。" for name in row)
    ]
    blocks = [block.text for block in parse("条款.pdf", pdf(first, last)).blocks]
    assert blocks[-6:] == [f"其余{name}问题请联系客服。" for name in "甲丙戊乙丁己"]


def test_a_table_of_two_columns_of_sentences_stays_a_table() -> None:
    rows = [("现象", "处理")]
    rows += [(f"{name}亮红灯并且无法开机", f"{name}充电十分钟以后再试一次") for name in "甲乙丙丁戊己"]
    texts: list[Text] = [
        (60 + 260 * column, 780 - 16 * number, 10, text)
        for number, row in enumerate(rows)
        for column, text in enumerate(row)
    ]
    first = parse("a.pdf", pdf(texts)).blocks[0]
    assert first.text == "现象：甲亮红灯并且无法开机；处理：甲充电十分钟以后再试一次"


def test_pages_that_are_pictures_are_named() -> None:
    blank: list[Text] = []
    content = pdf(page("第一页。"), blank, blank, blank, blank, page("第六页。"), scanned=[0, 1, 2, 4])
    (notice,) = parse("合同.pdf", content).notices
    assert (notice.code, notice.pages) == (NoticeCode.PAGES_WITHOUT_TEXT, (2, 3, 5))
    assert "第 2-3、5 页" in notice.message
    assert parse("合同.pdf", pdf(page("第一页。"), blank)).notices == ()


def test_a_scanned_page_with_a_running_header_alone_is_named() -> None:
    pages = [page("云笙 产品手册", *([f"{text}内容。"] if text else [])) for text in ("甲", "", "丙")]
    notices = parse("a.pdf", pdf(*pages, scanned=[1])).notices
    assert [(notice.code, notice.pages) for notice in notices] == [
        (NoticeCode.PAGES_WITHOUT_TEXT, (2,)),
        (NoticeCode.LEFT_OUT, (1, 2, 3)),
    ]


def test_what_stands_beside_the_text_is_told_with_its_pages_and_size() -> None:
    contents = page("云雀手册", "保修政策 ........ 2", "第一段。", "- 1 -")
    notices = parse("a.pdf", pdf(contents, page("云雀手册", "第二段。", "- 2 -"))).notices
    assert [(notice.part, notice.pages, notice.characters) for notice in notices] == [
        ("页眉页脚", (1, 2), 8),
        ("目录", (1,), 13),
        ("页码", (1, 2), 6),
    ]


def test_rows_that_end_with_a_hyphen_are_rows() -> None:
    rows = [("code", "spare"), ("KV-1", "ab-"), ("KV-2", "cd-"), ("KV-3", "ef")]
    texts = [
        (x, 780.0 - 20 * n, 10.0, text) for n, row in enumerate(rows) for x, text in zip((60, 320), row, strict=True)
    ]
    assert [block.text for block in parse("a.pdf", pdf(texts)).blocks] == [
        *("code：KV-1；spare：ab-", "code：KV-2；spare：cd-", "code：KV-3；spare：ef"),
    ]


def test_a_cell_that_ends_right_of_where_the_next_line_begins_is_no_fault() -> None:
    texts: list[Text] = [(60, 780, 10, "xxx"), (420, 700, 10, "ab-"), (120, 700, 10, "cd"), (60, 680, 10, "尾行")]
    assert "".join(block.text for block in parse("a.pdf", pdf(texts)).blocks).endswith("尾行")


@pytest.mark.parametrize("seed", range(60))
def test_cells_in_any_place_and_order_are_read(seed: int) -> None:
    """Tables whose cells stand left of their column, and are drawn after those at their right."""
    draw = random.Random(seed)
    places = draw.sample(range(60, 500, 110), draw.randint(2, 4))
    cells = [
        (column + draw.choice([0, 0, -40, 15]), 780.0 - 18 * row, 10.0, f"x{row:02}y{number}{draw.choice(['', '-'])}")
        for row in range(draw.randint(3, 20))
        for number, column in draw.sample(list(enumerate(places)), len(places))
    ]
    parsed = parse("表.pdf", pdf([(x, y, size, text) for x, y, size, text in cells]))
    held = "".join("".join((*block.heading_path, block.text)) for block in parsed.blocks) + parsed.title
    assert [text for *_, text in cells if text not in held] == []


def test_compression_bomb_is_refused_before_it_unfolds() -> None:
    with pytest.raises(HostileDocument, match="压缩炸弹"):
        parse("炸弹.pdf", pdf(page("正文。"), padding=30 * 2**20))


def test_too_many_pages() -> None:
    with pytest.raises(DocumentTooLarge, match="2 页"):
        parse("长.pdf", pdf(*[page("正文。")] * 3), ParsingLimits(max_pages=2))
