"""The identity provider whose tokens are taken: whether its public keys can be had."""

from __future__ import annotations

from collections.abc import Sequence

from app.auth.jwks import read_keys
from app.auth.provider import fetch_published_now, require_cryptography
from app.doctor.types import Diagnosis, report_error, report_fine
from app.errors import AppError
from app.settings import Settings
from knowledge.errors import MissingDependency

_SUBJECT = "身份提供方"


async def check_identity(settings: Settings) -> Sequence[Diagnosis]:
    """Checks the identity provider, if one is configured."""
    if not settings.oidc_issuer:
        return []
    try:
        require_cryptography()
        keys = read_keys(await fetch_published_now(settings))
    except MissingDependency as problem:
        told, _, fix = str(problem).partition("：")
        return [report_error(_SUBJECT, told, fix)]
    except AppError as problem:
        fix = "改正 OIDC_JWKS_URL，并确认这台机器连得上它；启动后取到之前，带它的 user_token 的请求返回 503"
        return [report_error(_SUBJECT, f"取不到公钥：{problem.message}", fix)]
    except ValueError as problem:
        fix = "改正 OIDC_JWKS_URL，它在提供方的发现文档里叫 jwks_uri"
        return [report_error(_SUBJECT, f"OIDC_JWKS_URL 给出的文档用不了：{problem}", fix)]
    kinds = "、".join(sorted({algorithm for algorithm, _ in keys}))
    return [report_fine(_SUBJECT, f"取到 {len(keys)} 把公钥（{kinds}）")]
