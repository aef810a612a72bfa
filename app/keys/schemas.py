"""Bodies of keys."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from app.auth.principal import Role
from app.keys.repository import KeyRow


class KeyIn(BaseModel):
    """A new key."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=200, description="给人看的用途说明")
    role: Role
    origins: list[str] = Field([], max_length=100, description="允许哪些网页跨站使用，只用于 client")


class KeyPatch(BaseModel):
    """What is to be changed; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(None, max_length=200, description="给人看的用途说明")
    origins: list[str] | None = Field(None, max_length=100, description="允许哪些网页跨站使用，只用于 client")


class KeyOut(BaseModel):
    """A key, without itself."""

    id: str
    name: str
    role: Role
    origins: list[str] = Field(description="允许哪些网页跨站使用，只用于 client")
    created_at: datetime
    revoked_at: datetime | None = Field(description="停用时间；有效时为 null")
    last_used_at: datetime | None = Field(description="最近一次使用，精确到分钟；没有用过为 null")
    current: bool = Field(description="是不是这次请求所用的密钥")

    @classmethod
    def of(cls, row: KeyRow, own: str) -> Self:
        """own: the id of the key of the request."""
        fields = {name: getattr(row, name) for name in cls.model_fields if name != "current"}
        return cls.model_validate(fields | {"origins": list(row.origins), "current": row.id == own})


class KeyCreated(KeyOut):
    """With the key itself."""

    key: str = Field(description="密钥，只在创建时返回这一次")


class KeyPage(BaseModel):
    """The valid ones first."""

    items: list[KeyOut]
    total: int
    offset: int
    limit: int
    environment_key: bool = Field(description="另有环境变量 API_KEY 里的管理员密钥，不在列表里")
