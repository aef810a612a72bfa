"""Documents with one sentence for people and one that only machines read, one a way to hide it."""

from __future__ import annotations

import io
from collections.abc import Iterator

from scripts.attacks.hostile_files import docx, pdf, stream

_WAYS_OF_CSS = {
    "同色": "color:white",
    "近色": "color:#FDFDFE",
    "深底同色": "background:#123456;color:rgb(18, 52, 86)",
    "透明字": "color:rgba(0,0,0,0)",
    "字号零": "font-size:0",
    "字号一": "font: 1px/1 Arial",
    "不显示": "DISPLAY : none",
    "不可见": "visibility:hidden",
    "透明": "opacity:0.01",
    "缩进": "text-indent:-9999px",
    "移出": "position:absolute;left:-9999px",
    "裁剪": "position:absolute;clip:rect(0 0 0 0)",
    "裁剪路径": "clip-path:inset(50%)",
    "零盒": "height:0;overflow:hidden",
    "缩放": "transform:scale(0)",
    "平移": "transform:translateX(-200em)",
}
_RUNS = {
    "隐藏": "<w:vanish/>",
    "白字": '<w:color w:val="FFFFFF"/>',
    "近白": '<w:color w:val="FAFAFA"/>',
    "一号": '<w:sz w:val="2"/>',
    "极窄": '<w:w w:val="1"/>',
    "同色底纹": '<w:color w:val="1F3864"/><w:shd w:val="clear" w:fill="203864"/>',
    "样式": '<w:rStyle w:val="Secret"/>',
}
_TEXTS = {
    "不绘制": "3 Tr {font} 60 700 Td",
    "白字": "1 1 1 rg {font} 60 700 Td",
    "同色底": "q 0 0 0.5 rg 40 690 400 40 re f Q 0 0 0.5 rg {font} 60 700 Td",
    "页外": "{font} 60 900 Td",
    "左边页外": "{font} -900 700 Td",
    "极小": "/F1 0.5 Tf 60 700 Td",
    "矩阵缩小": "/F1 10 Tf 0.05 0 0 0.05 60 700 Tm",
    "透明": "/Clear gs {font} 60 700 Td",
}
_TAGS = 0xE0000


def invisible_files(shown: str, hidden: str) -> Iterator[tuple[str, bytes]]:
    """Names and contents; each shows `shown` and holds `hidden`."""
    yield from _pages(shown, hidden)
    yield from _markdown(shown, hidden)
    for name, properties in _RUNS.items():
        run = f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{hidden}</w:t></w:r></w:p>"
        yield f"暗{name}.docx", docx(f"<w:p><w:r><w:t>{shown}</w:t></w:r></w:p>{run}", _SECRET)
    moved = f'<w:p><w:pPr><w:ind w:left="-30000"/></w:pPr><w:r><w:t>{hidden}</w:t></w:r></w:p>'
    yield "暗移出.docx", docx(f"<w:p><w:r><w:t>{shown}</w:t></w:r></w:p>{moved}")
    for name, way in _TEXTS.items():
        yield f"暗{name}.pdf", _page(shown, hidden, way)


_SECRET = '<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>'


def _pages(shown: str, hidden: str) -> Iterator[tuple[str, bytes]]:
    def page(body: str, head: str = "") -> bytes:
        return f"<html><head><meta charset=utf-8>{head}</head><body><p>{shown}</p>{body}</body></html>".encode()

    for name, style in _WAYS_OF_CSS.items():
        yield f"暗{name}.html", page(f'<div style="{style}"><p>{hidden}</p></div>')
    rules = "@media screen{.x{color:#fff}} #y p, div.z > p {display:none !important}"
    sheet = f"<style>{rules}</style>"
    yield "暗类.html", page(f"<p class=x>{hidden}</p>", sheet)
    yield "暗标识.html", page(f'<div id=y><p style="display:block">{hidden}</p></div>', sheet)
    yield "暗子类.html", page(f"<div class=z><p>{hidden}</p></div>", sheet)
    yield "暗属性.html", page(f"<p hidden>{hidden}</p>")
    yield "暗字体.html", page(f"<table bgcolor=navy><tr><td><font color=navy>{hidden}</font></td></tr></table>")
    yield "暗注释.html", page(f"<!-- {hidden} --><template>{hidden}</template><script>'{hidden}'</script>")
    yield "暗代码.html", page(f'<pre>一<span style="display:none">{hidden}</span></pre>')
    tags = "".join(chr(_TAGS + byte) for byte in hidden.encode("utf-16-be") if byte < 128)
    yield "暗标签字符.txt", f"{shown}{tags}\n".encode()


def _markdown(shown: str, hidden: str) -> Iterator[tuple[str, bytes]]:
    for name, text in {
        "注释": f"<!-- {hidden} -->",
        "引用定义": f"[//]: # ({hidden})",
        "白字": f'<span style="color:#fff">{hidden}</span>',
        "零字号": f'<div style="font-size:0px">\n\n{hidden}\n\n</div>',
        "类": f"<style>.n{{display:none}}</style>\n\n<p class=n>{hidden}</p>",
    }.items():
        yield f"暗{name}.md", f"# 说明\n\n{shown}\n\n{text}\n".encode()


def _page(shown: str, hidden: str, way: str) -> bytes:
    """`way` places the hidden text; the shown one stands in black below it."""
    buffer = io.StringIO()
    buffer.write(f"BT /F1 10 Tf 60 600 Td <{shown.encode('utf-16-be').hex()}> Tj ET\n")
    before, _, after = way.rpartition("Q ")
    buffer.write(f"{before}{_} BT {after.format(font='/F1 10 Tf')} <{hidden.encode('utf-16-be').hex()}> Tj ET")
    resources = b"<</Font<</F1 5 0 R>>/ExtGState<</Clear<</ca 0>>>>>>"
    info = b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>"
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources%s/Contents 4 0 R>>" % resources,
            stream(buffer.getvalue().encode()),
            b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UTF16-H/DescendantFonts[6 0 R]>>",
            b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000%s>>" % info,
        ]
    )
