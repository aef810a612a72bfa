"""To what documents a search is narrowed: as requests say it, and whether there are such documents."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Request
from pydantic import Field, ValidationError

from app.auth.principal import Principal
from app.documents.paths import MAX_PATH_CHARS, check_folder
from app.errors import InvalidRequest, NotFound
from app.http.fields import CLEANED
from app.http.schemas import RequestBody
from app.search.repository import FilterRepository
from knowledge.filters import EVERYTHING, FILTER_KINDS, Filter
from knowledge.versions import MAX_CHARS, normalize_version

MAX_VALUES = 100
_CALLED = {
    "document_ids": "文档",
    "categories": "分类",
    "tags": "标签",
    "folders": "目录",
    "products": "产品",
    "versions": "版本",
}
_ID = Annotated[str, CLEANED, Field(min_length=1, max_length=64)]
_LABEL = Annotated[str, CLEANED, Field(min_length=1, max_length=100)]
_FOLDER = Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_PATH_CHARS)]
_NAME = Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_CHARS)]


class FilterIn(RequestBody):
    """An empty list does not restrict; a document has to have one of each list that is not empty."""

    document_ids: list[_ID] = Field(default=[], max_length=1000, description="文档编号")
    categories: list[_LABEL] = Field(default=[], max_length=MAX_VALUES, description="分类")
    tags: list[_LABEL] = Field(default=[], max_length=MAX_VALUES, description="标签")
    folders: list[_FOLDER] = Field(default=[], max_length=MAX_VALUES, description="目录，连同下面各级目录")
    products: list[_NAME] = Field(
        default=[], max_length=MAX_VALUES, description="产品；没有写明产品的文档对每个产品都适用"
    )
    versions: list[_NAME] = Field(
        default=[], max_length=MAX_VALUES, description="产品版本，例如 V2.3；没有写明版本的文档对每个版本都适用"
    )

    def filter(self, within: Filter = EVERYTHING) -> Filter:
        """Builds the filter, within another one. Raises Forbidden for a folder that cannot exist."""
        named: dict[str, Any] = {kind: frozenset(getattr(self, kind)) for kind in FILTER_KINDS}
        named["folders"] = frozenset(filter(None, map(check_folder, self.folders)))
        named["versions"] = frozenset(map(normalize_version, self.versions))
        if not any(named.values()):
            return within
        return Filter(**named, within=within or None)


def parse_filter(sent: object) -> FilterIn | None:
    """Reads a filter from a frame that nobody has checked. Raises InvalidRequest."""
    try:
        return None if sent is None else FilterIn.model_validate(sent)
    except ValidationError as error:
        raise InvalidRequest('filter 有误：要写成 {"categories": ["售后"]} 这样的对象', field="filter") from error


class FilterRequests:
    """A filter that names what is not there narrows to nothing by mistake: it is refused, and never passed over."""

    def __init__(self, stored: FilterRepository) -> None:
        self._stored = stored

    async def narrow_filter(self, principal: Principal, asked: FilterIn | None) -> Filter:
        """Narrows the documents that a caller is bound to by what it asks for. Raises NotFound, Forbidden."""
        where = asked.filter(principal.bound_to) if asked else principal.bound_to
        return where if where is principal.bound_to else await self.require(principal.tenant, where)

    async def require(self, tenant: str, where: Filter) -> Filter:
        """Returns a filter if everything that it names exists. Raises NotFound, naming what does not.

        What another filter around it hides counts as if it did not exist.
        """
        if not where.stated_fields:
            return where
        if missing := await self._stored.find_missing(tenant, where):
            told = "；".join(f"{_CALLED[kind]}“{'”“'.join(values)}”" for kind, values in missing.items())
            raise NotFound(f"filter 里的{told}没有对应的文档", code="filter_matches_nothing", filter=missing)
        if not await self._stored.has_any(tenant, where):
            raise NotFound("没有同时符合 filter 各项的文档", code="filter_matches_nothing", filter=where.stated_fields)
        return where


async def filter_from(request: Request, asked: FilterIn | None) -> Filter:
    """Returns the documents that an answer may rest on: those that the key is bound to, narrowed by what was asked for.

    Raises NotFound for a filter that names none of them.
    """
    principal: Principal = request.state.principal
    filters: FilterRequests = request.app.state.container.filters
    return await filters.narrow_filter(principal, asked)
