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
    """What title, file name and folders say of it."""
    return {
        "product": find_product(title, filing.folder),
        "product_version": find_version(title, filing.name, filing.folder),
    }


def find_own_labels(title: str, filing: Filing, known: Mapping[str, str]) -> dict[str, str | None]:
    """What is known of a document and not by its names, which may change: by a label, or by itself. Else None."""
    told = read_names(title, filing)
    return {name: None if known[name] == told[name] else known[name] for name in FIELDS}


def compute_renamed_values(
    known: Mapping[str, Any], labels: Mapping[str, Any], filing: Filing | None
) -> dict[str, str]:
    """The columns of a document that gets labels, where None is for its names to tell, and may be filed elsewhere."""
    place = Filing(known["path"], known["external_id"])
    own = find_own_labels(known["title"], place, known) | {name: labels[name] for name in FIELDS if name in labels}
    told = read_names(known["title"], filing or place)
    return {name: told[name] if (value := own[name]) is None else value for name in FIELDS}


def check_product(value: str | None) -> str | None:
    """A product as it is kept; None for what is not said. Raises InvalidRequest."""
    return None if value is None else _check_length(clean(value).strip(), "product")


def check_version(value: str | None) -> str | None:
    """A version of a product as it is kept: 2.3 of V2.3. Raises InvalidRequest."""
    return None if value is None else _check_length(normalize_version(clean(value)), "product_version")


def _check_length(value: str, field: str) -> str:
    if len(value) > MAX_CHARS:
        raise InvalidRequest(f"{field} 不能超过 {MAX_CHARS} 个字", field=field)
    return value
