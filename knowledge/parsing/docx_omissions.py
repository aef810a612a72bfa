"""Reports the parts of a Word file beside its body that are not read: headers, footers and comments."""

from __future__ import annotations

from typing import Any

from docx.oxml import parse_xml

from knowledge.parsing.docx_text import list_texts
from knowledge.parsing.docx_visibility import Visibility
from knowledge.parsing.omissions import Omissions, OmittedPart

# By the last word of the kind of a relation.
_PARTS = {"header": OmittedPart.HEADER, "footer": OmittedPart.FOOTER, "comments": OmittedPart.COMMENT}


def report_omitted_parts(document: Any, visibility: Visibility, left_out: Omissions) -> None:
    """Counts their texts, each part once."""
    for relation in document.part.rels.values():
        part = _PARTS.get(relation.reltype.rpartition("/")[2])
        if part is None or relation.is_external:
            continue
        if text := "".join(list_texts(parse_xml(relation.target_part.blob), visibility)).strip():
            left_out.add(part, text)
