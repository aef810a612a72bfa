"""Files that are small to send and dear to read, made when they are asked for."""

from __future__ import annotations

import io
import zipfile
import zlib
from base64 import a85encode
from collections.abc import Callable, Iterable

MIB = 2**20
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument."


# --- PDF -------------------------------------------------------------------------------------


def build_pdf(objects: Iterable[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first one is the catalogue."""
    out, offsets = bytearray(b"%PDF-1.5\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets) + 1, start)
    return bytes(out)


def build_stream(content: bytes, fields: bytes = b"") -> bytes:
    """A stream object with this content."""
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(content), fields, content)


def build_font(number: int) -> list[bytes]:
    """A font for Chinese text in UTF-16, no part of the file: two objects, the first of which has this number."""
    info = b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>"
    return [
        b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UTF16-H/DescendantFonts[%d 0 R]>>"
        % (number + 1),
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000%s>>" % info,
    ]


def build_page(contents: bytes, resources: bytes = b"", others: Iterable[bytes] = ()) -> bytes:
    """A PDF of one page. others: objects from number 5 on."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<<%s>>/Contents 4 0 R>>" % resources
    return build_pdf(
        [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, contents, *others]
    )


def build_nested_forms(depth: int = 12, width: int = 10) -> bytes:
    """A PDF in which every form draws the next one `width` times."""
    forms = []
    for level in range(depth):
        draw = b"/X Do " * width if level < depth - 1 else b"0 0 1 1 re f"
        link = b"/Resources<</XObject<</X %d 0 R>>>>" % (6 + level) if level < depth - 1 else b""
        forms.append(build_stream(draw, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + link))
    return build_page(build_stream(b"/X Do " * width), b"/XObject<</X 5 0 R>>", forms)


def build_filtered_page(filters: bytes, content: bytes, indirect: bool = False) -> bytes:
    """A page whose content unfolds through filters; `indirect`: their names stand in an object elsewhere."""
    if indirect:
        return build_page(build_stream(content, b"/Filter 5 0 R"), others=[filters])
    return build_page(build_stream(content, b"/Filter" + filters))


def build_object_stream(unpacked: bytes, packed: bytes) -> bytes:
    """A PDF whose pages stand in a compressed object stream."""
    body = build_stream(packed, b"/Type/ObjStm/N 1/First %d/Filter/FlateDecode" % (len(unpacked) - 8))
    rows = bytes([0, 0, 0, 0, 0xFF]) + bytes([1, 0, 0, 9, 0]) + bytes([2, 0, 0, 3, 0])
    head = b"%PDF-1.5\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
    third = len(head)
    out = head + b"3 0 obj\n" + body + b"\nendobj\n"
    start = len(out)
    rows += bytes([1, *third.to_bytes(3, "big"), 0]) + bytes([1, *start.to_bytes(3, "big"), 0])
    table = build_stream(rows, b"/Type/XRef/Size 5/Root 1 0 R/W[1 3 1]")
    return out + b"4 0 obj\n" + table + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % start


def pack_lzw(size: int) -> bytes:
    """Zeros, packed as PDF's LZWDecode unpacks them."""
    bits, count, made = 0, 0, 0
    out = bytearray()
    while made < size:
        codes = [256, 0, *range(258, 4094)]
        table = 257
        for position, code in enumerate(codes):
            width = 9 if table < 511 else 10 if table < 1023 else 11 if table < 2047 else 12
            bits, count = (bits << width) | code, count + width
            while count >= 8:
                count -= 8
                out.append(bits >> count & 255)
            bits &= (1 << count) - 1
            table += position > 1
            made += max(0, position)
    return bytes(out)


# --- Office ----------------------------------------------------------------------------------


# Path, content type, kind of the relation from the first part, and text.
Part = tuple[str, str, str, str]


def _build_package(*parts: Part) -> bytes:
    main, folder = parts[0][0], parts[0][0].rpartition("/")[0]
    overrides = "".join(
        f'<Override PartName="/{path}" ContentType="{_CONTENT_TYPE}{kind}+xml"/>' for path, kind, *_ in parts
    )
    links = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{path.removeprefix(folder + "/")}"/>'
        for number, (path, _, kind, _) in enumerate(parts[1:], start=1)
    )
    defaults = (
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    )
    start = f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="{main}"/>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("[Content_Types].xml", f'{_XML}<Types xmlns="{_TYPES}">{defaults}{overrides}</Types>')
        archive.writestr("_rels/.rels", f'{_XML}<Relationships xmlns="{_RELATIONS}">{start}</Relationships>')
        name = f"{folder}/_rels/{main.rpartition('/')[2]}.rels"
        archive.writestr(name, f'{_XML}<Relationships xmlns="{_RELATIONS}">{links}</Relationships>')
        for path, _, _, text in parts:
            archive.writestr(path, text)
    return buffer.getvalue()


def build_docx(body: str, styles: str = "", declarations: str = "") -> bytes:
    """A DOCX with this body and these styles."""
    document = f"{_XML}{declarations}<w:document {_W}><w:body>{body}</w:body></w:document>"
    return _build_package(
        ("word/document.xml", "wordprocessingml.document.main", "", document),
        ("word/styles.xml", "wordprocessingml.styles", "styles", f"{_XML}<w:styles {_W}>{styles}</w:styles>"),
    )


def build_xlsx(rows: str, styles: str = "", strings: str = "") -> bytes:
    """An XLSX of one sheet."""
    sheets = f'<sheets><sheet name="A" sheetId="1" xmlns:r="{_OFFICE}" r:id="r1"/></sheets>'
    sheet = f"{_XML}<worksheet {_S}><sheetData>{rows}</sheetData></worksheet>"
    return _build_package(
        ("xl/workbook.xml", "spreadsheetml.sheet.main", "", f"{_XML}<workbook {_S}>{sheets}</workbook>"),
        ("xl/worksheets/sheet1.xml", "spreadsheetml.worksheet", "worksheet", sheet),
        ("xl/styles.xml", "spreadsheetml.styles", "styles", f"{_XML}<styleSheet {_S}>{styles}</styleSheet>"),
        ("xl/sharedStrings.xml", "spreadsheetml.sharedStrings", "sharedStrings", f"{_XML}<sst {_S}>{strings}</sst>"),
    )


def _build_laughs() -> str:
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
    return f'<!DOCTYPE d [<!ENTITY e0 "哈哈哈">{entities}]>'


# --- All of them -----------------------------------------------------------------------------


def list_hostile_files(scale: int = 64) -> dict[str, Callable[[], bytes]]:
    """What makes each file, by name. scale: MB that a bomb unfolds to; other costs grow with it."""
    many = 4000 * scale
    zeros = b" " * (scale * MIB)
    cell, string, format_ = '<c t="s"><v>0</v></c>', "<si><t>a</t></si>", '<xf fontId="0"/>'
    row, style = f"<row>{cell}</row>", '<w:style w:type="paragraph" w:styleId="a"><w:name w:val="a"/></w:style>'

    answer, variants = "七天内可以退。" * 250, "|".join(f"退{number}" for number in range(15_000))

    def pack_zeros() -> bytes:
        return zlib.compress(zeros, 1)

    runs = bytes([129, 32]) * (scale * MIB // 128) + b"\x80"
    return {
        "嵌套表单.pdf": build_nested_forms,
        "双重压缩.pdf": lambda: build_filtered_page(b"[/FlateDecode/FlateDecode]", zlib.compress(pack_zeros(), 9)),
        "十六进制压缩.pdf": lambda: build_filtered_page(
            b"[/ASCIIHexDecode/FlateDecode]", pack_zeros().hex().encode() + b">"
        ),
        "文本编码压缩.pdf": lambda: build_filtered_page(b"[/A85 /Fl]", a85encode(pack_zeros()) + b"~>", indirect=True),
        "游程压缩.pdf": lambda: build_filtered_page(
            b"[/FlateDecode/RunLengthDecode]", zlib.compress(runs, 9), indirect=True
        ),
        "字典压缩.pdf": lambda: build_filtered_page(b"/LZWDecode", pack_lzw(scale * MIB)),
        "对象流.pdf": lambda: build_object_stream(zeros, pack_zeros()),
        "截断.pdf": lambda: build_nested_forms()[:900],
        "空段落.docx": lambda: build_docx("<w:p/>" * (scale * MIB // 6)),
        "嵌套表格.docx": lambda: build_docx("<w:tbl><w:tr><w:tc>" * 2000 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 2000),
        "海量样式.docx": lambda: build_docx("<w:p/>", style * many),
        "实体.docx": lambda: build_docx("<w:p><w:r><w:t>&e9;</w:t></w:r></w:p>", declarations=_build_laughs()),
        "压缩炸弹.docx": lambda: build_docx(f"<w:p><w:r><w:t>{' ' * (scale * 4 * MIB)}</w:t></w:r></w:p>"),
        "截断.docx": lambda: build_docx("<w:p/>")[:700],
        "海量样式.xlsx": lambda: build_xlsx(row, f"<cellXfs>{format_ * 8 * many}</cellXfs>", string),
        "共享字符串.xlsx": lambda: build_xlsx(row, strings=string * 8 * many),
        "单元格.xlsx": lambda: build_xlsx(f"<row>{cell * 4 * many}</row>", strings=string),
        "截断.xlsx": lambda: build_xlsx(row)[:700],
        "属性.html": lambda: f"<p {' '.join(f'a{n}=1' for n in range(200_000))}>退货说明</p>".encode(),
        "嵌套.html": lambda: ("<div>" * many + "深").encode(),
        "行内嵌套.html": lambda: ("<span>" * 4900 + "<p>深" * 4900).encode(),
        "样式规则.html": lambda: (
            "<style>" + "".join(f"p p p .c{n}{{color:#fff}}" for n in range(many // 10)) + "</style>" + "<p>深" * many
        ).encode(),
        "表格.html": lambda: ("<table>" + "<tr>" * 3 + "<td colspan=100 rowspan=999999>a" * many + "</table>").encode(),
        "表格.md": lambda: ("|a" * 3000 + "\n" + "|-" * 3000 + "\n" + "|b\n" * many).encode(),
        "引用.md": lambda: (("> " * 2000 + "深\n") * (many // 1000)).encode(),
        "链接.md": lambda: ("[a](" * many).encode(),
        "强调.md": lambda: ("*a_ " * many).encode(),
        "列表.md": lambda: "".join(f"{' ' * (2 * (n % 400))}- a\n" for n in range(many // 4)).encode(),
        "单行.txt": lambda: b"x" * (19 * MIB),
        "短句.txt": lambda: ("退。" * 1_200_000).encode(),
        "空白.txt": lambda: ("头" + " " * (4 * MIB) + "尾").encode(),
        "编号.txt": lambda: ("1.2.3-a_b/" * 400_000).encode(),
        "乱码.txt": lambda: bytes(range(128, 256)) * 4000,
        "声明错误.html": lambda: b"<meta charset=utf-7>" + "退貨說明".encode("big5") * 9,
        "巨大字段.csv": lambda: b'a,b\n"' + b"x," * (5 * MIB) + b'"\n',
        "引号.csv": lambda: b'"a' * (2 * MIB),
        "巨大列.csv": lambda: b",".join([b"a"] * MIB) + b"\n" + b",".join([b"b"] * MIB),
        "问法.csv": lambda: ("问题,答案,相似问法\n" + f"怎么退,{answer},{variants}\n" * 20).encode(),
        "长问题.csv": lambda: ("问题,答案\n" + ("退" * 100_000 + ",七天内可以退。\n") * 10).encode(),
    }
