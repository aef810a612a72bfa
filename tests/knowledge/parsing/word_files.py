"""Word documents by their XML: numbering definitions, formulas, notes and what else python-docx does not write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import docx
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from knowledge.blocks import Block
from knowledge.parsing.registry import parse
from knowledge.types import ParsedDocument
from tests.knowledge.parsing.files import word

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
_MORE = (
    f'{nsdecls("w", "wp", "a", "r", "pic")} {M} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)


def level(depth: int, form: str, text: str, *, start: int = 1, more: str = "") -> str:
    """A w:lvl."""
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{escape(text)}"/></w:lvl>'
    )


def define(made: docx.document.Document, identifier: int, levels: Sequence[str], more: str = "") -> None:
    """A w:abstractNum of these levels, and the w:num of the same number."""
    root = made.part.numbering_part.element
    abstract = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{identifier}">{more}{"".join(levels)}</w:abstractNum>'
    root.insert(0, parse_xml(abstract))
    instance(made, identifier, identifier)


def instance(made: docx.document.Document, identifier: int, abstract: int, overrides: str = "") -> None:
    """A w:num."""
    number = f'<w:num {nsdecls("w")} w:numId="{identifier}"><w:abstractNumId w:val="{abstract}"/>{overrides}</w:num>'
    made.part.numbering_part.element.append(parse_xml(number))


def numbered(
    made: docx.document.Document, text: str, number: int | None, depth: int | None = 0, style: str | None = None
) -> None:
    """A paragraph of a list."""
    paragraph = made.add_paragraph(text, style)
    paragraph._p.get_or_add_pPr().append(parse_xml(place(number, depth)))


def place(number: int | None, depth: int | None) -> str:
    """A w:numPr."""
    said = f'<w:ilvl w:val="{depth}"/>' if depth is not None else ""
    said += f'<w:numId w:val="{number}"/>' if number is not None else ""
    return f"<w:numPr {nsdecls('w')}>{said}</w:numPr>"


def style(made: docx.document.Document, name: str, properties: str = "", base: str = "") -> None:
    """A paragraph style; its id is its name without spaces."""
    based = f'<w:basedOn w:val="{base}"/>' if base else ""
    made.styles.element.append(
        parse_xml(
            f'<w:style {nsdecls("w")} w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/>'
            f"{based}<w:pPr>{properties}</w:pPr></w:style>"
        )
    )


def body(made: docx.document.Document, xml: str) -> None:
    """Appends raw elements before the section's properties."""
    root = parse_xml(f"<w:body {_MORE}>{xml}</w:body>")
    for element in list(root):
        made.element.body.insert(len(made.element.body) - 1, element)


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def attach(made: docx.document.Document, kind: str, xml: str, relation: str = "") -> str:
    """A part beside the body, such as footnotes; the id of its relation."""
    reltype = relation or f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"
    content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"
    part = Part(PackURI(f"/word/{kind}.xml"), content, xml.encode(), made.part.package)
    return str(made.part.relate_to(part, reltype))


def notes(made: docx.document.Document, kind: str, texts: Mapping[int, str]) -> None:
    """Footnotes or endnotes by their ids; `kind`: footnote, endnote."""
    listed = "".join(
        f'<w:{kind} w:id="{identifier}"><w:p><w:r><w:{kind}Ref/></w:r>{run(" " + text)}</w:p></w:{kind}>'
        for identifier, text in texts.items()
    )
    separator = f'<w:{kind} w:id="0" w:type="separator"><w:p>{run("———")}</w:p></w:{kind}>'
    attach(made, f"{kind}s", f"<w:{kind}s {nsdecls('w')}>{separator}{listed}</w:{kind}s>")


def refer(kind: str, identifier: int, attributes: str = "", mark: str = "") -> str:
    own = f"<w:t>{mark}</w:t>" if mark else ""
    return f'<w:r><w:{kind}Reference w:id="{identifier}" {attributes}/>{own}</w:r>'


def read(made: docx.document.Document, name: str = "手册.docx") -> ParsedDocument:
    return parse(name, word(made))


def blocks(made: docx.document.Document) -> tuple[Block, ...]:
    return read(made).blocks


def shown(made: docx.document.Document) -> list[str]:
    """Blocks without their indent."""
    return [block.text.lstrip() for block in blocks(made)]
