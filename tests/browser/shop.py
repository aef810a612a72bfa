"""A company that embeds the widget in its shop: a server with keys, a model behind it, and the shop's own site."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import httpx

from scripts.scripted_llm import ScriptedLLM
from tests.browser.serving import ROOT, serving
from tests.browser.site import Site, serving_site

ADMIN = "yd-admin-of-the-shop-in-the-tests"
DOCUMENT = "# 降噪耳机说明\n\n## 充电\n\n降噪耳机充满电需要 90 分钟，充满后可以连续使用 30 小时，请使用附带的数据线。\n"


@dataclass(frozen=True, slots=True)
class Shop:
    """server: its address. key: a client key for the site. admin: the API as the administrator."""

    server: str
    key: str
    site: Site
    llm: ScriptedLLM
    admin: httpx.Client


@contextmanager
def open_shop(folder: Path) -> Iterator[Shop]:
    """Answers from one document by a scripted model."""
    with (
        scripted() as llm,
        serving_site() as site,
        serving(
            folder, API_KEY=ADMIN, SAMPLES_ENABLED="false", LLM_BASE_URL=llm.base_url, LLM_API_KEY="sk-test"
        ) as server,
        httpx.Client(base_url=f"{server}/api/v1", headers={"X-API-Key": ADMIN}, timeout=60) as admin,
    ):
        upload(admin, "降噪耳机说明.md", DOCUMENT)
        assert admin.post("/chat", json={"message": "充满电要多久"}).is_success  # it learns at the first turn
        yield Shop(server, client_key(folder, site.address), site, llm, admin)


def upload(admin: httpx.Client, name: str, text: str) -> None:
    """Returns once it answers."""
    response = admin.post("/knowledge/documents", files={"files": (name, text.encode(), "text/markdown")})
    assert response.status_code in (201, 202), response.text
    job = response.json()["job"]
    while job["status"] == "running":
        time.sleep(0.2)
        job = admin.get(f"/knowledge/jobs/{job['id']}").json()["job"]


def client_key(folder: Path, origin: str) -> str:
    """A new client key for the pages of that origin."""
    command = [sys.executable, str(ROOT / "scripts" / "keys.py"), "create", "--role", "client", "--name", "shop"]
    environment = os.environ | {"DATA_DIR": str(folder)}
    created = subprocess.run(
        [*command, "--origin", origin], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return next(word for word in created.stdout.split() if word.startswith("yd-"))


@contextmanager
def scripted() -> Iterator[ScriptedLLM]:
    """A scripted model in a thread of its own."""
    llm, ready = ScriptedLLM(token_delay=0.01), Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        await llm.start()
        ready.set()

    thread = Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(serve(), loop)
    ready.wait(10)
    try:
        yield llm
    finally:
        asyncio.run_coroutine_threadsafe(llm.close(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
