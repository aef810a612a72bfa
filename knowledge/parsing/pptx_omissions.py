"""Counts what readers of a presentation may see but the knowledge base does not hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pptx.oxml import parse_xml
from pptx.oxml.ns import qn

from knowledge.parsing.omissions import Omissions, OmittedPart

_TEXT = qn("a:t")
_VALUE = "{http://schemas.openxmlformats.org/drawingml/2006/chart}v"
_CHARTS = ("/chart", "/diagramData")
_COMMENT = qn("p:text")


def report_hidden_slide(slide: Any, number: int, left_out: Omissions) -> None:
    """Counts the text of a hidden slide."""
    left_out.add(OmittedPart.HIDDEN_SLIDE, "".join(_list_texts(slide._element)), number)


def report_slide_extras(slide: Any, number: int, left_out: Omissions) -> None:
    """Counts speakers' notes, comments, charts and SmartArt of a slide."""
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None and frame.text.strip():
        left_out.add(OmittedPart.NOTES, frame.text, number)
    for relation in slide.part.rels.values():
        if relation.is_external:
            continue
        if relation.reltype.endswith(_CHARTS):
            left_out.add(OmittedPart.CHART, "".join(_list_texts(parse_xml(relation.target_part.blob))), number)
        elif relation.reltype.endswith("/comments"):
            comments = parse_xml(relation.target_part.blob).iter(_COMMENT, _TEXT)
            left_out.add(OmittedPart.COMMENT, "".join(comment.text or "" for comment in comments), number)


def report_masters(layouts: Iterable[Any], left_out: Omissions) -> None:
    """Counts what every slide of a layout shows, such as a company's name. Samples in placeholders are never shown."""
    used = {id(layout._element): layout for layout in layouts}
    masters = {id(layout.slide_master._element): layout.slide_master for layout in used.values()}
    for page in (*used.values(), *masters.values()):
        texts = (shape.text_frame.text for shape in page.shapes if not shape.is_placeholder and shape.has_text_frame)
        if text := "".join(texts).strip():
            left_out.add(OmittedPart.MASTER, text)


def _list_texts(root: Any) -> list[str]:
    return [node.text or "" for node in root.iter(_TEXT, _VALUE)]
