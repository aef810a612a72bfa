"""What whoever runs the server sees of it, and the prompts that may be edited while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator


class ObservabilitySettings(BaseModel):
    """Without these nothing leaves the process, and the prompts are those of the code."""

    prompts_dir: Path | None = Field(
        None, description="放自己的提示词的文件夹，文件名同 agents/prompts/*.md，有哪个就换掉哪个；留空则都用自带的"
    )
    prompts_ttl: float = Field(5.0, ge=0, le=3600, description="改了提示词之后最多多少秒生效，不用重启")

    metrics_tenants: int = Field(
        100, ge=1, le=100_000, description="/metrics 里分开列出最先来的几个租户，其余合计为 _other，以免序列太多"
    )
    otel_exporter_otlp_endpoint: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="OpenTelemetry 收集器的地址（OTLP/HTTP），如 http://collector:4318；留空则不送",
    )
    otel_exporter_otlp_headers: SecretStr = Field(
        SecretStr(""), description="送往收集器的请求头，写成 名=值，逗号分隔；有密钥时写在这里"
    )
    otel_service_name: str = Field("yingda", min_length=1, max_length=100, description="在追踪里这套服务叫什么")
    otel_traces_share: float = Field(1.0, ge=0, le=1, description="送出多大比例的轮次；请求带 traceparent 时由它决定")
    langfuse_host: str = Field(
        "", pattern=r"^(https?://\S+)?$", description="Langfuse 的地址；三项 LANGFUSE_ 都设置才接"
    )
    langfuse_public_key: str = Field("", description="Langfuse 项目的公钥，pk-lf- 开头")
    langfuse_secret_key: SecretStr = Field(SecretStr(""), description="Langfuse 项目的私钥，sk-lf- 开头")

    @field_validator("otel_exporter_otlp_headers")
    @classmethod
    def _check_headers(cls, value: SecretStr) -> SecretStr:
        if any(not name.strip() or not equals for name, equals, _ in _split_headers(value)):
            raise ValueError("OTEL_EXPORTER_OTLP_HEADERS 写成 名=值，多个以逗号分隔，例如 Authorization=Bearer 密钥")
        return value

    @model_validator(mode="after")
    def _check_langfuse(self) -> Self:
        given = [bool(self.langfuse_host), bool(self.langfuse_public_key), bool(self.langfuse_secret_key)]
        if any(given) and not all(given):
            raise ValueError("LANGFUSE_HOST、LANGFUSE_PUBLIC_KEY、LANGFUSE_SECRET_KEY 须一起设置")
        return self

    @property
    def otel_headers(self) -> dict[str, str]:
        """Of requests to the collector."""
        return {name.strip(): text.strip() for name, _, text in _split_headers(self.otel_exporter_otlp_headers)}


def _split_headers(value: SecretStr) -> list[tuple[str, str, str]]:
    return [item.partition("=") for item in value.get_secret_value().split(",") if item.strip()]
