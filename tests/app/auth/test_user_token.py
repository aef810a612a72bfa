from __future__ import annotations

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest

from app.auth.identity import find_caller
from app.auth.principal import LOOPBACK, Principal, Role
from app.auth.user_token import UserTokens, sign_token
from app.errors import Unauthorized
from app.settings import load_settings
from knowledge.errors import InvalidConfiguration
from scripts.user_token import main

SECRET = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
TENANT = "default"


def token(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """Times are seconds from now; claims that are None are left out."""
    body = {"sub": "M0001", "exp": 3600, "iat": 0, **claims}
    now = {name: time.time() for name in ("exp", "iat", "nbf")}
    given = {name: now[name] + value if name in now else value for name, value in body.items() if value is not None}
    return jwt.encode(given, secret, algorithm=algorithm)


def key(*roles: Role) -> Principal:
    return Principal(TENANT, frozenset(roles))


@pytest.mark.parametrize(
    "claims",
    [{}, {"tenant": TENANT}, {"iat": None}, {"exp": -5}, {"iat": 20}, {"aud": "shop"}],
)
async def test_a_good_token_names_its_member(claims: dict[str, Any]) -> None:
    assert await UserTokens(SECRET).find_caller(token(**claims), TENANT) == "M0001"


REFUSED = [
    (token(OTHER), "无效"),
    (token(exp=-60), "过期"),
    (token(iat=36_000), "还没有生效"),
    (token(nbf=36_000), "还没有生效"),
    (token(exp=None), "缺少 exp"),
    (token(sub=None), "缺少 sub"),
    (token(sub=""), "不是会员编号"),
    (token(sub="x" * 200), "不是会员编号"),
    (token(sub="M1\x00"), "不是会员编号"),
    (token(sub=7), "无效"),
    (token(tenant="another"), "不属于这个租户"),
    (token(tenant=5), "不属于这个租户"),
    (token("", "none"), "无效"),
    (token(SECRET * 2, "HS512"), "无效"),
    ("M0001", "无效"),
    (token() + "x", "无效"),
    (token().rpartition(".")[0] + ".", "无效"),
    ("é" * 50, "无效"),
    ("a." * 100_000, "无效"),
]


@pytest.mark.parametrize(("shown", "message"), REFUSED, ids=range(len(REFUSED)))
async def test_every_other_token_is_refused_with_its_reason(shown: str, message: str) -> None:
    with pytest.raises(Unauthorized, match=message):
        assert await UserTokens(SECRET).find_caller(shown, TENANT) != "M0001"


async def test_without_a_secret_no_token_is_accepted() -> None:
    with pytest.raises(Unauthorized, match="USER_TOKEN_SECRET"):
        await UserTokens("").find_caller(token(), TENANT)


async def test_issuer_audience_and_lifetime_are_checked_where_they_are_set() -> None:
    tokens = UserTokens(SECRET, issuer="shop", audience="yingda", longest=timedelta(hours=1))
    good: dict[str, Any] = {"iss": "shop", "aud": ["yingda", "else"]}
    assert await tokens.find_caller(token(**good, exp=3500), TENANT) == "M0001"
    for claims, message in (
        ({"iss": "shop"}, "缺少 aud"),
        ({"aud": "yingda"}, "缺少 iss"),
        (good | {"iss": "evil"}, "iss"),
        (good | {"aud": "evil"}, "aud"),
        (good | {"iat": None}, "缺少 iat"),
        (good | {"exp": 3700}, "有效期太长"),
        (good | {"exp": 3700, "iat": -100}, "有效期太长"),
    ):
        with pytest.raises(Unauthorized, match=message):
            await tokens.find_caller(token(**claims), TENANT)


async def test_a_tenants_own_secret_is_for_that_tenant_alone() -> None:
    tokens = UserTokens(SECRET, {"acme": OTHER})
    assert await tokens.find_caller(token(OTHER), "acme") == await tokens.find_caller(token(SECRET), TENANT) == "M0001"
    for secret, tenant in ((SECRET, "acme"), (OTHER, TENANT)):
        with pytest.raises(Unauthorized, match="无效"):
            await tokens.find_caller(token(secret), tenant)


@pytest.mark.parametrize("secrets", [{"acme": "short"}, {"acme": SECRET}, {"a": OTHER, "b": OTHER}])
def test_secrets_of_tenants_are_long_and_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secrets: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("USER_TOKEN_SECRET", SECRET)
    monkeypatch.setenv("USER_TOKEN_SECRETS", json.dumps(secrets))
    with pytest.raises(InvalidConfiguration, match="USER_TOKEN_SECRETS") as failed:
        load_settings()
    assert OTHER not in str(failed.value)


@pytest.mark.parametrize(
    ("principal", "caller"),
    [
        (key(Role.SERVER), "M0009"),
        (key(Role.ADMIN), "M0009"),
        (LOOPBACK, "M0009"),
        (key(Role.CLIENT), ""),
        (key(Role.AGENT), ""),
    ],
)
async def test_a_user_id_counts_only_with_a_key_that_stays_on_servers(principal: Principal, caller: str) -> None:
    assert await find_caller(principal, UserTokens(SECRET), user_id="M0009") == caller


async def test_a_token_counts_for_whoever_shows_it_and_never_against_a_trusted_key() -> None:
    tokens = UserTokens(SECRET)
    assert await find_caller(key(Role.CLIENT), tokens, token(), "M0009") == "M0001"
    assert await find_caller(key(Role.SERVER), tokens, token(), "M0001") == "M0001"
    assert await find_caller(key(Role.CLIENT), tokens) == ""
    with pytest.raises(Unauthorized, match="同一位会员"):
        await find_caller(key(Role.SERVER), tokens, token(), "M0009")
    with pytest.raises(Unauthorized):
        await find_caller(key(Role.SERVER), tokens, token(OTHER), "M0009")


async def test_the_script_prints_a_token_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["M0003"]) == 2
    assert "USER_TOKEN_SECRET" in capsys.readouterr().err
    monkeypatch.setenv("USER_TOKEN_SECRET", SECRET)
    assert main(["M0003", "--minutes", "1"]) == 0
    assert await UserTokens(SECRET).find_caller(capsys.readouterr().out.strip(), TENANT) == "M0003"
    assert main(["M0003", "--tenant", "shop-2"]) == 0
    shown = capsys.readouterr().out.strip()
    assert await UserTokens(SECRET).find_caller(shown, "shop-2") == "M0003"
    with pytest.raises(Unauthorized):
        await UserTokens(SECRET).find_caller(shown, TENANT)


def test_a_short_secret_fails_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("USER_TOKEN_SECRET", "short")
    with pytest.raises(InvalidConfiguration, match="USER_TOKEN_SECRET") as error:
        load_settings()
    assert "short" not in str(error.value)


async def test_a_token_of_ones_own_making_is_read_back() -> None:
    now = time.time()
    assert await UserTokens(SECRET).find_caller(sign_token(SECRET, "M0005", 60, now, TENANT), TENANT) == "M0005"
