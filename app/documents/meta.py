"""What indexes know of a document, as its row tells it."""

from __future__ import annotations

from typing import Any

from app.documents.tables import Document
from app.documents.types import Filing
from knowledge.types import DocumentMeta

# The columns that it takes, besides the id.
META = (
    *(Document.name, Document.title, Document.category, Document.tags),
    *(Document.path, Document.product, Document.product_version, Document.dated, Document.updated_at),
)


def build_meta(document_id: str, row: Any) -> DocumentMeta:
    """Builds what searches know of a document from a row with the columns of `META`."""
    place = row.category, tuple(row.tags), Filing(row.path).folder
    dated = row.dated or row.updated_at.date().isoformat()
    return DocumentMeta(document_id, row.name, row.title, *place, row.product, row.product_version, dated)
