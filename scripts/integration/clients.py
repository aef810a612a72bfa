"""Clients that two common generators make of the server's own OpenAPI document are imported, and call it."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from scripts.harness.checks import Report
from scripts.harness.servers import Target, run_product
from scripts.integration.base import Room

QUESTION = "退货运费谁出"
CLIENT, MODELS = "integrator_client", "integrator_models"


def run_clients(room: Room, checks: Report) -> None:
    """Generates both clients and calls the server with them."""
    with run_product(room.folder / "clients", keys=False, LOG_LEVEL="ERROR") as target, _make_importable(room.folder):
        schema = room.folder / "openapi.json"
        schema.write_bytes(httpx.get(f"{target.address}/openapi.json", trust_env=False).raise_for_status().content)
        config = room.folder / "config.yaml"
        config.write_text("post_hooks: []\n", "utf-8")
        options = [
            "generate",
            "--path",
            str(schema),
            "--meta",
            "none",
            "--output-path",
            CLIENT,
            "--config",
            str(config),
        ]
        done = _run_generator(room.folder, "openapi_python_client", *options, "--fail-on-warning")
        checks.check(done.returncode == 0, "clients: openapi-python-client makes one", _read_last_words(done))
        if done.returncode == 0:
            asyncio.run(_check_client(target, checks))
        options = ["--input", str(schema), "--input-file-type", "openapi", "--output", f"{MODELS}.py"]
        style = ["--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin"]
        done = _run_generator(room.folder, "datamodel_code_generator", *options, *style)
        checks.check(done.returncode == 0, "clients: datamodel-codegen makes models", _read_last_words(done))
        if done.returncode == 0:
            asyncio.run(_check_models(target, checks))


async def _check_client(target: Target, checks: Report) -> None:
    models = _import_made(f"{CLIENT}.models")
    async with _import_made(f"{CLIENT}.client").Client(base_url=target.address) as client:
        asked = models.ChatRequest(message=QUESTION, session_id="c-1")
        answer = await _import_made(f"{CLIENT}.api.chat.chat").asyncio(client=client, body=asked)
        chatted = isinstance(answer, models.ChatResponse) and bool(answer.reply)
        checks.check(chatted, "clients: the client chats", answer.outcome)
        listed = await _import_made(f"{CLIENT}.api.conversations.list_conversations").asyncio(client=client)
        ids = [item.session_id for item in listed.conversations]
        checks.check(ids == ["c-1"], "clients: the client lists", len(ids))
        missing = await _import_made(f"{CLIENT}.api.tickets.read_ticket").asyncio(number="TK0", client=client)
        checks.check(isinstance(missing, models.ErrorBody), "clients: the client reads an error", missing.error.code)


async def _check_models(target: Target, checks: Report) -> None:
    models = _import_made(MODELS)
    async with target.open_client() as http:
        asked = models.ChatRequest(message=QUESTION).model_dump(mode="json", exclude_none=True)
        answer = models.ChatResponse.model_validate_json((await http.post("/api/v1/chat", json=asked)).content)
        checks.check(bool(answer.reply), "clients: the models read an answer", answer.outcome.value)
        listed = models.ConversationList.model_validate_json((await http.get("/api/v1/conversations")).content)
        ids = [item.session_id for item in listed.conversations]
        checks.check(answer.session_id in ids, "clients: the models read a list", len(ids))


def _run_generator(folder: Path, tool: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", tool, *options], cwd=folder, capture_output=True, text=True, check=False
    )


def _read_last_words(done: subprocess.CompletedProcess[str]) -> str:
    """What a generator that failed said last."""
    return "" if done.returncode == 0 else (done.stderr.strip() or done.stdout.strip())[-200:]


def _import_made(name: str) -> Any:
    return importlib.import_module(name)


@contextmanager
def _make_importable(folder: Path) -> Iterator[None]:
    """Lets modules in the folder be imported until the end of the block, and forgets them then."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] in (CLIENT, MODELS)]:
            del sys.modules[name]
