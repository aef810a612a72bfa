"""A server that answers about returns, and a way to ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.wiring.container import Container

DOCUMENT = "# 退货\n\n质量问题的退货运费由商城承担。\n\n## 时间\n\n退款在验货后五个工作日内原路退回。"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
def container(app: FastAPI) -> Container:
    found: Container = app.state.container
    return found


@pytest.fixture
async def http(app: FastAPI, container: Container) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        await client.post("/api/v1/knowledge/documents", params={"wait": 60}, files=[("files", ("退货.md", DOCUMENT))])
        await container.startup.ready.wait()
        await container.base.wait_until_settled()
        await (await container.tenants.get_parts("default")).retriever.calibrate()
        yield client
