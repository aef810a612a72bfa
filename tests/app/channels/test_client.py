from __future__ import annotations

import pytest

from app.channels import client as module
from app.channels.client import PlatformClient
from app.channels.errors import PlatformRefused, PlatformUnavailable
from tests.app.channels.simulators import simulated


async def test_a_response_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    client = PlatformClient(5.0)
    async with simulated(lambda _: {"text": "x" * 2000}) as platform:
        with pytest.raises(PlatformRefused):
            await client.request_json("GET", platform.url)
    await client.close()


async def test_how_long_to_wait_is_the_platforms_to_say() -> None:
    client = PlatformClient(5.0)
    async with simulated(lambda _: (503, {})) as platform:
        with pytest.raises(PlatformUnavailable) as caught:
            await client.request_json("GET", platform.url)
        assert caught.value.retry_after is None
    with pytest.raises(PlatformUnavailable):
        await client.request_json("GET", "http://127.0.0.1:9/")
    await client.close()


async def test_nobody_is_followed_elsewhere() -> None:
    client = PlatformClient(5.0)
    async with simulated(lambda _: (302, {})) as platform:
        with pytest.raises(PlatformRefused):
            await client.request_json("GET", platform.url)
        assert len(platform.calls) == 1
    await client.close()
