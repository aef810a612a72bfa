from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from app.auth.jwks import MAX_KEYS, PAUSE_SECONDS, KeySet, read_keys
from app.auth.provider import _POLICY, MAX_DOCUMENT_BYTES, fetch_published
from app.errors import IdentityUnavailable
from app.net.fetcher import Fetcher
from tests.app.auth.provider import ProviderServer, Signer, ec_signer, provider_server, rsa_signer

LIFETIME = 600.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with provider_server(rsa_signer(), ec_signer()) as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def keys(server: ProviderServer, clock: Clock) -> AsyncIterator[KeySet]:
    async with key_set(server, clock) as found:
        yield found


@asynccontextmanager
async def key_set(server: ProviderServer, clock: Clock) -> AsyncIterator[KeySet]:
    async with Fetcher(_POLICY, 10, MAX_DOCUMENT_BYTES) as fetcher:
        found = KeySet(partial(fetch_published, fetcher, server.url), LIFETIME, clock)
        yield found
        await found.close()


async def found(keys: KeySet, signer: Signer) -> bool:
    return await keys.find(signer.algorithm, signer.key_id) is not None


async def test_keys_of_both_kinds_are_fetched_once_for_all_who_wait(keys: KeySet, server: ProviderServer) -> None:
    both = [rsa_signer(), ec_signer()] * 20
    assert all(await asyncio.gather(*(found(keys, signer) for signer in both)))
    assert server.asked == 1
    for signer in (rsa_signer(), ec_signer()):
        key: Any = await keys.find(signer.algorithm, signer.key_id)
        assert jwt.decode(signer.token(), key, [signer.algorithm], audience="yingda")["sub"] == "M0001"


async def test_a_new_key_is_found_at_once_and_a_made_up_one_is_not_asked_for_again_and_again(
    keys: KeySet, server: ProviderServer, clock: Clock
) -> None:
    assert await found(keys, rsa_signer())
    clock.now += PAUSE_SECONDS
    server.publish(rsa_signer(), rsa_signer("rsa-2"))
    assert await found(keys, rsa_signer("rsa-2")) and server.asked == 2
    for number in range(50):
        assert await keys.find("RS256", f"made-up-{number}") is None
    assert server.asked == 2
    clock.now += PAUSE_SECONDS
    assert await keys.find("RS256", "made-up") is None and server.asked == 3


async def test_a_key_that_was_withdrawn_counts_no_longer_than_its_lifetime(
    keys: KeySet, server: ProviderServer, clock: Clock
) -> None:
    assert await found(keys, rsa_signer())
    server.publish(rsa_signer("rsa-2"))
    clock.now += LIFETIME - 1
    assert await found(keys, rsa_signer()) and server.asked == 1
    clock.now += 1
    assert not await found(keys, rsa_signer()) and server.asked == 2


async def test_while_the_provider_is_away_known_keys_work_and_others_are_no_ones_fault(
    keys: KeySet, server: ProviderServer, clock: Clock
) -> None:
    assert await found(keys, rsa_signer())
    server.kill()
    for _ in range(20):
        clock.now += LIFETIME
        assert await found(keys, rsa_signer())
    with pytest.raises(IdentityUnavailable) as failed:
        await found(keys, rsa_signer("rsa-2"))
    assert 1 <= failed.value.details["retry_after"] <= PAUSE_SECONDS
    server.publish(rsa_signer("rsa-2"))
    server.start()
    clock.now += PAUSE_SECONDS
    assert await found(keys, rsa_signer("rsa-2")) and not await found(keys, rsa_signer())


async def test_what_was_never_reached_is_an_outage_until_it_is(
    keys: KeySet, server: ProviderServer, clock: Clock
) -> None:
    server.kill()
    for _ in range(3):
        with pytest.raises(IdentityUnavailable):
            await found(keys, rsa_signer())
    server.start()
    with pytest.raises(IdentityUnavailable):
        await found(keys, rsa_signer())
    assert server.asked == 0
    clock.now += PAUSE_SECONDS
    assert await found(keys, rsa_signer()) and server.asked == 1


async def test_whoever_goes_away_takes_nothing_from_those_who_wait(keys: KeySet) -> None:
    first = asyncio.create_task(found(keys, rsa_signer()))
    second = asyncio.create_task(found(keys, ec_signer()))
    await asyncio.sleep(0)
    first.cancel()
    assert await second


BROKEN: list[dict[str, Any]] = [
    {"document": b"<html>maintenance</html>"},
    {"document": b'{"keys": []}'},
    {"document": b"[" * 100_000},
    {"document": b'{"keys": "none"}'},
    {"document": json.dumps({"keys": [{}] * (MAX_KEYS + 1)}).encode()},
    {"document": b" " * (MAX_DOCUMENT_BYTES + 1)},
    {"status": 404},
    {"status": 500},
    {"status": 302, "headers": {"Location": "http://127.0.0.1:1/jwks.json"}},
]


@pytest.mark.parametrize("broken", BROKEN, ids=range(len(BROKEN)))
async def test_what_is_no_set_of_keys_is_an_outage(
    keys: KeySet, server: ProviderServer, broken: dict[str, Any]
) -> None:
    for name, value in broken.items():
        setattr(server, name, value)
    with pytest.raises(IdentityUnavailable):
        await found(keys, rsa_signer())


async def test_a_token_without_a_key_id_is_the_only_keys_of_its_kind(
    keys: KeySet, server: ProviderServer, clock: Clock
) -> None:
    assert await keys.find("ES256", "") is not None
    server.publish(rsa_signer(), rsa_signer("rsa-2"))
    clock.now += LIFETIME
    assert await keys.find("RS256", "") is None


def test_only_keys_that_check_signatures_are_taken() -> None:
    good = rsa_signer().published
    shared = {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ", "kid": "rsa-1", "alg": "HS256"}
    short = Signer("RS256", rsa.generate_private_key(65537, 1024), "short").published
    others = [
        shared,
        short,
        good | {"kid": "encrypts", "use": "enc"},
        good | {"kid": "wraps", "key_ops": ["wrapKey"]},
        good | {"kid": "odd", "key_ops": 7},
        good | {"kid": "other", "alg": "RS512"},
        good | {"kid": 7},
        good | {"kid": "x" * 1000},
        good | {"kid": "broken", "n": "!"},
        {"kty": "EC", "crv": "P-256", "kid": "nowhere", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": "secp256k1", "kid": "coin", "x": "AA", "y": "AA"},
        {"kty": ["RSA"]},
        "no key",
    ]
    document = json.dumps({"keys": [*others, good]}).encode()
    assert list(read_keys(document)) == [("RS256", "rsa-1")]
    with pytest.raises(ValueError, match="公钥"):
        read_keys(json.dumps({"keys": others}).encode())


def test_of_a_private_key_that_was_published_nothing_but_its_public_part_is_kept() -> None:
    private = jwt.get_algorithm_by_name("RS256").to_jwk(rsa_signer().key, as_dict=True)
    shown = {**dict(private), "key_ops": ["sign", "verify"]}
    [key] = read_keys(json.dumps({"keys": [shown]}).encode()).values()
    assert isinstance(key, rsa.RSAPublicKey)
