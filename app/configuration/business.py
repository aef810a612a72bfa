"""Where business data lie, and how they are asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from app.configuration.service_keys import ServiceKey


class BusinessSource(BaseModel):
    """A tenant's database, and the files that say what is in it and what its members may be offered."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: SecretStr = Field(min_length=1)
    described: Path | None = Field(None, alias="schema")
    offers: Path | None = None


class McpSource(BaseModel):
    """A tenant's own MCP server, and the file that says which of its tools may answer, and what of their results."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = Field(pattern=r"^https?://")
    key: ServiceKey = SecretStr("")
    tools: Path


class BusinessSettings(BaseModel):
    """The database of one tenant has settings of its own; those of several are one setting."""

    business_database_url: SecretStr = Field(
        SecretStr(""),
        description="业务库的 SQLAlchemy 地址（SQLite、PostgreSQL、MySQL 等，请用只读账号）；留空则不查业务数据",
    )
    business_schema: Path | None = Field(None, description="描述业务库的 YAML 路径；留空则用自带的示例商城")
    business_tenant: str = Field("default", min_length=1, description="BUSINESS_DATABASE_URL 属于哪个租户")
    offers_file: Path | None = Field(
        None, description="挽留方案 YAML 的路径；留空则用自带的示例，它只对示例业务库的会员生效"
    )
    business_databases: dict[str, BusinessSource] = Field(
        {},
        description="几个租户各有业务库时，写成 JSON：租户名到 url、schema（描述业务库的 YAML）与 offers"
        "（挽留方案的 YAML），后两项可以不写，含义同 BUSINESS_SCHEMA、OFFERS_FILE",
    )
    business_timeout: float = Field(3.0, gt=0, le=60, description="一条业务查询的秒数上限")
    business_max_rows: int = Field(50, ge=1, le=1000, description="一条业务查询最多返回几行")
    business_mcp: dict[str, McpSource] = Field(
        {},
        description="公司自己的 MCP 服务，写成 JSON：租户名到 url、key（可以不写）与 tools（列出可用工具的 YAML）；"
        "这个租户须接了业务库和会调用工具的大模型",
    )
    business_rows_to_model: bool = Field(
        False, description="同一会员之后的提问里，大模型能否读到此前含业务数据的对话；关闭时模型读不到这些轮次"
    )

    @model_validator(mode="after")
    def _check_one_database_each(self) -> Self:
        if self.business_database_url.get_secret_value() and self.business_tenant in self.business_databases:
            raise ValueError(
                f"租户 {self.business_tenant} 的业务库写了两处，BUSINESS_DATABASE_URL 与 BUSINESS_DATABASES 只能留一处"
            )
        return self

    @model_validator(mode="after")
    def _check_tools_have_database(self) -> Self:
        if missing := sorted(self.business_mcp.keys() - self.business_sources.keys()):
            raise ValueError(f"BUSINESS_MCP 里的租户 {'、'.join(missing)} 没有业务库：问的是不是自己的数据，由它核对")
        return self

    @property
    def business_sources(self) -> Mapping[str, BusinessSource]:
        """All business databases, by tenant."""
        if not self.business_database_url.get_secret_value():
            return self.business_databases
        one = BusinessSource(url=self.business_database_url, schema=self.business_schema, offers=self.offers_file)
        return {**self.business_databases, self.business_tenant: one}
