from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from app.auth.principal import Role
from app.configuration.models import LlmProvider
from app.settings import Settings
from app.wiring.models import LanguageModels
from scripts.scripted_llm import Behaviour, ScriptedLLM
from tests.app.auth.test_auth import key_of
from tests.app.chat.test_chat import chat
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened

BREAKERS = "/api/v1/observability/circuit-breakers"


async def states(client: httpx.AsyncClient) -> dict[str, str]:
    found = (await client.get(BREAKERS)).json()["items"]
    return {item["name"]: item["state"] for item in found}


async def test_the_next_provider_answers_and_the_one_that_failed_is_left_alone_until_reset(tmp_path: Path) -> None:
    async with ScriptedLLM() as second:
        further = LlmProvider.model_validate({"name": "idc", "api_key": "k", "model": "m", "base_url": second.base_url})
        options: dict[str, Any] = {"llm_providers": (further,), "llm_breaker_failures": 1}
        options["llm_breaker_seconds"] = 3600.0
        async with opened(tmp_path, Behaviour.BROKEN, rewrite_enabled=False, **options) as (client, first):
            assert list((await states(client)).items()) == [(name, "closed") for name in ("llm", "idc", "small")]
            for _ in range(2):
                body = await chat(client, QUESTION)
                assert ARRIVES in body["reply"]
                assert body["data"]["degraded"] == ["llm"]
            assert (first.requests, second.requests) == (1, 2)
            assert (await states(client))["llm"] == "open"
            reset = (await client.post(f"{BREAKERS}/llm/reset")).json()
            assert (reset["state"], reset["opened"], reset["retry_in_seconds"]) == ("closed", 1, 0.0)
            await chat(client, QUESTION)
            assert first.requests == 2
            assert (await client.post(f"{BREAKERS}/nobody/reset")).status_code == 404


async def test_another_tenants_admin_neither_sees_nor_resets_what_all_share(tmp_path: Path) -> None:
    async with opened(tmp_path) as (client, _):
        container = client._transport.app.state.container  # type: ignore[attr-defined]
        other = await key_of(container, "acme", Role.ADMIN)
        own = await key_of(container, "default", Role.ADMIN)
        assert (await client.get(BREAKERS, headers=own)).status_code == 200
        assert (await client.get(BREAKERS, headers=other)).status_code == 403
        assert (await client.post(f"{BREAKERS}/llm/reset", headers=other)).status_code == 403


async def test_without_the_first_one_the_others_write() -> None:
    further = LlmProvider.model_validate({"profile": "kimi", "api_key": "k", "model": "kimi-k2.5"})
    async with LanguageModels(Settings(_env_file=None, llm_providers=(further,))) as models:
        assert [model.name for model in models.writers] == ["kimi-k2.5"]
        assert models.present and list(models.breakers) == ["kimi"]
