"""A document of sections, written in every format, and what its blocks are."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from pptx.oxml import xmlchemy
from pptx.util import Inches, Pt

from knowledge.blocks import BlockKind
from tests.knowledge.parsing.files import Text, pdf, word
from tests.knowledge.parsing.offices import book, deck, saved
from tests.sheets import build_workbook


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    parts: tuple[Paragraph | Numbered | Bullets | Table | Code | Note | Quotation, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Numbered:
    items: tuple[str, ...]
    start: int = 1


@dataclass(frozen=True, slots=True)
class Bullets:
    """Each with what is nested in it."""

    items: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Table:
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    text: str


@dataclass(frozen=True, slots=True)
class Quotation:
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    sections: tuple[Section, ...]


MANUAL = Document(
    "云雀净水器服务手册",
    (
        Section(
            "安装",
            (
                Paragraph("净水器由师傅上门安装，安装费 80 元，旧机拆除另收 30 元。"),
                Paragraph("预约安装的步骤如下："),
                Numbered(("打开小程序，进入「我的设备」", "点「预约安装」，选择日期", "师傅出发前一小时会打电话确认")),
                Note("水压低于 0.1 MPa 时须加装增压泵，否则不出水。"),
            ),
        ),
        Section(
            "滤芯",
            (
                Paragraph("三种滤芯的更换周期和价格见下表："),
                Table(
                    (
                        ("滤芯", "更换周期", "价格"),
                        ("PP 棉", "6 个月", "49 元"),
                        ("活性炭", "12 个月", "89 元"),
                        ("反渗透膜", "36 个月", "399 元"),
                    )
                ),
                Paragraph("换下的滤芯请投进可回收物垃圾桶。"),
            ),
        ),
        Section(
            "指示灯",
            (
                Bullets(
                    (
                        ("蓝灯：正常制水", ()),
                        ("红灯：需要处理", ("常亮是滤芯到期", "闪烁是漏水，请立即关闭进水阀")),
                        ("灯不亮：没有通电", ()),
                    )
                ),
            ),
        ),
        Section(
            "接口",
            (
                Paragraph("智能家居平台可以这样读取水质："),
                Code("GET /v1/tds\nX-Token: abc<1>"),
                Paragraph("每分钟最多调用 20 次，超出后返回 429。"),
            ),
        ),
        Section(
            "保修",
            (
                Paragraph("整机保修 2 年，水泵和电磁阀保修 5 年，滤芯是耗材，不保修。"),
                Quotation("非因产品质量造成的漏水，不在保修范围之内。"),
                Paragraph("寄修的办法从登记开始："),
                Numbered(("登记机身编号", "把机器装进原包装", "等快递员上门取件"), start=4),
            ),
        ),
    ),
)
QUESTIONS = (
    *("安装要多少钱", "拆旧机收费吗", "怎么预约安装", "师傅来之前会打电话吗", "水压低怎么办", "增压泵什么时候要装"),
    *("PP 棉多久换一次", "活性炭多少钱", "反渗透膜的价格", "反渗透膜能用多久", "旧滤芯怎么扔", "滤芯更换周期是多久"),
    *(
        "蓝灯是什么意思",
        "红灯闪烁怎么办",
        "红灯常亮",
        "灯不亮是怎么回事",
        "漏水了怎么办",
        "怎么读取水质",
        "接口能调用多少次",
    ),
    *(
        "返回 429 是为什么",
        "整机保修几年",
        "水泵保修多久",
        "滤芯保修吗",
        "电磁阀坏了保修吗",
        "漏水在保修范围吗",
        "怎么寄修",
    ),
    *("寄修要原包装吗", "机身编号在哪一步登记", "快递员上门取件吗", "预约安装在哪里点"),
)

# Section, kind, text without indent, marker, level, lead, cells.
Said = tuple[str, BlockKind, str, str, int, str, tuple[tuple[str, str], ...]]


def said(document: Document) -> list[Said]:
    """What each of its blocks is."""
    found: list[Said] = []
    for section in document.sections:
        before = ""
        for part in section.parts:
            lead = before if before.endswith("：") else ""
            found += [(section.title, *block) for block in _blocks(part, lead)]
            before = part.text if isinstance(part, Paragraph) else ""
    return found


def _blocks(part: object, lead: str) -> Iterator[tuple[BlockKind, str, str, int, str, tuple[tuple[str, str], ...]]]:
    match part:
        case Paragraph(text):
            yield BlockKind.PARAGRAPH, text, "", 0, "", ()
        case Numbered(items, start):
            for number, text in enumerate(items, start=start):
                yield BlockKind.ITEM, f"{number}. {text}", f"{number}.", 0, lead, ()
        case Bullets(items):
            for text, nested in items:
                yield BlockKind.ITEM, f"- {text}", "-", 0, lead, ()
                for below in nested:
                    yield BlockKind.ITEM, f"- {below}", "-", 1, lead, ()
        case Table((header, *rows)):
            for row in rows:
                cells = tuple(zip(header, row, strict=True))
                yield BlockKind.ROW, "；".join(f"{name}：{value}" for name, value in cells), "", 0, lead, cells
        case Code(text):
            yield BlockKind.CODE, text, "", 0, "", ()
        case Note(text):
            yield BlockKind.NOTE, text, "", 0, "", ()
        case Quotation(text):
            yield BlockKind.QUOTE, text, "", 0, "", ()


# --- Text formats ----------------------------------------------------------------------------


def markdown(document: Document) -> bytes:
    lines = [f"# {document.title}"]
    for section in document.sections:
        lines.append(f"## {section.title}")
        for part in section.parts:
            match part:
                case Paragraph(text):
                    lines.append(text)
                case Numbered(items, start):
                    lines.append("\n".join(f"{number}. {text}" for number, text in enumerate(items, start=start)))
                case Bullets(items):
                    listed = ((f"- {text}", *(f"  - {below}" for below in nested)) for text, nested in items)
                    lines.append("\n".join(line for item in listed for line in item))
                case Table((header, *rows)):
                    drawn = [header, ["---"] * len(header), *rows]
                    lines.append("\n".join(f"| {' | '.join(row)} |" for row in drawn))
                case Code(text):
                    lines.append(f"```http\n{text}\n```")
                case Note(text):
                    lines.append(f"> [!WARNING]\n> {text}")
                case Quotation(text):
                    lines.append(f"> {text}")
    return "\n\n".join(lines).encode()


def body(document: Document) -> str:
    """As HTML."""
    lines = [f"<h1>{html.escape(document.title)}</h1>"]
    for section in document.sections:
        lines.append(f"<h2>{html.escape(section.title)}</h2>")
        for part in section.parts:
            match part:
                case Paragraph(text):
                    lines.append(f"<p>{html.escape(text)}</p>")
                case Numbered(items, start):
                    listed = "".join(f"<li>{html.escape(text)}</li>" for text in items)
                    lines.append(f'<ol start="{start}">{listed}</ol>')
                case Bullets(items):
                    below = [
                        (text, "".join(f"<li>{html.escape(one)}</li>" for one in nested)) for text, nested in items
                    ]
                    listed = "".join(
                        f"<li>{html.escape(text)}{nested and f'<ul>{nested}</ul>'}</li>" for text, nested in below
                    )
                    lines.append(f"<ul>{listed}</ul>")
                case Table((header, *rows)):
                    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
                    drawn = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
                    lines.append(f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in drawn)}</table>")
                case Code(text):
                    lines.append(f'<pre><code class="language-http">{html.escape(text)}</code></pre>')
                case Note(text):
                    lines.append(f'<div class="admonition warning"><p>{html.escape(text)}</p></div>')
                case Quotation(text):
                    lines.append(f"<blockquote><p>{html.escape(text)}</p></blockquote>")
    return "\n".join(lines)


def page(document: Document) -> bytes:
    head = "<!doctype html><html><head><meta charset=utf-8></head>"
    return f"{head}<body><main>{body(document)}</main></body></html>".encode()


def epub(document: Document) -> bytes:
    return book({"1.xhtml": body(document)}, document.title)


# --- Office ----------------------------------------------------------------------------------


def office(document: Document) -> bytes:
    """DOCX, lists by numbering definitions."""
    made = docx.Document()
    made.add_paragraph(document.title, "Title")
    numbering = made.part.numbering_part.element
    for section in document.sections:
        made.add_heading(section.title, 1)
        for part in section.parts:
            match part:
                case Paragraph(text):
                    made.add_paragraph(text)
                case Numbered(items, start):
                    number = _list_of(numbering, "decimal", "%1.", start)
                    for text in items:
                        _numbered(made.add_paragraph(text), number, 0)
                case Bullets(items):
                    number = _list_of(numbering, "bullet", "•", 1)
                    for text, nested in items:
                        _numbered(made.add_paragraph(text), number, 0)
                        for below in nested:
                            _numbered(made.add_paragraph(below), number, 1)
                case Table(rows):
                    grid = made.add_table(len(rows), len(rows[0]))
                    for row, cells in zip(grid.rows, rows, strict=True):
                        for cell, text in zip(row.cells, cells, strict=True):
                            cell.text = text
                case Code(text):
                    _style(made, "HTML Preformatted")
                    made.add_paragraph(text, "HTML Preformatted")
                case Note(text):
                    _style(made, "警告")
                    made.add_paragraph(text, "警告")
                case Quotation(text):
                    made.add_paragraph(text, "Quote")
    return word(made)


def _style(made: docx.document.Document, name: str) -> None:
    if name not in [style.name for style in made.styles]:
        made.styles.add_style(name, docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)


def _list_of(numbering: docx.oxml.CT_Numbering, form: str, text: str, start: int) -> int:
    """A numbering definition of two levels; its number."""
    identifier = str(90 + len(numbering))
    abstract = _element("w:abstractNum", **{"w:abstractNumId": identifier})
    for depth in range(2):
        level = _element("w:lvl", **{"w:ilvl": str(depth)})
        for tag, value in (("w:start", str(start)), ("w:numFmt", form), ("w:lvlText", text)):
            level.append(_element(tag, **{"w:val": value}))
        abstract.append(level)
    numbering.insert(0, abstract)
    number = _element("w:num", **{"w:numId": identifier})
    number.append(_element("w:abstractNumId", **{"w:val": identifier}))
    numbering.append(number)
    return int(identifier)


def _numbered(paragraph: docx.text.paragraph.Paragraph, number: int, level: int) -> None:
    properties = _element("w:numPr")
    properties.append(_element("w:ilvl", **{"w:val": str(level)}))
    properties.append(_element("w:numId", **{"w:val": str(number)}))
    paragraph._p.get_or_add_pPr().append(properties)


def _element(tag: str, **attributes: str) -> docx.oxml.xmlchemy.BaseOxmlElement:
    element = OxmlElement(tag)
    for name, value in attributes.items():
        element.set(qn(name), value)
    return element


def slides(document: Document) -> bytes:
    """PPTX, a slide a section, numbers by automatic numbering."""
    made = deck((document.title, []), *((section.title, []) for section in document.sections))
    for section, slide in zip(document.sections, list(made.slides)[1:], strict=True):
        top = 1.5
        for part in section.parts:
            if isinstance(part, Table):
                size = len(part.rows), len(part.rows[0])
                table = slide.shapes.add_table(*size, Inches(1), Inches(top), Inches(6), Inches(1)).table
                for number, row in enumerate(part.rows):
                    for column, text in enumerate(row):
                        table.cell(number, column).text = text
            else:
                frame = slide.shapes.add_textbox(Inches(1), Inches(top), Inches(6), Inches(0.5)).text_frame
                for number, (text, level, mark) in enumerate(_paragraphs(part)):
                    paragraph = frame.paragraphs[0] if not number else frame.add_paragraph()
                    paragraph.text, paragraph.level, paragraph.font.size = text, level, Pt(14)
                    if mark is not None:
                        paragraph._p.get_or_add_pPr().append(mark)
            top += 1
    return saved(made)


def _paragraphs(part: object) -> Iterator[tuple[str, int, object]]:
    """Text, level and the element of its bullet or number."""
    match part:
        case Numbered(items, start):
            for text in items:
                mark = xmlchemy.OxmlElement("a:buAutoNum")
                mark.set("type", "arabicPeriod")
                mark.set("startAt", str(start))
                yield text, 0, mark
        case Bullets(items):
            for text, nested in items:
                yield text, 0, _bullet()
                for below in nested:
                    yield below, 1, _bullet()
        case Code(text):
            yield text.replace("\n", "\v"), 0, None
        case Paragraph(text) | Note(text) | Quotation(text):
            yield text, 0, None


def _bullet() -> object:
    mark = xmlchemy.OxmlElement("a:buChar")
    mark.set("char", "•")
    return mark


def portable(document: Document) -> bytes:
    """PDF: what a word processor prints."""
    drawn: list[Text] = [(60, 800, 20, document.title)]
    pages: list[list[Text]] = [drawn]
    top = 770.0
    for section in document.sections:
        if top < 300:
            drawn, top = [], 800.0
            pages.append(drawn)
        top -= 12
        drawn.append((60, top, 14, section.title))
        top -= 24
        for part in section.parts:
            for row in _lines(part):
                size = 6 if isinstance(part, Table) else 10
                drawn.extend((60 + 140 * column if column >= 0 else 80, top, size, text) for column, text in row)
                top -= 16
            top -= 10
    return pdf(*pages)


def _lines(part: object) -> Iterator[Sequence[tuple[int, str]]]:
    """Lines of texts by column; column -1 is indented."""
    match part:
        case Table(rows):
            yield from ([*enumerate(row)] for row in rows)
        case Numbered(items, start):
            for number, text in enumerate(items, start=start):
                yield [(0, f"{number}. {text}")]
        case Bullets(items):
            for text, nested in items:
                yield [(0, f"• {text}")]
                yield from ([(-1, f"• {below}")] for below in nested)
        case Code(text):
            yield from ([(0, line)] for line in text.split("\n"))
        case Paragraph(text) | Note(text) | Quotation(text):
            yield [(0, text)]


# --- Tables ----------------------------------------------------------------------------------


def tables(document: Document) -> list[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Those of the document by their sections."""
    return [
        (section.title, part.rows) for section in document.sections for part in section.parts if isinstance(part, Table)
    ]


def sheets(document: Document) -> bytes:
    """XLSX."""
    return build_workbook({title: list(rows) for title, rows in tables(document)})


def commas(document: Document) -> bytes:
    """CSV; only the first table."""
    buffer = io.StringIO()
    for row in tables(document)[0][1]:
        buffer.write(",".join(row) + "\n")
    return buffer.getvalue().encode()


FORMATS: dict[str, Callable[[Document], bytes]] = {
    "md": markdown,
    "html": page,
    "docx": office,
    "pdf": portable,
    "pptx": slides,
    "epub": epub,
}
