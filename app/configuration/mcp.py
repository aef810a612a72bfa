"""The server that `python -m app.mcp` talks to."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr

from app.configuration.service_keys import ServiceKey


class McpSettings(BaseModel):
    """Of a process beside an assistant; the service itself needs none of them."""

    mcp_url: str = Field("http://127.0.0.1:8000", description="`python -m app.mcp` 连接的应答服务的地址")
    mcp_key: ServiceKey = Field(SecretStr(""), description="`python -m app.mcp` 用的密钥；本机没有配置密钥时留空")
    mcp_user_token: SecretStr = Field(
        SecretStr(""), description="`python -m app.mcp` 只代一位会员提问时，那位会员的 user_token"
    )
