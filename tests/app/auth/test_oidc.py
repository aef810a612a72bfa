"""Tokens of an identity provider: which are taken, whose they are, and what an outage does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import ValidationError

from app.auth.provider import open_provider
from app.auth.user_token import UserTokens, sign_token
from app.doctor.identity import check_identity
from app.errors import IdentityUnavailable, Unauthorized
from app.settings import Settings
from tests.app.auth.provider import (
    AUDIENCE,
    ISSUER,
    ProviderServer,
    Signer,
    ec_signer,
    provider_server,
    rsa_signer,
)

SECRET, OTHER = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
TENANT = "default"


@pytest.fixture(scope="module")
def server() -> Iterator[ProviderServer]:
    with provider_server(rsa_signer(), ec_signer()) as running:
        yield running


def settings(server: ProviderServer, **values: Any) -> Settings:
    return Settings(_env_file=None, **{**server.settings, **values})


@pytest.fixture
async def tokens(server: ProviderServer) -> AsyncIterator[UserTokens]:
    async with open_provider(settings(server)) as provider:
        yield UserTokens(SECRET, {"acme": OTHER}, provider=provider)


@pytest.fixture
async def choosing(server: ProviderServer) -> AsyncIterator[UserTokens]:
    """Tokens choose the tenant."""
    async with open_provider(settings(server)) as provider:
        yield UserTokens(SECRET, {"acme": OTHER}, tenant_claim="org", provider=provider)


@pytest.mark.parametrize("signer", [rsa_signer(), ec_signer()], ids=["RS256", "ES256"])
@pytest.mark.parametrize(
    "claims", [{}, {"exp": -20}, {"nbf": 20}, {"iat": None}, {"aud": ["else", AUDIENCE]}, {"tenant": TENANT}]
)
async def test_a_good_token_names_its_member(tokens: UserTokens, signer: Signer, claims: dict[str, Any]) -> None:
    assert await tokens.find_caller(signer.token(**claims), TENANT) == "M0001"


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def forged(secret: bytes, algorithm: str = "HS256", **header: Any) -> str:
    """A token with an HMAC over a secret that PyJWT would refuse to sign with."""
    now = time.time()
    claims = {"sub": "M0001", "exp": now + 3600, "iss": ISSUER, "aud": AUDIENCE}
    text = f"{part({'alg': algorithm, 'typ': 'JWT', **header})}.{part(claims)}"
    return f"{text}.{part(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def public_texts(signer: Signer) -> list[bytes]:
    """All that somebody might take for a shared secret: what the provider publishes, in the usual forms."""
    public = signer.key.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return [pem, pem.strip(), der, json.dumps(signer.published).encode(), b""]


def swapped(signer: Signer, **header: Any) -> str:
    """A good token under another header: its signature is of another text, or of another algorithm."""
    _, body, signature = signer.token().split(".")
    return f"{part({'typ': 'JWT', 'kid': signer.key_id, **header})}.{body}.{signature}"


# Another's key under an id that is known.
STRANGE = Signer("RS256", rsa_signer("elsewhere").key, "rsa-1")
REFUSED = [
    *(forged(text, kid=signer.key_id) for signer in (rsa_signer(), ec_signer()) for text in public_texts(signer)),
    *(forged(public_texts(rsa_signer())[0], algorithm, kid="rsa-1") for algorithm in ("RS256", "none", "hs256", "")),
    *(
        swapped(rsa_signer(), alg=algorithm)
        for algorithm in ("none", "None", "ES256", "RS512", "PS256", ["RS256"], None)
    ),
    swapped(rsa_signer(), alg="RS256", kid="ec-1"),
    swapped(ec_signer(), alg="ES256", kid="rsa-1"),
    rsa_signer().token().rpartition(".")[0] + ".",
    STRANGE.token(),
    STRANGE.token({"jku": "http://127.0.0.1:1/jwks.json"}),
    STRANGE.token({"jwk": STRANGE.published}),
    STRANGE.token({"kid": "unknown"}),
    swapped(rsa_signer(), alg="RS256", crit=["exp"]),
    f"{part(b'[' * 2500)}.{part({})}.{part(b'x')}",
    f"{part({'alg': 'RS256', 'kid': 'rsa-1'})}.{part(b'[' * 2500)}.{part(b'x')}",
]


@pytest.mark.parametrize("token", REFUSED, ids=range(len(REFUSED)))
async def test_no_token_passes_that_the_provider_did_not_sign(tokens: UserTokens, token: str) -> None:
    with pytest.raises(Unauthorized, match="无效"):
        await tokens.find_caller(token, TENANT)


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"iss": "https://login.example.com"}, "iss"),
        ({"iss": ISSUER + "/"}, "iss"),
        ({"iss": None}, "缺少 iss"),
        ({"aud": "another-client"}, "aud"),
        ({"aud": None}, "缺少 aud"),
        ({"exp": -60}, "过期"),
        ({"exp": None}, "缺少 exp"),
        ({"nbf": 3600}, "还没有生效"),
        ({"iat": 3600}, "还没有生效"),
        ({"sub": None}, "缺少 sub"),
        ({"sub": " "}, "不是会员编号"),
        ({"tenant": "acme"}, "不属于这个租户"),
        ({"exp": float("inf")}, "无效"),
    ],
)
async def test_what_the_provider_signed_for_others_or_for_another_time_is_refused(
    tokens: UserTokens, claims: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unauthorized, match=message):
        await tokens.find_caller(rsa_signer().token(**claims), TENANT)


async def test_without_a_claim_for_it_a_providers_token_is_the_default_tenants(tokens: UserTokens) -> None:
    assert not tokens.suffice
    for claims in ({}, {"org": "rival"}, {"tenant": None}):
        assert await tokens.find_caller(rsa_signer().token(**claims), TENANT) == "M0001"
        with pytest.raises(Unauthorized, match="不属于这个租户"):
            await tokens.find_caller(rsa_signer().token(**claims), "rival")


async def test_the_claim_chooses_the_tenant_of_a_token_alone_and_has_to_match_that_of_a_key(
    choosing: UserTokens,
) -> None:
    theirs = rsa_signer().token(org="rival")
    assert choosing.suffice and await choosing.find_tenant_and_caller(theirs) == ("rival", "M0001")
    assert await choosing.find_caller(theirs, "rival") == "M0001"
    for tenant in (TENANT, "Rival", "rival2"):
        with pytest.raises(Unauthorized, match="租户"):
            await choosing.find_caller(theirs, tenant)
    with pytest.raises(Unauthorized, match="缺少 org"):
        await choosing.find_caller(rsa_signer().token(), TENANT)
    for claim in (None, "", 7, ["rival"], "../rival", "x" * 100):
        with pytest.raises(Unauthorized, match="org"):
            await choosing.find_tenant_and_caller(rsa_signer().token(org=claim))


async def test_a_tenant_with_a_secret_of_its_own_takes_neither_the_general_ones_nor_the_providers(
    choosing: UserTokens,
) -> None:
    def token(secret: str, tenant: str) -> str:
        return sign_token(secret, "M0007", 60, time.time(), tenant, tenant_claim="org")

    assert await choosing.find_tenant_and_caller(token(OTHER, "acme")) == ("acme", "M0007")
    assert await choosing.find_tenant_and_caller(token(SECRET, "rival")) == ("rival", "M0007")
    for foreign in (token(SECRET, "acme"), token(OTHER, "rival"), rsa_signer().token(org="acme")):
        with pytest.raises(Unauthorized, match="无效"):
            await choosing.find_tenant_and_caller(foreign)


async def test_another_claim_may_hold_the_members_number(server: ProviderServer) -> None:
    async with open_provider(settings(server, oidc_member_claim="member_id")) as provider:
        tokens = UserTokens("", longest=timedelta(hours=2), provider=provider)
        assert await tokens.find_caller(rsa_signer().token(sub="a-uuid", member_id="M0009"), TENANT) == "M0009"
        for claims in ({}, {"member_id": 9}, {"member_id": ["M0009"]}):
            with pytest.raises(Unauthorized, match="member_id"):
                await tokens.find_caller(rsa_signer().token(**claims), TENANT)
        with pytest.raises(Unauthorized, match="有效期太长"):
            await tokens.find_caller(rsa_signer().token(member_id="M0009", exp=8000), TENANT)
        with pytest.raises(Unauthorized, match="无效"):
            await tokens.find_caller(sign_token(SECRET, "M0009", 60, time.time()), TENANT)


async def test_an_outage_is_never_a_wrong_token(server: ProviderServer) -> None:
    with provider_server() as away:
        away.kill()
        async with open_provider(settings(away)) as provider:
            tokens = UserTokens(SECRET, provider=provider)
            for token in (rsa_signer().token(), ec_signer().token(), STRANGE.token()):
                with pytest.raises(IdentityUnavailable):
                    await tokens.find_caller(token, TENANT)
            assert await tokens.find_caller(sign_token(SECRET, "M0009", 60, time.time()), TENANT) == "M0009"


async def test_the_doctor_says_whether_the_keys_can_be_had(server: ProviderServer) -> None:
    assert list(await check_identity(Settings(_env_file=None))) == []
    [good] = await check_identity(settings(server))
    assert (good.level, good.told) == ("ok", "取到 2 把公钥（ES256、RS256）")
    with provider_server() as wrong:
        [empty] = await check_identity(settings(wrong))
        assert empty.level == "error" and "公钥" in empty.told and "jwks_uri" in empty.fix
        wrong.kill()
        [away] = await check_identity(settings(wrong))
        assert away.level == "error" and "连不上" in away.told and "OIDC_JWKS_URL" in away.fix


WRONG: list[tuple[dict[str, str], str]] = [
    ({"oidc_issuer": ISSUER}, "一起设置"),
    ({"oidc_issuer": ISSUER, "oidc_jwks_url": "https://login.example.com/jwks"}, "OIDC_AUDIENCE"),
    ({"user_token_tenant_claim": "org"}, "USER_TOKEN_TENANT_CLAIM"),
    *(
        ({"oidc_issuer": ISSUER, "oidc_audience": AUDIENCE, "oidc_jwks_url": url}, "https://")
        for url in ("http://login.example.com/jwks", "ftp://x/y", "login.example.com", "https://u@x/y", "https://[")
    ),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=range(len(WRONG)))
def test_half_a_configuration_fails_at_the_start(values: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Settings(_env_file=None, **values)  # type: ignore[arg-type]
