from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest
from fastapi import FastAPI
from starlette.middleware import Middleware

from app.api.documents import max_bytes, router
from app.api.error_handlers import install_error_handlers
from app.auth.principal import Principal, Role
from app.http.body import BodyMiddleware
from knowledge.parsing.limits import Limits
from knowledge.stores.memory import MemoryIndex
from knowledge.types import IndexChange
from tests.app.knowledge_base import KnowledgeBase, knowledge_base
from tests.app.limits import limits as no_limits

PATH = "/api/v1/knowledge/documents"
MAX_UPLOAD = 4096
RETURNS = ("退货.md", "# 退货说明\n\n签收后七天内可以无理由退货。".encode())
WARRANTY = ("保修.txt", "路由器整机保修三年。".encode())


class SlowIndex(MemoryIndex):
    """The in-memory index, which can refuse to move."""

    stuck = False

    async def apply(self, change: IndexChange) -> None:
        if self.stuck:
            raise RuntimeError("stuck")
        await super().apply(change)


@pytest.fixture
def index() -> SlowIndex:
    return SlowIndex()


@pytest.fixture
async def base(tmp_path: Path, index: SlowIndex) -> AsyncIterator[KnowledgeBase]:
    limits = Limits(max_bytes=MAX_UPLOAD)
    async with knowledge_base(tmp_path, open_index=lambda _: index, wait_seconds=2, limits=limits) as base:
        yield base


@pytest.fixture
async def client(base: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    body = Middleware(BodyMiddleware, most=1024, larger={PATH: max_bytes(MAX_UPLOAD)}, seconds=20.0)
    app = FastAPI(middleware=[body])
    app.include_router(router)
    app.state.container = SimpleNamespace(
        ingestion=base.ingestion,
        documents=base.documents,
        settings=SimpleNamespace(max_upload_bytes=MAX_UPLOAD),
        limits=no_limits(),
        keys=SimpleNamespace(authenticate=AsyncMock(return_value=Principal("t", frozenset(Role)))),
    )
    install_error_handlers(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


async def upload(client: httpx.AsyncClient, *files: tuple[str, bytes], **data: Any) -> httpx.Response:
    return await client.post(PATH, files=[("files", file) for file in files], data=data)


async def test_an_upload_answers_when_it_is_acknowledged(client: httpx.AsyncClient, base: KnowledgeBase) -> None:
    response = await upload(client, RETURNS, WARRANTY, category="售后", tags=["官方，常用", "常用"])
    assert response.status_code == 201
    files = response.json()["files"]
    assert [(file["name"], file["outcome"], file["status"]) for file in files] == [
        ("退货.md", "created", "ready"),
        ("保修.txt", "created", "ready"),
    ]
    assert await base.found("t", "无理由退货") == ["退货.md"]
    detail = (await client.get(f"{PATH}/{files[0]['document_id']}")).json()
    document = detail["document"]
    assert (document["title"], document["category"], document["tags"]) == ("退货说明", "售后", ["官方", "常用"])
    assert (document["status"], document["chunks"]) == ("ready", 1)
    assert [version["version"] for version in detail["versions"]] == [1]


async def test_the_same_upload_again_is_unchanged(client: httpx.AsyncClient) -> None:
    first = (await upload(client, RETURNS)).json()["files"][0]
    again = await upload(client, RETURNS)
    assert again.status_code == 201
    assert again.json()["files"][0]["outcome"] == "unchanged"
    assert again.json()["files"][0]["document_id"] == first["document_id"]
    assert (await client.get(PATH)).json()["total"] == 1


@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("空.md", b"", 422, "empty_document"),
        ("图.png", b"\x89PNG\r\n", 415, "unsupported_type"),
        ("坏.pdf", b"%PDF-1.7 nothing else", 422, "broken_document"),
        ("坏.docx", b"PK\x03\x04 broken", 422, "broken_document"),
        ("零.txt", b"a\x00b" * 50, 400, "hostile_document"),
        ("大.txt", "大".encode() * MAX_UPLOAD, 413, "document_too_large"),
    ],
)
async def test_a_bad_file_gets_its_own_code_and_changes_nothing(
    client: httpx.AsyncClient, base: KnowledgeBase, name: str, content: bytes, status: int, code: str
) -> None:
    response = await upload(client, (name, content))
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code)
    assert name in error["message"]
    assert await base.feed.heads() == {}


async def test_the_columns_of_a_table_are_reported_and_can_be_named(client: httpx.AsyncClient) -> None:
    file = ("问答.csv", "场景,口径,客户问题,客服答复\n退货,七天,多久能退？,七天内可以退。".encode())
    (report,) = (await upload(client, file)).json()["files"]
    (notice,) = report["notices"]
    assert (notice["code"], notice["pages"]) == ("faq_columns", [])
    assert "「客户问题」" in notice["message"]
    columns = {"question_column": "场景", "answer_column": "口径"}
    (report,) = (await upload(client, file, **columns)).json()["files"]
    assert report["outcome"] == "updated"
    assert "「场景」" in report["notices"][0]["message"]
    assert (await upload(client, file, question_column="场景")).status_code == 400


async def test_a_batch_reports_each_file(client: httpx.AsyncClient) -> None:
    response = await upload(client, ("空.md", b""), RETURNS)
    assert response.status_code == 201
    empty, returns = response.json()["files"]
    assert (empty["status"], empty["error"]["code"]) == ("failed", "empty_document")
    assert "空.md" in empty["error"]["message"]
    assert (returns["status"], returns["error"]) == ("ready", None)


async def test_a_batch_of_bad_files_is_an_error_that_names_each(client: httpx.AsyncClient) -> None:
    response = await upload(client, ("空.md", b""), ("图.png", b"\x89PNG"))
    assert response.status_code == 422
    files = response.json()["error"]["details"]["files"]
    assert [file["error"]["code"] for file in files] == ["empty_document", "unsupported_type"]


async def test_a_body_over_the_limit_is_refused_before_it_is_read(
    client: httpx.AsyncClient, base: KnowledgeBase
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
        for _ in range(10_000):
            sent += 1024
            yield b"x" * 1024

    headers = {"content-type": "multipart/form-data; boundary=b"}
    response = await client.post(PATH, content=endless(), headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "payload_too_large")
    assert sent < 2 * max_bytes(MAX_UPLOAD)
    declared = await upload(client, ("大.txt", b"x" * max_bytes(MAX_UPLOAD)))
    assert declared.status_code == 413
    assert await base.feed.heads() == {}


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"{}", "application/json"),
        (b"nonsense", "multipart/form-data; boundary=b"),
        (b"nonsense", "multipart/form-data"),
        (
            b'--b\r\nContent-Disposition: form-data; name="files"\r\n\r\ntext\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
    ],
)
async def test_a_body_without_files_is_an_invalid_request(
    client: httpx.AsyncClient, content: bytes, content_type: str
) -> None:
    response = await client.post(PATH, content=content, headers={"content-type": content_type})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")


async def test_labels_out_of_bounds_are_refused(client: httpx.AsyncClient, base: KnowledgeBase) -> None:
    for data in ({"category": "长" * 101}, {"tags": "长" * 51}, {"tags": ",".join(map(str, range(21)))}):
        response = await upload(client, RETURNS, **data)
        assert response.json()["error"]["code"] == "invalid_request"
    assert await base.feed.heads() == {}


async def test_documents_are_listed_by_page_and_category(client: httpx.AsyncClient) -> None:
    await upload(client, RETURNS, category="售后")
    await upload(client, WARRANTY, category="产品")
    page = (await client.get(PATH, params={"limit": 1})).json()
    assert ([item["name"] for item in page["items"]], page["total"]) == (["保修.txt"], 2)
    page = (await client.get(PATH, params={"category": "售后"})).json()
    assert ([item["name"] for item in page["items"]], page["total"]) == (["退货.md"], 1)


async def test_a_deleted_document_is_gone(client: httpx.AsyncClient, base: KnowledgeBase) -> None:
    path = f"{PATH}/{(await upload(client, RETURNS)).json()['files'][0]['document_id']}"
    assert (await client.delete(path)).status_code == 204
    assert await base.found("t", "无理由退货") == []
    assert (await client.get(path)).status_code == 404
    missing = await client.delete(path)
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")


async def test_what_does_not_answer_yet_is_accepted_but_not_acknowledged(
    client: httpx.AsyncClient, index: SlowIndex
) -> None:
    index.stuck = True
    response = await upload(client, RETURNS)
    assert response.status_code == 202
    file = response.json()["files"][0]
    assert file["status"] == "indexing"
    detail = (await client.get(f"{PATH}/{file['document_id']}")).json()
    assert detail["document"]["status"] == "indexing"
