"""`python -m app`: the server."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from contextlib import suppress

import uvicorn
from fastapi import FastAPI

from app.auth.principal import require_safe_binding
from app.chat.turn_response import DRAIN_SECONDS
from app.db.schema_state import require_whole
from app.errors import DatabaseDamaged
from app.http.docs import is_documented
from app.http.server import build_server_config
from app.keys.repository import has_valid_key
from app.logging import configure_logging
from app.main import create_app
from app.private import keep_private
from app.settings import load_settings
from app.wiring.container import Container
from knowledge.errors import InvalidConfiguration

# How long requests may go on after the signal to stop; streams are told to end before that.
GRACE_SECONDS = int(DRAIN_SECONDS) + 5

_EXAMPLE = '{"message": "怎么申请退货"}'


class ProductServer(uvicorn.Server):
    """Tells people where to go once it answers, and streams to end once it stops."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, *, has_key: bool) -> None:
        super().__init__(config)
        self._app = app
        self._has_key = has_key
        self._greeting: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.freeze()  # else the collection below looks through all that was imported: 0.15 s in which nobody is answered
        if self.started:
            self._greeting = asyncio.create_task(self._print_address())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._container.startup.draining.set()
        if self._greeting is not None:
            self._greeting.cancel()
        await super().shutdown(sockets)

    @property
    def _container(self) -> Container:
        container: Container = self._app.state.container
        return container

    async def _print_address(self) -> None:
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        await self._container.startup.serving.wait()
        if indexing := self._container.base.indexing:
            print(f"正在为知识库的 {indexing.total} 个片段计算向量，其间只凭关键词回答：{address}", flush=True)
        await self._container.startup.ready.wait()
        _freeze_collector()
        docs = f"，接口文档 {address}/docs" if await is_documented(self._container) else ""
        print(f"应答已就绪：{address}（向量模型 {self._container.base.embedder.title}{docs}）")
        if self._container.settings.web_enabled:
            print(f"打开 {address} 就能聊")
        key = " -H 'Authorization: Bearer 您的密钥'" if self._has_key else ""
        example = f"""curl -s {address}/api/v1/chat{key} -H 'Content-Type: application/json' -d '{_EXAMPLE}'"""
        print(f"试一试：{example}", flush=True)


def _freeze_collector() -> None:
    """Dictionaries and indexes stay for good: looking through them again and again cost a cached turn 200 µs."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def run_server() -> int:
    """Runs until a signal stops it. Exit code 2 for a configuration that cannot work."""
    try:
        settings = load_settings()
        require_whole(settings.sql_url)
        has_key = bool(settings.api_key.get_secret_value()) or asyncio.run(has_valid_key(settings.sql_url))
        require_safe_binding(settings.host, has_key=has_key)
    except (InvalidConfiguration, DatabaseDamaged) as error:
        print(error, file=sys.stderr)
        return 2
    try:
        configure_logging(settings.log_level, file=settings.log)
    except OSError as error:
        print(f"LOG_FILE={settings.log_file} 不能写：{error.strerror}，请换一个路径", file=sys.stderr)
        return 2
    keep_private(settings.data_dir)
    app = create_app(settings)
    config = build_server_config(app, settings, access_log=False, timeout_graceful_shutdown=GRACE_SECONDS)
    server = ProductServer(config, app, has_key=has_key)
    with suppress(KeyboardInterrupt):
        server.run()
    return 0 if server.started else 3


if __name__ == "__main__":
    raise SystemExit(run_server())
