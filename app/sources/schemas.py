"""Requests and responses of sources."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, field_validator, model_validator

from app.documents.labels import MAX_CATEGORY_CHARS, MAX_TAGS, Tag, check_tags
from app.documents.paths import check_folder
from app.http.fields import CLEANED, TIDIED, WHOLE
from app.http.schemas import Page, RequestBody, ResponseBody
from app.sources.addresses import MAX_URL_CHARS
from app.sources.types import (
    MAX_DEPTH,
    MAX_PAGES,
    FolderConfig,
    ItemState,
    NewSource,
    SourceKind,
    WatchedSource,
    WebsiteConfig,
)

MAX_INTERVAL = 30 * 24 * 60
Name = Annotated[str, CLEANED, Field(min_length=1, max_length=80)]
Url = Annotated[str, CLEANED, Field(min_length=8, max_length=MAX_URL_CHARS)]
Path = Annotated[str, CLEANED, Field(min_length=1, max_length=1000)]
Folder = Annotated[str, CLEANED, Field(max_length=100)]
Category = Annotated[str, CLEANED, Field(max_length=MAX_CATEGORY_CHARS)]
Interval = Annotated[StrictInt, Field(ge=0, le=MAX_INTERVAL), WHOLE]
_ONE_KIND: dict[str, Any] = {
    "oneOf": [
        {
            "required": ["website"],
            "properties": {"website": {"$ref": "#/components/schemas/WebsiteIn"}, "path": {"type": "null"}},
        },
        {"required": ["path"], "properties": {"path": {"type": "string"}, "website": {"type": "null"}}},
    ]
}


class WebsiteIn(RequestBody):
    """Where a website begins, and how far it is followed."""

    url: Url = Field(description="起始页或站点地图（sitemap.xml、.xml.gz、索引都可以）的网址")
    depth: Annotated[StrictInt, Field(ge=0, le=MAX_DEPTH), WHOLE] = Field(
        default=2, description="从起始页起最多跟几层链接；0 只取起始页或站点地图里的"
    )
    max_pages: Annotated[StrictInt, Field(ge=1, le=MAX_PAGES), WHOLE] = Field(
        default=200, description="一次同步最多看几页"
    )
    requests_per_minute: Annotated[StrictInt, Field(ge=1, le=600), WHOLE] = Field(
        default=60, description="每分钟最多请求几次；robots.txt 要求更慢时从之"
    )
    prefix: Annotated[str, Field(pattern=r"^ */", max_length=500), TIDIED] = Field(
        default="/", description="路径前缀：只取路径以它开头的网页"
    )

    @property
    def config(self) -> WebsiteConfig:
        return WebsiteConfig(**self.model_dump())


class _Labelled(RequestBody):
    @field_validator("tags", check_fields=False)
    @classmethod
    def _check_tags(cls, value: list[str] | None) -> list[str] | None:
        return value if value is None else list(check_tags(value))

    @field_validator("folder", check_fields=False)
    @classmethod
    def _check_folder(cls, value: str | None) -> str | None:
        return check_folder(value) if value else value


class SourceIn(_Labelled):
    """A source: a website or a folder of the server."""

    model_config = ConfigDict(json_schema_extra=_ONE_KIND)

    name: Name = Field(description="名称，也是版本记录里的作者")
    website: WebsiteIn | None = Field(default=None, description="网站；与 path 二选一")
    path: Path | None = Field(default=None, description="服务器上的文件夹，绝对路径；与 website 二选一")
    folder: Folder = Field(default="", description="文档放在哪个目录下")
    category: Category = Field(default="", description="文档的分类；空为不设")
    tags: list[Tag] = Field(default=[], max_length=MAX_TAGS, description="文档的标签")
    enabled: StrictBool = Field(default=True, description="是否定时同步")
    interval_minutes: Interval = Field(default=1440, description="每隔几分钟同步一次；0 只手动同步")

    @model_validator(mode="after")
    def _check_one_place(self) -> Self:
        if (self.website is None) == (self.path is None):
            raise ValueError("website 与 path 要给一个，也只能给一个")
        return self

    @property
    def new(self) -> NewSource:
        kind = SourceKind.FOLDER if self.website is None else SourceKind.WEBSITE
        config = FolderConfig(self.path or "") if self.website is None else self.website.config
        labels = self.folder, self.category, tuple(self.tags)
        return NewSource(kind, self.name, config, *labels, self.enabled, self.interval_minutes)


class SourcePatch(_Labelled):
    """What is to change; its kind stays."""

    name: Name | None = Field(default=None, description="名称")
    website: WebsiteIn | None = Field(default=None, description="网站；只能用于网站来源")
    path: Path | None = Field(default=None, description="文件夹；只能用于文件夹来源")
    folder: Folder | None = Field(default=None, description="文档放在哪个目录下；已有的文档在内容变化时才移动")
    category: Category | None = Field(default=None, description="以后取来的文档的分类")
    tags: list[Tag] | None = Field(default=None, max_length=MAX_TAGS, description="以后取来的文档的标签")
    enabled: StrictBool | None = Field(default=None, description="是否定时同步")
    interval_minutes: Interval | None = Field(default=None, description="每隔几分钟同步一次")

    def build_values(self) -> dict[str, Any]:
        """Columns with what was said of them."""
        plain = self.model_dump(exclude_none=True, exclude={"website", "path"})
        if self.website is not None:
            plain["config"] = self.website.config
        if self.path is not None:
            plain["config"] = FolderConfig(self.path)
        return plain


class SyncErrorOut(BaseModel):
    """Why a sync ended early."""

    code: str
    message: str


class SyncOut(BaseModel):
    """How the last sync went. counts: seen, created, updated, unchanged, expired, excluded, waiting, failed."""

    run_id: str = Field(description="任务运行的编号")
    started_at: datetime
    finished_at: datetime
    counts: dict[str, int] = Field(description="各种结果的网页或文件数")
    complete: bool = Field(description="是否看完了全部；达到页数上限或中途出错时为否")
    error: SyncErrorOut | None = Field(description="没有做完的原因")


class WebsiteOut(ResponseBody):
    """Where a website begins, and how far it is followed."""

    url: str = Field(description="起始页或站点地图的网址")
    depth: int = Field(description="从起始页起最多跟几层链接")
    max_pages: int = Field(description="一次同步最多看几页")
    requests_per_minute: int = Field(description="每分钟最多请求几次")
    prefix: str = Field(description="只取路径以它开头的网页")


class WatchedSourceOut(ResponseBody):
    """A source as it stands."""

    id: str
    kind: SourceKind
    name: str = Field(description="名称")
    website: WebsiteOut | None = Field(description="网站")
    path: str | None = Field(description="文件夹")
    folder: str = Field(description="文档所在的目录")
    category: str = Field(description="文档的分类")
    tags: list[str] = Field(description="文档的标签")
    enabled: bool = Field(description="是否定时同步")
    interval_minutes: int = Field(description="每隔几分钟同步一次；0 只手动同步")
    next_sync_at: datetime | None = Field(description="下一次同步的时间")
    items: dict[str, int] = Field(description="各状态的网页或文件数")
    last: SyncOut | None = Field(description="最近一次同步")
    running: str | None = Field(description="正在进行或排队的运行的编号")
    created_at: datetime

    @classmethod
    def from_source(cls, source: WatchedSource, items: dict[str, int], running: str | None) -> WatchedSourceOut:
        config = source.config
        return cls.build_from(
            source,
            website=config if isinstance(config, WebsiteConfig) else None,
            path=config.path if isinstance(config, FolderConfig) else None,
            items=items,
            running=running,
        )


class SourceList(BaseModel):
    """All sources of the tenant. roots: below which folders of the server theirs may lie."""

    sources: list[WatchedSourceOut]
    roots: list[str] = Field(description="文件夹来源可以在服务器的哪些目录之下；空为不能用")


class SourceItemOut(ResponseBody):
    """A page or file. reason: why it is no document."""

    locator: str = Field(description="网址，或文件夹里的路径")
    state: ItemState = Field(
        description="current 已是文档，duplicate 内容与别的文档相同，gone 已不存在，excluded 不收，failed 读不出来，"
        "waiting 正在写入"
    )
    document_id: str = Field(description="它的文档；没有时为空")
    reason: str = Field(description="不收的原因；内容相同时为那篇文档的路径")
    error_code: str = Field(description="最近一次出错的代码；没有出错为空")
    error: str = Field(description="最近一次出错的说明")
    seen_at: datetime | None = Field(description="最近一次看它的时间")
    changed_at: datetime | None = Field(description="最近一次有变化的时间")


class SourceItemPage(Page[SourceItemOut]):
    """Some items, by their locators."""
