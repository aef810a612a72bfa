"""Text that is hidden is not read; text that only resembles it is."""

from __future__ import annotations

import pytest

from knowledge.parsing.colours import blend_colours, is_indistinct, read_colour
from knowledge.parsing.css import read_declarations, read_rules
from knowledge.parsing.registry import parse
from tests.hostile_files import build_docx, build_pdf, build_stream
from tests.knowledge.parsing.invisible_files import generate_invisible_files

SHOWN, HIDDEN = "退货运费由买家承担。", "暗语价格只要九块九。"
FILES = dict(generate_invisible_files(SHOWN, HIDDEN))


def text_of(name: str, content: bytes) -> str:
    return "\n".join(block.text for block in parse(name, content).blocks)


@pytest.mark.parametrize("name", sorted(FILES))
def test_hidden_text_is_not_read(name: str) -> None:
    assert text_of(name, FILES[name]) in (SHOWN, f"{SHOWN}\n一")


@pytest.mark.parametrize(
    "style",
    [
        "color:white;background:navy", "color:#fff;background-image:url(a.png)", "color:#999", "color:var(--text)",
        "background:#fff;color:#000", "font-size:12px", "font:700 12px/1.5 Arial", "opacity:.6", "left:-9999px",
        "text-indent:2em", "text-indent:-2em", "position:relative;left:-10px", "overflow:hidden;height:200px",
        "transform:scale(0.9)", "margin-left:-15px", "visibility:visible", "display:block", "clip:auto", "color:",
        "background:linear-gradient(red,blue);color:#fff", "color:rgba(0,0,0,.5)", "width:100%;overflow:hidden",
    ],
)  # fmt: skip
def test_styled_text_is_read(style: str) -> None:
    assert text_of("a.html", f'<body><p style="{style}">{SHOWN}'.encode()) == SHOWN


@pytest.mark.parametrize(
    "page",
    [
        "<style>a:hover p{{color:#fff}} @media print{{p{{display:none}}}} p::before{{display:none}}</style><p>{0}",
        "<style>p{{display:none}} .on{{display:block}}</style><p class=on>{0}",
        "<style>.x{{visibility:hidden}} .x b{{visibility:visible}}</style><p class=x>暗<b>{0}</b>语",
        "<table bgcolor=navy><tr><td><font color=white>{0}</font></table>",
        "<body bgcolor=black text=white><p>{0}",
        "<details><summary></summary><p>{0}</details>",
        "<p aria-hidden=true>{0}",
        "<p style='opacity:.5'><span style='opacity:.5'>{0}</span>",
    ],
)  # fmt: skip
def test_what_a_reader_can_see_is_read(page: str) -> None:
    assert text_of("a.html", page.format(SHOWN).encode()) == SHOWN


@pytest.mark.parametrize(
    "body",
    [
        '<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F3864"/></w:rPr>{0}</w:r></w:p>',
        '<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/><w:highlight w:val="darkBlue"/></w:rPr>{0}</w:r></w:p>',
        '<w:p><w:pPr><w:shd w:fill="000000"/></w:pPr><w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr>{0}</w:r></w:p>',
        '<w:tbl><w:tr><w:tc><w:tcPr><w:shd w:val="clear" w:fill="4472C4"/></w:tcPr>'
        '<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr>{0}</w:r></w:p></w:tc></w:tr></w:tbl>',
        '<w:tbl><w:tblPr><w:tblStyle w:val="Grid"/></w:tblPr><w:tr><w:tc>'
        '<w:p><w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr>{0}</w:r></w:p></w:tc></w:tr></w:tbl>',
        '<w:p><w:r><w:rPr><w:vanish w:val="0"/><w:color w:val="auto"/><w:sz w:val="12"/></w:rPr>{0}</w:r></w:p>',
        '<w:p><w:r><w:rPr><w:rStyle w:val="Secret"/><w:vanish w:val="false"/></w:rPr>{0}</w:r></w:p>',
        '<w:p><w:pPr><w:ind w:left="720" w:firstLine="420"/></w:pPr><w:r>{0}</w:r></w:p>',
    ],
)  # fmt: skip
def test_word_text_that_can_be_seen_is_read(body: str) -> None:
    styles = (
        '<w:style w:type="table" w:styleId="Grid"><w:name w:val="Grid"/><w:tblStylePr w:type="firstRow"><w:tcPr>'
        '<w:shd w:val="clear" w:fill="4472C4"/></w:tcPr></w:tblStylePr></w:style>'
        '<w:style w:type="character" w:styleId="Secret"><w:name w:val="S"/><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    assert text_of("a.docx", build_docx(body.format(f"<w:t>{SHOWN}</w:t>"), styles)) == SHOWN


_FONT = b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UTF16-H/DescendantFonts[6 0 R]>>"
_CID = (
    b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000"
    b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>>>"
)
_IMAGE = b"/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"


@pytest.mark.parametrize(
    "drawing",
    [
        "0 0 0.5 rg 40 580 500 40 re f 1 1 1 rg BT /F1 10 Tf 60 600 Td {0} Tj ET",  # white on a blue bar
        "BT /F1 1 Tf 10 0 0 10 60 600 Tm {0} Tj ET",  # a font of one point, ten times as large
        "q 595 0 0 842 0 0 cm /Im Do Q BT 3 Tr /F1 10 Tf 60 600 Td {0} Tj ET",  # a scan and its recognised text
        "q 500 0 0 60 40 580 cm /Im Do Q 1 1 1 rg BT /F1 10 Tf 60 600 Td {0} Tj ET",  # white on a picture
        "0.5 g BT /F1 10 Tf 60 600 Td {0} Tj ET",
        "0 g 40 595 500 1 re f BT /F1 10 Tf 60 600 Td {0} Tj ET",  # underlined
    ],
)
def test_pdf_text_that_can_be_seen_is_read(drawing: str) -> None:
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>/XObject<</Im 7 0 R>>>>>>"
    )
    content = build_stream(drawing.format(f"<{SHOWN.encode('utf-16-be').hex()}>").encode())
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    assert text_of("a.pdf", build_pdf([*tree, page, content, _FONT, _CID, build_stream(b"\x80", _IMAGE)])) == SHOWN


def test_pdf_text_within_a_form_is_as_large_as_the_form_makes_it() -> None:
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</XObject<</Large 7 0 R/Small 8 0 R>>>>>>"
    )
    content = build_stream(b"q 10 0 0 10 60 600 cm /Large Do Q q .05 0 0 .05 60 300 cm /Small Do Q")
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 999 999]/Resources<</Font<</F1 5 0 R>>>>"
    texts = ((SHOWN, 1), (HIDDEN, 10))
    forms = [
        build_stream(f"BT /F1 {size} Tf 0 0 Td <{text.encode('utf-16-be').hex()}> Tj ET".encode(), form)
        for text, size in texts
    ]
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    assert text_of("a.pdf", build_pdf([*tree, page, content, _FONT, _CID, *forms])) == SHOWN


def test_recognised_text_under_a_small_picture_is_not_read() -> None:
    drawing = "q 50 0 0 50 60 590 cm /Im Do Q BT 3 Tr /F1 10 Tf 60 600 Td {1} Tj ET BT 0 Tr 60 300 Td {0} Tj ET"
    texts = (f"<{text.encode('utf-16-be').hex()}>" for text in (SHOWN, HIDDEN))
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>/XObject<</Im 7 0 R>>>>>>"
    )
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page]
    assert (
        text_of(
            "a.pdf",
            build_pdf(
                [*tree, build_stream(drawing.format(*texts).encode()), _FONT, _CID, build_stream(b"\x80", _IMAGE)]
            ),
        )
        == SHOWN
    )


@pytest.mark.parametrize(
    ("value", "colour"),
    [
        ("#FFF", (255, 255, 255)), ("#010203", (1, 2, 3)), ("rgb(1, 2,3)", (1, 2, 3)), ("rgb(100% 0% 0%)", (255, 0, 0)),
        ("hsl(0, 0%, 100%)", (255, 255, 255)), ("WHITE", (255, 255, 255)), ("1F3864", (31, 56, 100)),
        ("hwb(none 100% 0%)", (255, 255, 255)),
        ("rgb(1e400,0,0)", (255, 0, 0)), ("oklch(1 0 0)", None), ("color(xyz 1 1 1)", None), ("var(--a)", None),
        ("url(#fff)", None), ("rgb(1,2)", None), ("rgb(.,.,.)", None),
    ],
)  # fmt: skip
def test_colours_are_read(value: str, colour: tuple[int, int, int] | None) -> None:
    assert read_colour(value) == (colour, 1.0)


def test_a_faint_colour_is_what_is_behind_it() -> None:
    assert blend_colours((0, 0, 0), 0.05, (9, 9, 9)) == (9, 9, 9)
    assert blend_colours((0, 0, 0), 0.5, (200, 200, 200)) == (100, 100, 100)
    assert not is_indistinct(None, (0, 0, 0))


def test_declarations_know_strings_and_importance() -> None:
    style = "a:url(x;y); color : RED !important; content:';b:c'; /* d:e */ f:g"
    assert read_declarations(style) == ({"a": "url(x;y)", "content": '";b:c"', "f": "g"}, {"color": "red"})


def test_rules_that_may_not_hold_are_left_out() -> None:
    sheet = "@import 'x'; a:hover{b:c} @media (max-width:1px){d{e:f}} @media screen{g,h{i:j}}"
    assert [(rule.selector, rule.style) for rule in read_rules(sheet)] == [("g", {"i": "j"}), ("h", {"i": "j"})]


@pytest.mark.parametrize(
    "page",
    [
        "<p>{0}<p style='d\\69splay:n\\6fne'>{1}",
        "<p>{0}<p style='color:rgb(255 255 255 / 100%)'>{1}",
        "<p>{0}<p style='color:hwb(0 100% 0%)'>{1}",
        "<p>{0}<p style='color:linen'>{1}",
        "<style>.a{{content:'}}'}} .b{{/*}}*/display:none</style><p>{0}<p class=b>{1}",
    ],
)
def test_what_a_browser_hides_by_rarer_spellings_is_not_read(page: str) -> None:
    assert text_of("a.html", page.format(SHOWN, HIDDEN).encode()) == SHOWN


def test_rules_are_read_as_a_browser_reads_them() -> None:
    sheet = 'a{content:"}{";d\\69splay:n\\6fne}b/*c*/{f:g;h{i:j}} k{l:m'
    assert [(rule.selector, rule.style) for rule in read_rules(sheet)] == [
        ("a", {"content": '"}{"', "display": "none"}),
        ("b", {"f": "g"}),
        ("k", {"l": "m"}),
    ]


@pytest.mark.parametrize("nested", ["{", "(", "a{b:", "a{b:(", "/*", "a{b:'"])
def test_styles_that_nest_without_end_are_read_to_their_end(nested: str) -> None:
    assert len(read_rules(nested * 5_000)) <= 1
    assert len(read_declarations(nested * 5_000)) == 2
