"""Qualified names of Word's elements, cached: python-docx builds each anew, a hundred thousand times in a long
document.
"""

from __future__ import annotations

from functools import cache

from docx.oxml.ns import nsmap
from docx.oxml.ns import qn as _qualified

__all__ = ["nsmap", "qn"]


@cache
def qn(name: str) -> str:
    """Returns a name such as w:p with its namespace in braces."""
    return str(_qualified(name))
