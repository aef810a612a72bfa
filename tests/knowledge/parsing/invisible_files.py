"""Documents with one sentence for people and one that only machines read, one a way to hide it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.hostile_files import build_docx, build_font, build_page, build_stream

_PAYLOADS = yaml.safe_load(Path(__file__).with_name("invisible_text.yaml").read_text("utf-8"))
_TAGS = 0xE0000


def generate_invisible_files(shown: str, hidden: str) -> Iterator[tuple[str, bytes]]:
    """Yields names and contents of files that each show `shown` and hide `hidden`."""
    yield from _generate_pages(shown, hidden)
    for name, text in _PAYLOADS["markdown"].items():
        yield f"暗{name}.md", f"# 说明\n\n{shown}\n\n{text.format(hidden=hidden)}\n".encode()
    for name, properties in _PAYLOADS["runs"].items():
        run = f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{hidden}</w:t></w:r></w:p>"
        yield f"暗{name}.docx", build_docx(f"<w:p><w:r><w:t>{shown}</w:t></w:r></w:p>{run}", _SECRET)
    moved = f'<w:p><w:pPr><w:ind w:left="-30000"/></w:pPr><w:r><w:t>{hidden}</w:t></w:r></w:p>'
    yield "暗移出.docx", build_docx(f"<w:p><w:r><w:t>{shown}</w:t></w:r></w:p>{moved}")
    for name, way in _PAYLOADS["pdf"].items():
        yield f"暗{name}.pdf", _build_pdf(shown, hidden, way)


_SECRET = '<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>'


def _generate_pages(shown: str, hidden: str) -> Iterator[tuple[str, bytes]]:
    def build_html(body: str, head: str = "") -> bytes:
        return f"<html><head><meta charset=utf-8>{head}</head><body><p>{shown}</p>{body}</body></html>".encode()

    for name, style in _PAYLOADS["css"].items():
        yield f"暗{name}.html", build_html(f'<div style="{style}"><p>{hidden}</p></div>')
    rules = "@media screen{.x{color:#fff}} #y p, div.z > p {display:none !important}"
    sheet = f"<style>{rules}</style>"
    yield "暗类.html", build_html(f"<p class=x>{hidden}</p>", sheet)
    yield "暗标识.html", build_html(f'<div id=y><p style="display:block">{hidden}</p></div>', sheet)
    yield "暗子类.html", build_html(f"<div class=z><p>{hidden}</p></div>", sheet)
    yield "暗属性.html", build_html(f"<p hidden>{hidden}</p>")
    yield "暗字体.html", build_html(f"<table bgcolor=navy><tr><td><font color=navy>{hidden}</font></td></tr></table>")
    yield "暗注释.html", build_html(f"<!-- {hidden} --><template>{hidden}</template><script>'{hidden}'</script>")
    yield "暗代码.html", build_html(f'<pre>一<span style="display:none">{hidden}</span></pre>')
    tags = "".join(chr(_TAGS + byte) for byte in hidden.encode("utf-16-be") if byte < 128)
    yield "暗标签字符.txt", f"{shown}{tags}\n".encode()


def _build_pdf(shown: str, hidden: str, way: str) -> bytes:
    """A page where `way` places the hidden text; the shown one stands in black below it."""
    lines = [f"BT /F1 10 Tf 60 600 Td <{shown.encode('utf-16-be').hex()}> Tj ET"]
    before, blank, after = way.rpartition("Q ")
    lines.append(f"{before}{blank} BT {after.format(font='/F1 10 Tf')} <{hidden.encode('utf-16-be').hex()}> Tj ET")
    resources = b"/Font<</F1 5 0 R>>/ExtGState<</Clear<</ca 0>>>>"
    return build_page(build_stream("\n".join(lines).encode()), resources, build_font(5))
