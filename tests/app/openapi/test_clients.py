"""Clients that others' generators make of the document work against the service."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.openapi.document import document
from tests.app.openapi.story import events
from tests.app.serving import Served, served

QUESTION = "退货运费谁出"


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document(), ensure_ascii=False), "utf-8")
    return path


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path / "data") as server:
        yield server


def generated(folder: Path, tool: str, *options: str) -> str:
    """What the generator says."""
    done = subprocess.run([sys.executable, "-m", tool, *options], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_a_generated_client_chats_lists_and_reads_errors(
    tmp_path: Path, schema: Path, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("post_hooks: []\n", "utf-8")
    said = generated(
        tmp_path,
        "openapi_python_client",
        *("generate", "--path", str(schema), "--meta", "none", "--output-path", "yingda_client"),
        *("--config", str(config), "--fail-on-warning"),
    )
    assert "Warning" not in said
    monkeypatch.syspath_prepend(str(tmp_path))

    def module(name: str) -> Any:
        return importlib.import_module(f"yingda_client.{name}")

    models = module("models")
    async with module("client").Client(base_url=server.address) as client:
        asked = models.ChatRequest(message=QUESTION, session_id="c-1")
        answer = await module("api.chat.chat").asyncio(client=client, body=asked)
        assert isinstance(answer, models.ChatResponse)
        assert (answer.session_id, answer.outcome) == ("c-1", models.Outcome.NO_EVIDENCE)
        listed = await module("api.conversations.list_conversations").asyncio(client=client)
        assert [item.session_id for item in listed.conversations] == ["c-1"]
        streamed = await module("api.chat.chat_stream").asyncio(client=client, body=asked)
        assert events(streamed)[-1][0] == "done"
        missing = await module("api.tickets.read_ticket").asyncio(number="TK0", client=client)
        assert isinstance(missing, models.ErrorBody)
        assert missing.error.code == "ticket_not_found"
        files = [module("types").File(payload=b"# \xe9\x80\x80\xe8\xb4\xa7", file_name="退货.txt")]
        body = models.UploadDocumentsBody(files=files)
        taken = await module("api.documents.upload_documents").asyncio(client=client, body=body)
        assert [report.name for report in taken.files] == ["退货.txt"]


@pytest.mark.acceptance(only=True)
async def test_generated_models_read_answers_events_and_completions(
    tmp_path: Path, schema: Path, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    generated(
        tmp_path,
        "datamodel_code_generator",
        *("--input", str(schema), "--input-file-type", "openapi", "--output", "yingda_models.py"),
        *("--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin"),
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    models: Any = importlib.import_module("yingda_models")
    asked = models.ChatRequest(message=QUESTION).model_dump(mode="json", exclude_none=True)
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as http:
        answer = models.ChatResponse.model_validate_json((await http.post("/api/v1/chat", json=asked)).content)
        assert answer.outcome is models.Outcome.no_evidence
        told = events((await http.post("/api/v1/chat/stream", json=asked)).text)
        read = [models.ChatEvent.model_validate(data).root for _, data in told]
        assert [type(event).__name__ for event in read if event.type != "token"] == ["MetaEvent", "DoneEvent"]
        listed = (await http.get("/api/v1/conversations")).content
        assert len(models.ConversationList.model_validate_json(listed).conversations) == 2
        body = {"model": "yingda", "messages": [{"role": "user", "content": QUESTION}]}
        completed = await http.post("/v1/chat/completions", json=body)
        assert models.Completion.model_validate_json(completed.content).yingda.outcome is answer.outcome
