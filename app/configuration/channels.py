"""The accounts on platforms where customers are answered."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class ChannelAccount(BaseModel):
    """One account. options: what its kind needs, checked when it is opened; all of it may be secret."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")
    kind: str = Field(min_length=1, max_length=32)
    tenant: str = Field("default", min_length=1, max_length=64)
    options: dict[str, SecretStr] = Field({})

    @property
    def plain_options(self) -> dict[str, str]:
        """The options as they are."""
        return {name: value.get_secret_value() for name, value in self.options.items() if value.get_secret_value()}


class ChannelSettings(BaseModel):
    """Accounts of all tenants."""

    channels: tuple[ChannelAccount, ...] = Field(
        (),
        max_length=100,
        description="渠道账号，写成 JSON 数组：每项有 name（也是回调地址的一段）、kind、options，"
        "以及可以不写的 tenant；各种渠道的 options 见“渠道”一页",
    )
    channel_timeout: float = Field(10.0, gt=0, le=60, description="请求一次平台接口的秒数上限")
    channel_max_attempts: int = Field(8, ge=1, le=20, description="一条发往平台的回复最多尝试几次")

    @model_validator(mode="after")
    def _check_account_names(self) -> Self:
        names = [account.name for account in self.channels]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"CHANNELS 里的名字 {twice} 重复，请给各项写不同的 name")
        return self
