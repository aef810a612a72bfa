"""Which product a document is about, in which version: as somebody labelled it, or as its names tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.documents.types import Filing
from app.errors import InvalidRequest
from knowledge.text import clean
from knowledge.versions import MAX_CHARS, find_product, find_version, normalize_version

FIELDS = ("product", "product_version")


def read_names(title: str, filing: Filing) -> dict[str, str]:
    """Reads what title, file name and folders say of a document's product."""
    return {
        "product": find_product(title, filing.folder),
        "product_version": find_version(title, filing.name, filing.folder),
    }


def find_own_labels(title: str, filing: Filing, known: Mapping[str, str]) -> dict[str, str | None]:
    """Returns what is known of a document by a label or its own content, not by its names, which may
    change; else None.
    """
    told = read_names(title, filing)
    return {name: None if known[name] == told[name] else known[name] for name in FIELDS}


def compute_renamed_values(
    known: Mapping[str, Any], labels: Mapping[str, Any], filing: Filing | None
) -> dict[str, str]:
    """Returns the columns of a document that gets labels, and may move; where a label is None, its names decide."""
    place = Filing(known["path"], known["external_id"])
    own = find_own_labels(known["title"], place, known) | {name: labels[name] for name in FIELDS if name in labels}
    told = read_names(known["title"], filing or place)
    return {name: told[name] if (value := own[name]) is None else value for name in FIELDS}


def check_product(value: str | None) -> str | None:
    """Returns a product as it is stored; None if none is given. Raises InvalidRequest."""
    return None if value is None else _check_length(clean(value).strip(), "product")


def check_version(value: str | None) -> str | None:
    """Returns the version of a product as it is stored: 2.3 for V2.3. Raises InvalidRequest."""
    return None if value is None else _check_length(normalize_version(clean(value)), "product_version")


def _check_length(value: str, field: str) -> str:
    if len(value) > MAX_CHARS:
        raise InvalidRequest(f"{field} 不能超过 {MAX_CHARS} 个字", field=field)
    return value
