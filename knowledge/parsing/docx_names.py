"""Names of Word's elements; python-docx takes each apart anew, which a long document asks a hundred thousand times."""

from __future__ import annotations

from functools import cache

from docx.oxml.ns import nsmap
from docx.oxml.ns import qn as _qualified

__all__ = ["nsmap", "qn"]


@cache
def qn(name: str) -> str:
    """w:p with its namespace in braces."""
    return str(_qualified(name))
