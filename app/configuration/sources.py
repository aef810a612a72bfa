"""Where documents may be fetched from."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, model_validator

from app.net.targets import TargetPolicy, parse_port_ranges

# On which websites and web applications are served.
PORTS = "80,443,8000-9999"


class SourceSettings(BaseModel):
    """Sources are off the server's own network and disk unless they are named here."""

    source_roots: dict[str, str] = Field(
        {},
        description="各租户的“文件夹”来源可以在服务器的哪些目录之下，写成 JSON，多个目录用逗号分隔，"
        '例如 {"default": "/srv/docs"}；没有列出的租户不能使用文件夹来源',
    )
    sources_per_tenant: int = Field(50, ge=0, le=1000, description="一个租户最多有几个数据来源")
    fetch_allowed_hosts: str = Field(
        "", description="抓取网页时，除公网外还允许哪些内网主机名、地址或网段（端口不限），逗号分隔；留空则只许公网"
    )
    fetch_ports: str = Field(
        PORTS, description="抓取公网网页允许的端口，逗号分隔，可写成 8000-9999 这样的一段；留空则不限"
    )
    fetch_timeout: float = Field(20.0, gt=0, le=300, description="取一个网页或文件的秒数上限，含重定向")

    @model_validator(mode="after")
    def _check_roots(self) -> Self:
        for tenant in self.source_roots:
            if wrong := next((root for root in self.list_roots(tenant) if not root.is_absolute()), None):
                raise ValueError(f"SOURCE_ROOTS 里 {tenant} 的 {wrong} 不是绝对路径")
        try:
            self.fetch_policy  # noqa: B018 - it is read to be checked
        except ValueError as error:
            raise ValueError(
                "FETCH_ALLOWED_HOSTS 要是主机名、地址或网段，FETCH_PORTS 要是端口，例如 10.0.0.0/8 与 80,443,8000-9999"
            ) from error
        return self

    def list_roots(self, tenant: str) -> tuple[Path, ...]:
        """Below which folders of the server a tenant's sources may lie."""
        return tuple(Path(part.strip()) for part in self.source_roots.get(tenant, "").split(",") if part.strip())

    @property
    def fetch_policy(self) -> TargetPolicy:
        """Raises ValueError."""
        allowed = tuple(item.strip() for item in self.fetch_allowed_hosts.split(",") if item.strip())
        remedy = "确有需要时由管理员设置 FETCH_ALLOWED_HOSTS、FETCH_PORTS"
        return TargetPolicy.from_settings("网址", remedy, allowed, parse_port_ranges(self.fetch_ports))
