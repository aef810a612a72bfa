"""Connects a language model while the service runs: tried first, kept encrypted, taken over by every replica."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from loguru import logger
from pydantic import SecretStr

from agents.errors import GenerationError
from agents.llm.chat import ModelOptions
from agents.llm.registry import get_model
from app.connection.repository import ConnectionRepository
from app.connection.sealer import Sealer
from app.connection.types import ConnectionSource, ConnectionTest, ModelAddress, StoredConnection
from app.db.base import now
from app.errors import Conflict
from app.settings import Settings

QUESTION = "用一句话介绍你自己。"
TEST_SECONDS = 20.0
# Characters of the sample answer.
MOST_REPLY = 300
# What is sent to a server that asks for no key.
NO_KEY = "none"


class ModelConnections:
    """take_over: makes the models of this process those of the settings."""

    def __init__(
        self,
        settings: Settings,
        stored: ConnectionRepository,
        sealer: Sealer,
        take_over: Callable[[Settings], Awaitable[None]],
    ) -> None:
        self._settings, self._stored, self._sealer, self._take_over = settings, stored, sealer, take_over
        self._version, self._following = 0, asyncio.Lock()
        # Why what is stored cannot be used by this process.
        self.problem = ""

    @property
    def environment_wins(self) -> bool:
        """Whether a model is set outside of the console."""
        settings = self._settings
        keys = settings.llm_api_key, settings.small_llm_api_key
        return settings.llm_provider != "openai" or any(keys) or bool(settings.llm_providers)

    async def read(self) -> tuple[ConnectionSource, StoredConnection]:
        """Returns which connection is in use, with what is stored of it if the console made it."""
        if self.environment_wins:
            return ConnectionSource.ENVIRONMENT, StoredConnection()
        stored = await self._stored.read()
        return (ConnectionSource.CONSOLE if stored.base_url else ConnectionSource.NONE), stored

    async def connect(self, address: ModelAddress | None, *, by: str) -> StoredConnection:
        """None disconnects. In use here when it returns, in other processes within seconds. Raises Conflict."""
        if self.environment_wins:
            raise Conflict("大模型由环境变量设置，以那里的为准；要在这里接，先去掉 LLM_ 的设置。", code="set_elsewhere")
        made = StoredConnection(by=by, updated_at=now())
        if address is not None:
            address = await self.fill_key(address)
            sealed = self._sealer.encrypt(address.key)
            made = replace(
                made, provider=address.provider, base_url=address.base_url, model=address.model, sealed_key=sealed
            )
        made = await self._stored.write(made)
        await self.follow()
        return made

    async def fill_key(self, address: ModelAddress) -> ModelAddress:
        """With the key that is kept where none is given: for the same address alone, or anybody with the console could
        have it sent to a server of their own. Raises Conflict.
        """
        stored = await self._stored.read()
        if address.key or not stored.sealed_key:
            return address
        if address.base_url != stored.base_url:
            raise Conflict("换了接口地址，请重新填写密钥。", code="key_needed")
        return replace(address, key=self._sealer.decrypt(stored.sealed_key))

    async def test(self, address: ModelAddress) -> ConnectionTest:
        """Asks one short question. Raises Conflict."""
        address = await self.fill_key(address)
        options = ModelOptions(
            address.model,
            base_url=address.base_url,
            api_key=address.key or NO_KEY,
            silence=TEST_SECONDS,
            total=TEST_SECONDS,
            retries=0,
            max_tokens=128,
            profile=address.provider,
        )
        model = get_model("openai", options)
        started, first, reply, problem = time.perf_counter(), None, "", ""
        try:
            async with aclosing(model.stream([{"role": "user", "content": QUESTION}])) as pieces:
                async for piece in pieces:
                    if isinstance(piece, str):
                        first = first or _measure_since(started)
                        reply += piece
        except GenerationError as error:
            problem = _hide_key(address.key, str(error)) or type(error).__name__
        finally:
            await model.close()
        if not reply and not problem:
            problem = "没有回答"
        return ConnectionTest(reply[:MOST_REPLY], first, _measure_since(started), problem)

    async def follow(self) -> None:
        """Takes over what was changed since, here or in another process; costs one row where nothing was."""
        if self.environment_wins:
            return
        async with self._following:
            stored = await self._stored.read()
            if stored.version == self._version:
                return
            try:
                await self._take_over(self._build_settings(stored))
                self.problem = ""
            except Conflict as error:
                self.problem = str(error)
                logger.error("the connected model cannot be used: {}", error)
            self._version = stored.version

    def _build_settings(self, stored: StoredConnection) -> Settings:
        if not stored.base_url:
            return self._settings
        key = self._sealer.decrypt(stored.sealed_key) or NO_KEY
        chosen = {
            "llm_base_url": stored.base_url,
            "llm_model": stored.model,
            "llm_api_key": SecretStr(key),
            "llm_profile": stored.provider,
        }
        return self._settings.model_copy(update=chosen)


def _hide_key(key: str, text: str) -> str:
    """Replaces the key in a text, since some endpoints say back what they were shown."""
    return text.replace(key, "…") if key else text


def _measure_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
