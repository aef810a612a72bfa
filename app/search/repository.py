"""What the gate learnt, kept between starts, and what searches know of documents besides the index."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select

from app.db.base import now
from app.db.engine import Database
from app.db.json_lists import has_any_item
from app.documents.meta import META, build_meta
from app.documents.tables import Document
from app.documents.types import DocumentKind
from app.search.tables import CalibrationRow
from knowledge.filters import Filter
from knowledge.probability import CalibrationMap
from knowledge.types import DocumentMeta

_COLUMNS: dict[str, Any] = {
    "document_ids": Document.id,
    "categories": Document.category,
    "products": Document.product,
    "versions": Document.product_version,
}


class CalibrationRepository:
    """One tenant's calibrations; implements `knowledge.calibration.calibrator.CalibrationStore`."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def load(self, scorer: str, key: str) -> tuple[int, CalibrationMap] | None:
        """Loads the calibration saved last, with the revision that it was fitted on; None without one."""
        query = select(CalibrationRow.revision, CalibrationRow.parameters).where(
            CalibrationRow.tenant_id == self._tenant, CalibrationRow.scorer == scorer, CalibrationRow.base == key
        )
        row = await self._database.fetch_first(query)
        return (row.revision, CalibrationMap.from_json(row.parameters)) if row else None

    async def save(self, scorer: str, key: str, revision: int, calibration: CalibrationMap) -> None:
        """Replaces it. Replicas fit at the same moment: the last one stays."""
        values = {"revision": revision, "parameters": calibration.to_json(), "fitted_at": now()}
        place = {"tenant_id": self._tenant, "scorer": scorer, "base": key}
        await self._database.put_row(CalibrationRow, place | values)


class VersionedDocuments:
    """A tenant's documents that name a version of what they are about: those of the last revision that was asked for
    are kept.
    """

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._tenant = tenant
        self._kept: tuple[int, tuple[DocumentMeta, ...]] = -1, ()

    async def load_at(self, revision: int) -> tuple[DocumentMeta, ...]:
        """Returns the documents as the index of that revision has them; one that changed after it is left out."""
        kept, found = self._kept
        if kept != revision:
            mine = (Document.tenant_id == self._tenant) & (Document.revision <= revision) & Document.live
            query = select(Document.id, *META).where(mine, Document.product_version != "").order_by(Document.id)
            found = tuple(build_meta(row.id, row) for row in await self._database.fetch(query))
            self._kept = revision, found
        return found


class FilterRepository:
    """Whether what a filter names is there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_missing(self, tenant: str, where: Filter) -> dict[str, list[str]]:
        """Returns what a filter names that no document has, among the documents that the filter around it
        lets through.
        """
        async with self._database.read() as connection:
            inside = _match_filter(tenant, where.within or Filter())
            absent: dict[str, list[str]] = {}
            for kind, values in where.stated_fields.items():
                for value in values:
                    has = _match_label(kind, frozenset({value}))
                    if (await connection.execute(select(Document.id).where(inside, has).limit(1))).first() is None:
                        absent.setdefault(kind, []).append(value)
            return absent

    async def has_any(self, tenant: str, where: Filter) -> bool:
        """Whether a document is let through."""
        query = select(Document.id).where(_match_filter(tenant, where)).limit(1)
        return await self._database.fetch_first(query) is not None


def _match_filter(tenant: str, where: Filter) -> ColumnElement[bool]:
    """See `Filter.matches`."""
    mine = (Document.tenant_id == tenant) & (Document.kind != DocumentKind.BINNED)
    return and_(mine, *(_match_label(kind, wanted) for kind, wanted in where.list_conditions()))


def _match_label(kind: str, wanted: frozenset[str]) -> ColumnElement[bool]:
    """Documents that have one of the labels."""
    match kind:
        case "folders":
            return or_(*(Document.path.startswith(f"{folder}/", autoescape=True) for folder in sorted(wanted)))
        case "tags":
            return has_any_item(Document.tags, wanted)
    found: ColumnElement[bool] = _COLUMNS[kind].in_(wanted)
    return found
