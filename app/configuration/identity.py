"""Who the customer is: tokens that a company's server signs, or an identity provider."""

from __future__ import annotations

from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

MIN_SECRET_CHARS = 32
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_CLAIM = r"^[\x21-\x7e]{0,128}$"


class IdentitySettings(BaseModel):
    """Without a secret and without a provider nobody's identity is proved, but by keys that stay on servers."""

    user_token_secret: SecretStr = Field(
        SecretStr(""), description="签发 user_token 的密钥（HS256），至少 32 个字符；留空则不接受这样签发的 user_token"
    )
    user_token_secrets: dict[str, SecretStr] = Field(
        {},
        description="各租户自己的 user_token 密钥，写成 JSON；列出的租户只认自己的，其余用 USER_TOKEN_SECRET",
    )
    user_token_issuer: str = Field("", description="HS256 的 user_token 的 iss 须等于它；留空则不检查")
    user_token_audience: str = Field("", description="HS256 的 user_token 的 aud 须含有它；留空则不检查")
    user_token_max_hours: float = Field(
        0.0, ge=0, description="user_token 从 iat 到 exp 最长几小时，设置后 iat 必填；0 为不限"
    )
    user_token_tenant_claim: str = Field(
        "",
        pattern=_CLAIM,
        description="user_token 里写明租户的声明，如 tenant；设置后每个 user_token 都要有它，"
        "而且不带密钥、只带 user_token 也能对话，属于它写明的租户；留空则总要有密钥",
    )
    oidc_issuer: str = Field(
        "", description="身份提供方（OIDC）的 issuer，它签发的 user_token 的 iss 须与此完全相同；留空则不用"
    )
    oidc_jwks_url: str = Field(
        "", description="身份提供方公布公钥（JWKS）的地址，https 开头；设置了 OIDC_ISSUER 时必填"
    )
    oidc_audience: str = Field("", description="身份提供方签发的 user_token 的 aud 须含有它；设置了 OIDC_ISSUER 时必填")
    oidc_member_claim: str = Field(
        "sub", min_length=1, pattern=_CLAIM, description="身份提供方的 user_token 里，哪个声明是会员编号"
    )
    oidc_keys_ttl: float = Field(
        3600.0, ge=60, le=86_400, description="身份提供方的公钥保留的秒数，之后重新取；取不到时沿用已有的"
    )
    oidc_timeout: float = Field(3.0, gt=0, le=30, description="取一次身份提供方的公钥最多等几秒")

    @field_validator("user_token_secret")
    @classmethod
    def _check_secret(cls, value: SecretStr) -> SecretStr:
        if value and len(value.get_secret_value()) < MIN_SECRET_CHARS:
            raise ValueError(f"USER_TOKEN_SECRET 太短，会被猜出来：至少 {MIN_SECRET_CHARS} 个字符，请随机生成")
        return value

    @field_validator("user_token_secrets")
    @classmethod
    def _check_secrets(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for tenant, secret in value.items():
            if len(secret.get_secret_value()) < MIN_SECRET_CHARS:
                raise ValueError(f"USER_TOKEN_SECRETS 中 {tenant} 的密钥太短：至少 {MIN_SECRET_CHARS} 个字符")
        return value

    @field_validator("oidc_jwks_url")
    @classmethod
    def _check_jwks_url(cls, value: str) -> str:
        if not value:
            return value
        try:
            parts = urlsplit(value)
            safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
            whole = safe and bool(parts.hostname) and parts.username is None and (parts.port or 1) > 0
        except ValueError:
            whole = False
        if not whole:
            raise ValueError("OIDC_JWKS_URL 须以 https:// 开头（本机可用 http://），公钥在路上才换不掉")
        return value

    @model_validator(mode="after")
    def _check_identity(self) -> Self:
        secrets = [self.user_token_secret, *self.user_token_secrets.values()]
        if len({secret.get_secret_value() for secret in secrets}) < len(secrets):
            raise ValueError("USER_TOKEN_SECRETS 中的密钥与别的租户或 USER_TOKEN_SECRET 相同，请为每个租户随机生成一个")
        provider = self.oidc_issuer, self.oidc_jwks_url, self.oidc_audience
        if any(provider) and not all(provider):
            raise ValueError(
                "OIDC_ISSUER、OIDC_JWKS_URL、OIDC_AUDIENCE 须一起设置，少一个就认不出签给别家的 user_token"
            )
        if self.user_token_tenant_claim and not (self.oidc_issuer or any(map(SecretStr.get_secret_value, secrets))):
            raise ValueError("USER_TOKEN_TENANT_CLAIM 要与 USER_TOKEN_SECRET 或 OIDC_ISSUER 一起设置")
        return self
