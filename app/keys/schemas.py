"""Bodies of keys."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictFloat

from app.auth.principal import Role
from app.auth.scopes import KeyScope
from app.db.base import now
from app.http.fields import CLEANED, Moment
from app.http.schemas import Page, RequestBody, ResponseBody
from app.keys.repository import KeyRow, KeyState
from app.keys.rules import GRACE_HOURS, MAX_GRACE_HOURS, MAX_NAME_CHARS, MAX_ORIGINS, check_grace
from app.search.filter_requests import FilterIn

_SCOPES = "权限范围：只能用角色之内的这几部分；空为不限"
_FILTER = "只能根据这些文档回答，请求里的 filter 只能在其中再收窄；只用于 client、server"
_EXPIRY = "到期时间，到时自动失效；null 为不到期"
_BY_ROLE: dict[str, Any] = {
    "anyOf": [
        {"properties": {"role": {"enum": [Role.CLIENT]}}},
        {
            "properties": {
                "role": {"enum": [Role.ADMIN, Role.LEAD, Role.AGENT, Role.SERVER]},
                "origins": {"maxItems": 0},
            }
        },
        {
            "properties": {
                "role": {"enum": [Role.METRICS]},
                "origins": {"maxItems": 0},
                "scopes": {"maxItems": 0},
            }
        },
    ]
}
Name = Annotated[str, CLEANED, Field(min_length=1, max_length=MAX_NAME_CHARS)]
# As browsers send it: names of other alphabets in Punycode.
Origin = Annotated[
    str,
    Field(max_length=300, pattern=r"^[Hh][Tt][Tt][Pp][Ss]?://(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[::1\])(?::[0-9]{1,5})?/?$"),
]


class KeyIn(BaseModel):
    """A new key."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_BY_ROLE)

    name: Name = Field(description="给人看的用途说明")
    role: Role
    origins: list[Origin] = Field([], max_length=MAX_ORIGINS, description="允许哪些网页跨站使用，只用于 client")
    scopes: list[KeyScope] = Field([], max_length=20, description=_SCOPES)
    expires_at: Moment | None = Field(None, description=_EXPIRY)
    filter: FilterIn | None = Field(None, description=_FILTER)


class KeyPatch(RequestBody):
    """What is to be changed; what is left out stays."""

    name: Name | None = Field(None, description="给人看的用途说明")
    origins: list[Origin] | None = Field(
        None, max_length=MAX_ORIGINS, description="允许哪些网页跨站使用，只用于 client"
    )
    expires_at: Moment | None = Field(None, description=_EXPIRY)
    filter: FilterIn | None = Field(None, description=f"{_FILTER}；null 为不限")


class KeyRotation(RequestBody):
    """How a key gets another secret."""

    grace_hours: StrictFloat = Field(
        GRACE_HOURS, ge=0, le=MAX_GRACE_HOURS, description="原来的密钥还能用多少小时；0 为立即失效"
    )

    @property
    def grace(self) -> timedelta:
        """For how long both work."""
        return check_grace(self.grace_hours)


class KeyOut(ResponseBody):
    """A key, without itself."""

    id: str
    name: str
    role: Role
    origins: list[str] = Field(description="允许哪些网页跨站使用，只用于 client")
    scopes: list[KeyScope] = Field(description=_SCOPES)
    filter: FilterIn | None = Field(description=f"{_FILTER}；null 为不限")
    created_at: datetime
    revoked_at: datetime | None = Field(description="停用时间；有效时为 null")
    last_used_at: datetime | None = Field(description="最近一次使用，精确到分钟；没有用过为 null")
    expires_at: datetime | None = Field(description=_EXPIRY)
    previous_until: datetime | None = Field(description="轮换之前的密钥用到何时为止；没有轮换过为 null")
    state: KeyState = Field(description="有效、已到期、已停用")
    current: bool = Field(description="是不是这次请求所用的密钥")

    @classmethod
    def from_row(cls, row: KeyRow, own: str) -> Self:
        """own: the id of the key of the request."""
        filter = row.bound_to.stated_fields or None
        return cls.build_from(row, filter=filter, current=row.id == own, state=row.get_state(now()))


class KeyCreated(KeyOut):
    """With the key itself."""

    key: str = Field(description="密钥，只在创建或轮换时返回这一次")


class KeyPage(Page[KeyOut]):
    """The valid ones first."""

    environment_key: bool = Field(description="另有环境变量 API_KEY 里的管理员密钥，不在列表里")
