"""Footnotes and endnotes of Word: their marks in the text and their contents."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from docx.oxml import parse_xml

from knowledge.parsing.docx_properties import qn, read_value
from knowledge.parsing.numerals import format_numeral

# Kinds of notes, and how Word numbers them where nothing else is said.
_FORMS = {"footnote": "decimal", "endnote": "lowerRoman"}
REFERENCES = {qn(f"w:{kind}Reference"): kind for kind in _FORMS}


@dataclass(frozen=True, slots=True)
class Note:
    """`mark` refers to it in the text; its content is a w:footnote or a w:endnote."""

    mark: str
    content: Any


class Notes:
    """The notes of one document, numbered in order of reference. Those that restart by page continue: pages are
    unknown.
    """

    def __init__(self, document: Any) -> None:
        self._contents = {kind: dict(_list_notes(document, kind)) for kind in _FORMS}
        self._settings = document.settings.element
        sections = document.element.body.iter(qn("w:sectPr"))
        self._sections = [section for section in sections if section.getparent().tag != qn("w:sectPrChange")]
        self._section = 0
        self._counts: dict[str, int] = {}

    def count_reference(self, reference: Any) -> Note | None:
        """Counts a w:footnoteReference or w:endnoteReference and returns its note; None if there is none."""
        kind = REFERENCES[reference.tag]
        content = self._contents[kind].get(reference.get(qn("w:id")))
        if reference.get(qn("w:customMarkFollows"), "0") not in ("0", "false"):
            mark = "".join(text.text or "" for text in reference.getparent().iterfind(qn("w:t"))).strip()
            return Note(mark or "*", content) if content is not None else None
        number = self._counts.get(kind, self._get_start(kind) - 1) + 1
        self._counts[kind] = number
        return Note(_format_mark(format_numeral(number, self._read_property(kind, "numFmt", _FORMS[kind]))), content)

    def end_section(self) -> None:
        """Ends the open section of the document; numbers may restart."""
        for kind in list(self._counts):
            if self._read_property(kind, "numRestart", "continuous") == "eachSect":
                del self._counts[kind]
        self._section += 1

    def _get_start(self, kind: str) -> int:
        written = self._read_property(kind, "numStart", "1")
        return int(written) if written.isdecimal() else 1

    def _read_property(self, kind: str, name: str, default: str) -> str:
        """Returns a property of notes from the section, else from the document."""
        open_section = self._sections[self._section : self._section + 1]
        stated = (read_value(parent, f"w:{kind}Pr", f"w:{name}") for parent in (*open_section, self._settings))
        return next(filter(None, stated), default)


def _format_mark(number: str) -> str:
    """Puts a number in brackets, unless it is a sign that is told from the text by itself, as ① is."""
    return number if unicodedata.category(number[0]) == "No" else f"[{number}]"


def _list_notes(document: Any, kind: str) -> Iterator[tuple[str, Any]]:
    for relation in document.part.rels.values():
        if relation.is_external or not relation.reltype.endswith(f"/{kind}s"):
            continue
        for note in parse_xml(relation.target_part.blob).iterfind(qn(f"w:{kind}")):
            if note.get(qn("w:type"), "normal") == "normal":  # others are lines between the text and its notes
                yield note.get(qn("w:id")), note
