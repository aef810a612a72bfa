from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from app.channels import crypto
from app.channels.base import Channel
from app.channels.client import PlatformClient
from app.channels.registry import CHANNELS
from app.channels.tokens import TokenCache
from app.configuration.channels import ChannelAccount
from app.settings import Settings
from app.wiring.channels import open_channel
from knowledge.errors import InvalidConfiguration, MissingDependency
from tests.app.channels.wechat_signing import KEY, TOKEN
from tests.app.serving import served

WECHAT = {"app_id": "wx1", "app_secret": "hidden-secret", "token": TOKEN}


def opened(kind: str, options: Mapping[str, str]) -> Channel:
    account = ChannelAccount.model_validate({"name": "shop", "kind": kind, "options": dict(options)})
    return open_channel(account, PlatformClient(1.0), TokenCache())


def test_every_kind_says_which_of_its_options_is_missing() -> None:
    for kind in CHANNELS:
        with pytest.raises(InvalidConfiguration, match=rf"shop（{kind}）"):
            opened(kind, {})


def test_an_unknown_kind_is_told_with_those_there_are() -> None:
    with pytest.raises(InvalidConfiguration, match=r"telegraph.*wechat"):
        opened("telegraph", {})


@pytest.mark.parametrize("key", [KEY[:-1], KEY + "A", "!" * 43])
def test_a_key_of_another_form_is_told_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidConfiguration, match="encoding_aes_key") as caught:
        opened("wechat", WECHAT | {"encoding_aes_key": key})
    assert key not in str(caught.value)


def test_without_the_cipher_plain_accounts_open_and_others_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crypto, "find_spec", lambda name: None)
    opened("wechat", WECHAT)
    with pytest.raises(MissingDependency, match="pip install cryptography"):
        opened("wechat", WECHAT | {"encoding_aes_key": KEY})


def test_two_accounts_have_two_names() -> None:
    account = {"name": "shop", "kind": "wechat", "options": WECHAT}
    with pytest.raises(ValidationError, match="shop 重复"):
        Settings(channels=(account, account))


async def test_secrets_are_not_shown(tmp_path: Path) -> None:
    account = {"name": "shop", "kind": "wechat", "options": WECHAT}
    async with served(tmp_path, channels=[account]) as one, httpx.AsyncClient(base_url=one.address) as http:
        shown = (await http.get("/api/v1/channels")).text
        assert '"/api/v1/channels/shop/callback"' in shown
        assert "hidden-secret" not in shown + repr(one.container.settings)
