"""The Redis that replicas share, if any."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator

SCHEMES = ("redis", "rediss", "unix")


class RedisSettings(BaseModel):
    """Without an address all is in this process."""

    redis_url: SecretStr = Field(
        SecretStr(""),
        description="多个副本共用的 Redis 的地址，如 redis://:密码@redis.example.com:6379/0，加密用 rediss://；"
        "留空则计数等都在本进程里",
    )
    redis_prefix: str = Field(
        "yingda",
        pattern=r"^[A-Za-z0-9_.-]{1,64}$",
        description="Redis 里的键以它开头；几套服务共用一个 Redis 时各用各的，同一套的副本要相同",
    )
    redis_timeout: float = Field(
        0.1,
        ge=0.005,
        le=5,
        description="等 Redis 一次回话的秒数上限；超过即当它不在，由本进程自己来，它回来后自动恢复",
    )

    @field_validator("redis_url")
    @classmethod
    def _check_url(cls, value: SecretStr) -> SecretStr:
        if not (url := value.get_secret_value()):
            return value
        try:
            parts = urlsplit(url)
            whole = parts.scheme in SCHEMES and bool(parts.path if parts.scheme == "unix" else parts.hostname)
            whole = whole and (parts.port is None or parts.port > 0)
        except ValueError:
            whole = False
        if not whole:
            raise ValueError("REDIS_URL 不是 Redis 的地址，例如 redis://redis.example.com:6379/0")
        return value
