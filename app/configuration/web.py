"""Which pages the server shows."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr


class WebSettings(BaseModel):
    """The pages that come with the product."""

    web_enabled: bool = Field(True, description="是否提供网页：聊天页、挂件、人工台与管理后台；false 则全部没有")
    web_key: SecretStr = Field(
        SecretStr(""),
        description="聊天页用的 client 密钥，它会出现在网页里，谁都看得到；没有配置任何密钥时不需要",
    )
