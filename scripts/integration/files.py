"""Messy files as merchants send them, each with a fact of its own to ask for, or with what is to become of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scripts.attacks.hostile_files import list_hostile_files
from scripts.integration.documents import build_pdf_pages, build_word, build_workbook, list_places

NO_TEXT, FAQ, MISSING = "pages_without_text", "faq_columns", "faq_columns_missing"
BROKEN = frozenset({"broken_document"})
# MB that a bomb unfolds to, beside the hundreds of its own that some have.
_SCALE = 2


@dataclass(frozen=True, slots=True)
class Messy:
    """A file. `refused`: the codes that it may be refused with, none for a file that is to be taken. `notice`: what has
    to be said of it. `query` finds `needle` in it. `columns`: of questions and answers, named by the sender.
    """

    name: str
    content: bytes
    folder: str = ""
    refused: frozenset[str] = frozenset()
    notice: str = ""
    query: str = ""
    needle: str = ""
    twin: bool = False
    columns: tuple[str, str] | None = None

    @property
    def path(self) -> str:
        """Folder and name."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


def list_messy_files() -> list[Messy]:
    """All of them, in the order in which they are to be sent: a twin after the file whose content it has."""
    return [
        *_generate_encodings(),
        *_generate_tables(),
        *_generate_faqs(),
        *_generate_pages(),
        *_generate_prose(),
        *_generate_names(),
        *_generate_refused(),
    ]


def _build_sentence(item: str, months: int) -> str:
    return f"{item}的保修期是{months}个月，凭订单号办理。"


def _build_fact(name: str, content: bytes, item: str, months: int, *, notice: str = "", folder: str = "") -> Messy:
    return Messy(name, content, folder, notice=notice, query=f"{item}的保修期是多久", needle=f"{months}个月")


def _generate_encodings() -> Iterator[Messy]:
    """Yields texts as the editors of the last thirty years save them."""
    encodings = {
        "utf-8": "电水壶",
        "utf-8-sig": "电饭煲",
        "utf-16": "空气炸锅",
        "utf-16-le": "榨汁机",
        "utf-16-be": "洗碗机",
        "gbk": "吸尘器",
        "gb18030": "加湿器",
        "big5": "電風扇",
    }
    for months, (encoding, item) in enumerate(encodings.items(), start=101):
        text = _build_sentence(item, months) if encoding != "big5" else f"{item}的保固期是{months}個月，憑訂單號辦理。"
        filler = (
            "如有疑問請聯絡客服，我們會盡快回覆。" if encoding == "big5" else "如有疑问请联系客服，我们会尽快回复。"
        )
        yield Messy(
            f"说明-{encoding}.txt",
            f"{text}\r\n\r\n{filler * 4}\r\n".encode(encoding),
            query=f"{item}的保固期是多久" if encoding == "big5" else f"{item}的保修期是多久",
            needle=str(months),
        )
    yield _build_fact(
        "换行.txt", _build_sentence("电吹风", 111).encode().replace("，".encode(), "，\r".encode()), "电吹风", 111
    )
    yield Messy(
        "空字符.txt",
        _build_sentence("剃须刀", 112).encode().replace("，".encode(), "，\0\0".encode()),
        refused=frozenset({"hostile_document"}),
    )
    yield _build_fact(
        "零宽.txt", _build_sentence("电动牙刷", 113).replace("，", "，\u200b\ufeff").encode(), "电动牙刷", 113
    )
    yield _build_fact("无结尾.md", f"# 保修\n\n```\n{_build_sentence('咖啡机', 114)}".encode(), "咖啡机", 114)
    yield _build_fact("只有标题.md", f"# {_build_sentence('面包机', 115)}\n".encode(), "面包机", 115)


def _generate_tables() -> Iterator[Messy]:
    rows: list[list[object]] = [
        [item, months, "凭订单号"] for item, months in (("扫地机", 121), ("洗衣机", 122), ("冰箱", 123))
    ]
    head: list[object] = ["商品", "保修期（月）", "凭证"]

    def build_table(name: str, content: bytes, needle: str = "122") -> Messy:
        return Messy(name, content, "表格", query="洗衣机 保修期", needle=needle)

    def join_cells(lines: list[list[object]], separator: str) -> bytes:
        return "\n".join(separator.join(map(str, line)) for line in lines).encode()

    yield build_table("有表头.csv", join_cells([head, *rows], ","))
    yield build_table("无表头.csv", join_cells(rows, ","))
    yield build_table("分号.csv", join_cells([head, *rows], ";"))
    yield build_table("制表符.csv", join_cells([head, *rows], "\t"))
    yield build_table("旧系统.csv", join_cells([head, *rows], ",").decode().encode("gbk"))
    yield build_table("缺列.csv", join_cells([head, *rows[:2], ["冰箱"]], ","))
    yield build_table("有表头.xlsx", build_workbook({"保修": [head, *rows]}))
    yield build_table("无表头.xlsx", build_workbook({"保修": rows}))
    double: list[list[object]] = [["保修政策", None, None], head, *rows]
    yield build_table("两行表头.xlsx", build_workbook({"保修": double}, merged=("A1:C1",)))
    yield build_table("空表在前.xlsx", build_workbook({"封面": [], "保修": [head, *rows]}))
    yield build_table("空行.xlsx", build_workbook({"保修": [[], [], head, [], *rows]}))
    yield build_table("表格.docx", build_word(["保修说明"], [[str(cell) for cell in line] for line in [head, *rows]]))


def _generate_faqs() -> Iterator[Messy]:
    answer = {"客户问题": "净水器多久换一次滤芯", "标准回复": "净水器的滤芯每131天更换一次。"}
    both = [list(answer), list(answer.values()), ["热水器怎么除垢", "热水器每半年除垢一次，请预约师傅。"]]
    swapped = [line[::-1] for line in both]

    def build_sheet(name: str, content: bytes, *, notice: str = FAQ, columns: tuple[str, str] | None = None) -> Messy:
        needle = "131天"
        return Messy(name, content, "问答", notice=notice, query=answer["客户问题"], needle=needle, columns=columns)

    yield build_sheet("客户问题.xlsx", build_workbook({"客服": both}))
    yield build_sheet("先答后问.xlsx", build_workbook({"客服": swapped}))
    yield build_sheet("客户问题.csv", "\n".join(",".join(line) for line in both).encode())
    yield build_sheet(
        "问题答案.csv", "\n".join([",".join(["问题", "答案"]), *(",".join(line) for line in both[1:])]).encode()
    )
    named = [["甲", "乙"], *both[1:]]
    yield build_sheet("自己指定.xlsx", build_workbook({"客服": named}), columns=("甲", "乙"))
    yield build_sheet(
        "指定错了.xlsx",
        build_workbook({"客服": [*both, ["滤芯是原装的吗", "滤芯都是原装的。"]]}),
        notice=MISSING,
        columns=("没有这列", "也没有"),
    )


def _generate_pages() -> Iterator[Messy]:
    furniture = (
        "<nav><a href=/>首页</a> <a href=/cart>购物车</a></nav><aside>猜你喜欢</aside>{}<footer>沪ICP备0号</footer>"
    )
    body = f"<main><h1>保修</h1><p>{_build_sentence('投影仪', 141)}</p></main>"
    yield _build_fact("网页.html", f"<!doctype html><body>{furniture.format(body)}".encode(), "投影仪", 141)
    old = f"<html><meta charset=gb2312><table><tr><td><font>{_build_sentence('打印机', 142)}</font></table>"
    yield _build_fact("老网页.htm", old.encode("gb2312"), "打印机", 142)
    yield _build_fact("残缺.html", f"<div><p>{_build_sentence('路由器', 143)}<div><b>".encode(), "路由器", 143)
    yield _build_fact("文字.pdf", build_pdf_pages(list_places([_build_sentence("显示器", 144)])), "显示器", 144)
    yield _build_fact(
        "夹扫描.pdf", build_pdf_pages(list_places([_build_sentence("键盘", 145)]), []), "键盘", 145, notice=NO_TEXT
    )
    yield Messy("全扫描.pdf", build_pdf_pages([]), refused=frozenset({"empty_document"}))
    left = ["音箱的保修期是", "146个月，凭订单号", "办理，请妥善保管", "购物的凭证。"]
    right = ["耳机的保修期是", "147个月，凭订单号", "办理，人为损坏的", "不在保修之列。"]
    yield _build_fact("双栏.pdf", build_pdf_pages([*list_places(left), *list_places(right, 320)]), "耳机", 147)


def _generate_prose() -> Iterator[Messy]:
    chat = [
        "2026-03-01 10:00:02 客户小李",
        "你好，请问手表的表带多久能换一次？",
        "2026-03-01 10:00:30 客服阿明",
        "手表的表带每151天可以免费更换一次。",
        "2026-03-01 10:01:00 客户小李",
        "谢谢",
    ]
    yield Messy("聊天记录.txt", "\n".join(chat).encode(), query="手表的表带多久能换一次", needle="151天")
    yield _build_fact("文档.docx", build_word(["保修说明", _build_sentence("相机", 152)]), "相机", 152)
    yield _build_fact("长段.txt", ("欢迎选购。" * 3000 + _build_sentence("三脚架", 153)).encode(), "三脚架", 153)
    quoted = f'商品,说明\n麦克风,"{_build_sentence("麦克风", 154)}\n第二行"\n'
    yield _build_fact("引号.csv", quoted.encode(), "麦克风", 154)
    yield _build_fact("表情.md", f"# 🎉 保修 🎉\n\n{_build_sentence('充电宝', 155)} 👍🏻\n".encode(), "充电宝", 155)


def _generate_names() -> Iterator[Messy]:
    """The same name in two folders is two documents; the same content twice is one that names the other."""
    yield _build_fact("门店.md", f"# 门店\n\n{_build_sentence('平板', 161)}".encode(), "平板", 161, folder="杭州")
    yield _build_fact("门店.md", f"# 门店\n\n{_build_sentence('手机', 162)}".encode(), "手机", 162, folder="宁波")
    yield _build_fact("大写.TXT", _build_sentence("鼠标", 163).encode(), "鼠标", 163)
    yield _build_fact("带 空格 (1).txt", _build_sentence("硬盘", 164).encode(), "硬盘", 164)
    yield Messy("鼠标副本.txt", _build_sentence("鼠标", 163).encode(), twin=True)


def _generate_refused() -> Iterator[Messy]:
    said = _build_sentence("显卡", 171).encode()
    empty, kind, name = (frozenset({code}) for code in ("empty_document", "unsupported_type", "hostile_document"))
    bomb = frozenset({"hostile_document", "document_too_large", "costly_document", "broken_document"})
    yield Messy("空.txt", b"", refused=empty)
    yield Messy("空白.txt", b" \r\n\t\n", refused=empty)
    yield Messy("空表.csv", b"", refused=empty)
    yield Messy("空文档.docx", build_word([]), refused=empty)
    for ending in ("exe", "zip"):
        yield Messy(f"附件.{ending}", said, refused=kind)
    for ending in ("doc", "pptx", "png"):
        yield Messy(f"附件.{ending}", said, refused=BROKEN)
    yield Messy("没有后缀", said, refused=kind)
    yield Messy(f"{'很长的名字' * 60}.txt", said, refused=name)
    yield Messy("坏的.pdf", b"%PDF-1.4\n" + b"\xff" * 400, refused=BROKEN)
    yield Messy("改名的.docx", said, refused=BROKEN | name)
    yield Messy("改名的.xlsx", said, refused=BROKEN | name)
    yield Messy("改名的.pdf", said, refused=BROKEN | name)
    yield Messy("图片.txt", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, refused=BROKEN | name)
    hostile = list_hostile_files(_SCALE)
    for wrong in ("截断.pdf", "截断.docx", "截断.xlsx"):
        yield Messy(wrong, hostile[wrong](), refused=BROKEN | name | empty)
    for wrong in ("实体.docx", "压缩炸弹.docx", "双重压缩.pdf"):
        yield Messy(wrong, hostile[wrong](), refused=bomb | empty)
