"""Reads the text of a Word paragraph, with formulas and marks of notes, and what is anchored in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from docx.oxml import parse_xml
from docx.oxml.ns import nsmap

from knowledge.parsing.docx_notes import REFERENCES, Note, Notes
from knowledge.parsing.docx_properties import find_property, qn, read_switch, read_value
from knowledge.parsing.docx_visibility import Visibility
from knowledge.parsing.formulas import FORMULA, MATH, PARAGRAPH, write_formula
from knowledge.parsing.omissions import Omissions, OmittedPart

_R, _T, _P = qn("w:r"), qn("w:t"), qn("w:p")
_BREAKS = {
    qn("w:tab"): "\t", qn("w:ptab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-",
}  # fmt: skip
_DELETED = {qn("w:del"), qn("w:moveFrom")}
_SILENT = {
    qn("w:pPr"),
    qn("w:rPr"),
    qn("w:sdtPr"),
    qn("w:sdtEndPr"),
    qn("w:smartTagPr"),
    qn("w:fldData"),
}
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATIVES = f"{_COMPATIBILITY}AlternateContent"
_GRAPHICS = {
    qn("w:drawing"),
    qn("w:pict"),
    qn("w:object"),
    _ALTERNATIVES,
}
_VML, _OFFICE = "{urn:schemas-microsoft-com:vml}", "{urn:schemas-microsoft-com:office:office}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_RELATION = f"{{{nsmap['r']}}}"
_TEXTS = {f"{{{nsmap['a']}}}t", f"{_CHART}v"}
# What forms tick with; other signs of such fonts are ornaments.
_SIGNS = {
    "Wingdings": {0x6F: "□", 0x71: "□", 0xA8: "☐", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    "Wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
}
_PRIVATE = 0xF000


@dataclass(slots=True)
class Line:
    """The text of a paragraph. boxes: w:txbxContent of text boxes; pictures: alternative texts of pictures."""

    parts: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole text, with the white space around it."""
        return "".join(self.parts)

    @property
    def is_formula(self) -> bool:
        """Whether it consists of formulas alone, apart from a number in brackets and a full stop."""
        return any(self.formulas) and not any(map(str.isalpha, "".join(self.beside)))

    def add_text(self, text: str) -> None:
        """Appends text."""
        self.parts.append(text)
        self.beside.append(text)


class TextReader:
    """Reads the paragraphs of one document; hidden text is neither read nor reported.

    related: the parts of the file by the ids that the body uses.
    """

    def __init__(self, visibility: Visibility, notes: Notes, left_out: Omissions, related: Mapping[str, Any]) -> None:
        self._visibility = visibility
        self._notes = notes
        self._left_out = left_out
        self._related = related

    def read(self, paragraph: Any) -> Line:
        """Reads a paragraph. It counts notes, so read each paragraph once, in the order of the document."""
        line = Line()
        if not self._visibility.is_off_page(paragraph):
            self._read_nodes(paragraph, line)
        return line

    def read_note(self, note: Note) -> str:
        """Returns the text of a note, one line for each paragraph."""
        return "\n".join(filter(None, (self.read(each).text.strip() for each in note.content.iter(_P))))

    def count_deleted(self, parent: Any) -> None:
        """Counts text that was deleted by a revision which nobody has accepted yet."""
        for node in parent.iter(qn("w:delText"), _T):
            if self._visibility.is_visible(node):
                self._left_out.add(OmittedPart.DELETED, node.text or "")

    def _read_nodes(self, parent: Any, line: Line) -> None:
        for node in parent:
            if node.tag == _R:
                self._read_run(node, line)
            elif node.tag in (FORMULA, PARAGRAPH):
                text = write_formula(node, self._visibility.is_visible)
                line.parts.append(text)
                line.formulas.append(text)
            elif node.tag in _DELETED:
                self.count_deleted(node)
            elif node.tag in _GRAPHICS:
                self._read_graphic(node, line)
            elif node.tag not in _SILENT:  # links, insertions, fields, content controls
                self._read_nodes(node, line)

    def _read_run(self, run: Any, line: Line) -> None:
        shown = len(run) > 0 and self._visibility.is_visible(run)
        for node in run:
            if node.tag in _GRAPHICS:
                self._read_graphic(node, line)
            elif not shown:
                continue
            elif node.tag == _T:
                line.add_text(node.text or "")
            elif node.tag in _BREAKS:
                line.add_text(_BREAKS[node.tag])
            elif node.tag == qn("w:sym"):
                line.add_text(_read_symbol(node))
            elif node.tag == qn("w:fldChar"):
                line.add_text(_read_form_field(node))
            elif node.tag == qn("w:ruby"):
                self._read_ruby(node, line)
            elif node.tag in REFERENCES:
                self._read_reference(node, line)
            elif node.tag == FORMULA:
                self._read_nodes([node], line)

    def _read_reference(self, reference: Any, line: Line) -> None:
        note = self._notes.count_reference(reference)
        if note is None:
            return
        if reference.getparent().find(_T) is None:  # else its own mark stands beside it
            line.add_text(note.mark)
        if note.content is not None:
            line.notes.append(note)

    def _read_ruby(self, node: Any, line: Line) -> None:
        for base in node.iterfind(qn("w:rubyBase")):
            self._read_nodes(base, line)
        for spoken in node.iterfind(qn("w:rt")):
            self._left_out.add(OmittedPart.PRONUNCIATION, "".join(text.text or "" for text in spoken.iter(_T)))

    def _read_graphic(self, node: Any, line: Line) -> None:
        """Reads text boxes, pictures and charts. The first of several alternatives counts; the others are for older
        readers.
        """
        if node.tag == _ALTERNATIVES:
            node = next((child for child in node if child.tag.startswith(_COMPATIBILITY)), node)
        for child in node:
            if child.tag == qn("w:txbxContent"):
                line.boxes.append(child)
            elif child.tag == _R:
                self._read_run(child, line)
            elif child.tag == qn("wp:docPr"):
                line.pictures.append(child.get("descr") or child.get("title") or "")
            elif child.tag == f"{_VML}textpath":
                line.add_text(child.get("string") or "")
            elif child.tag == f"{_VML}imagedata":
                line.pictures.append(child.getparent().get("alt") or child.get(f"{_OFFICE}title") or "")
            elif child.tag == f"{_OFFICE}OLEObject":
                self._left_out.add(OmittedPart.EMBEDDED, "")
            elif child.tag in (f"{_CHART}chart", f"{_DIAGRAM}relIds"):
                self._count_chart(child.get(f"{_RELATION}id") or child.get(f"{_RELATION}dm"))
            elif isinstance(child.tag, str):
                self._read_graphic(child, line)

    def _count_chart(self, relation: str | None) -> None:
        part = self._related.get(relation or "")
        texts = (node.text or "" for node in parse_xml(part.blob).iter(*_TEXTS)) if part is not None else ()
        self._left_out.add(OmittedPart.CHART, "".join(texts))


def list_texts(root: Any, visibility: Visibility) -> Iterator[str]:
    """Yields the visible texts below an element, formulas included; of alternatives the first."""
    for node in root.iter(_T, f"{MATH}t"):
        older = any(parent.tag == f"{_COMPATIBILITY}Fallback" for parent in node.iterancestors())
        if not older and visibility.is_visible(node):
            yield node.text or ""


def _read_symbol(node: Any) -> str:
    """Returns a character that is given by its place in a font."""
    try:
        code = int(node.get(qn("w:char")) or "", 16)
    except ValueError:
        return ""
    signs = _SIGNS.get(node.get(qn("w:font")) or "", {})
    if sign := signs.get(code - _PRIVATE if code >= _PRIVATE else code):
        return sign
    return chr(code) if 0x20 <= code < 0xD800 and not signs else ""


def _read_form_field(field_character: Any) -> str:
    """Returns what an old form field without text shows: its tick, or the choice from its list."""
    data = field_character.find(qn("w:ffData"))
    box = find_property(data, "w:checkBox")
    if box is not None:
        checked = read_switch(box, "w:checked")
        return "☒" if (read_switch(box, "w:default") if checked is None else checked) else "☐"
    choices = find_property(data, "w:ddList")
    if choices is None:
        return ""
    entries = [entry.get(qn("w:val")) or "" for entry in choices.iterfind(qn("w:listEntry"))]
    number = read_value(choices, "w:result") or "0"
    return entries[int(number)] if number.isdecimal() and int(number) < len(entries) else ""
