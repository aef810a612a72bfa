"""An identity provider (OpenID Connect): whose tokens are taken, and where its public keys come from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from app.auth.claims import build_invalid, build_refusal, decode_claims
from app.auth.jwks import ALGORITHMS, KeySet
from app.errors import FetchFailed
from app.net.fetcher import Fetcher
from app.net.targets import TargetPolicy
from app.settings import Settings
from knowledge.errors import MissingDependency

MAX_DOCUMENT_BYTES = 256 * 1024
# Who runs the server chose the address; that of a provider inside of one's own network is one, too.
_POLICY = TargetPolicy("OIDC_JWKS_URL", "请改正 OIDC_JWKS_URL", private=True)


class Provider:
    """issuer, audience: that its tokens have to name; member: the claim with the member's number."""

    def __init__(self, keys: KeySet, issuer: str, audience: str, member: str = "sub") -> None:
        self.keys = keys
        self.member = member
        self._issuer, self._audience = issuer, audience

    async def check_claims(self, token: str, header: Mapping[str, Any], *required: str) -> dict[str, Any]:
        """Returns the claims of a token that the provider signed.

        header: of the token, which says by which key. Raises Unauthorized, IdentityUnavailable.
        """
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise build_invalid()
        key = await self.keys.find(algorithm, key_id)
        if key is None:
            raise build_refusal("无效：身份提供方没有公布签发它的公钥")
        named = {"issuer": self._issuer, "audience": self._audience}
        return decode_claims(token, key, algorithm, ("exp", "iss", "aud", self.member, *required), **named)


@asynccontextmanager
async def open_provider(settings: Settings) -> AsyncIterator[Provider | None]:
    """Opens the identity provider of the settings; None without one.

    Nothing is asked of it before a token comes, so the service starts while the provider is away. Raises
    MissingDependency.
    """
    if not settings.oidc_issuer:
        yield None
        return
    require_cryptography()
    async with Fetcher(_POLICY, settings.oidc_timeout, MAX_DOCUMENT_BYTES) as fetcher:
        keys = KeySet(partial(fetch_published, fetcher, settings.oidc_jwks_url), settings.oidc_keys_ttl)
        try:
            yield Provider(keys, settings.oidc_issuer, settings.oidc_audience, settings.oidc_member_claim)
        finally:
            await keys.close()


def require_cryptography() -> None:
    """Raises MissingDependency, naming what to install."""
    from jwt.algorithms import has_crypto

    if not has_crypto:
        raise MissingDependency("OIDC_ISSUER 需要 cryptography 包：pip install cryptography==50.0.2")


async def fetch_published_now(settings: Settings) -> bytes:
    """Fetches the provider's document as it is now. Raises AppError."""
    async with Fetcher(_POLICY, settings.oidc_timeout, MAX_DOCUMENT_BYTES) as fetcher:
        return await fetch_published(fetcher, settings.oidc_jwks_url)


async def fetch_published(fetcher: Fetcher, url: str) -> bytes:
    """Fetches the provider's document. Raises AppError, also for a redirect, since it may lead anywhere."""
    fetched = await fetcher.fetch(url, follow=lambda _: False)
    if fetched.status != 200:
        raise FetchFailed(f"OIDC_JWKS_URL 返回 HTTP {fetched.status}", status=fetched.status)
    return fetched.content
