from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from starlette.middleware import Middleware

from app.auth.principal import Principal, Role
from app.documents import jobs_api
from app.documents.api import router
from app.documents.bin import DocumentBin
from app.documents.jobs import DocumentJobs
from app.documents.limits import compute_max_bytes
from app.documents.repository_bin import BinRepository
from app.documents.repository_jobs import JobRepository
from app.documents.repository_queue import JobQueue
from app.documents.runner import JobRunner
from app.http.body import BodyMiddleware
from app.http.error_handlers import install_error_handlers
from app.idempotency.service import Retries
from knowledge.parsing.limits import ParsingLimits
from knowledge.stores.memory import MemoryIndex
from knowledge.types import IndexChange
from tests.app.documents.knowledge_base import KnowledgeBase, knowledge_base
from tests.app.limits.building import limits as no_limits

PATH = "/api/v1/knowledge/documents"
JOBS = "/api/v1/knowledge/jobs"
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
    limits = ParsingLimits(max_bytes=MAX_UPLOAD)
    async with knowledge_base(tmp_path, open_index=lambda _: index, wait_seconds=2, limits=limits) as base:
        yield base


@pytest.fixture
async def runner(base: KnowledgeBase) -> AsyncIterator[JobRunner]:
    runner = JobRunner(JobQueue(base.database), base.ingestion, base.indexer, alone=True)
    runner.start()
    yield runner
    await runner.close()


@pytest.fixture
def settings() -> SimpleNamespace:
    return SimpleNamespace(max_upload_bytes=MAX_UPLOAD, upload_wait=20.0)


async def carried_out(name: str, request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
    """In place of the audit log, which has tests of its own."""
    return await work()


@pytest.fixture
async def client(base: KnowledgeBase, runner: JobRunner, settings: SimpleNamespace) -> AsyncIterator[httpx.AsyncClient]:
    body = Middleware(BodyMiddleware, most=1024, larger={PATH: compute_max_bytes(MAX_UPLOAD)}, seconds=20.0)
    app = FastAPI(middleware=[body])
    for resource in (router, jobs_api.router):
        app.include_router(resource)
    app.state.container = SimpleNamespace(
        ingestion=base.ingestion,
        bin=DocumentBin(BinRepository(base.database), base.knowledge, base.ingestion, _days),
        documents=base.documents,
        versions=base.versions,
        document_jobs=DocumentJobs(JobRepository(base.database), runner.wake),
        settings=settings,
        retries=Retries(base.database),
        limits=no_limits(),
        audit=SimpleNamespace(run_and_record=carried_out),
        authenticator=SimpleNamespace(authenticate=AsyncMock(return_value=Principal("t", frozenset(Role)))),
    )
    install_error_handlers(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


async def _days(tenant: str) -> int:
    return 30


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
        ("库.mdb", b"\x00\x01", 415, "unsupported_type"),
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
    assert await base.feed.load_heads() == {}


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
    response = await upload(client, ("空.md", b""), ("库.mdb", b"\x00\x01"))
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
    assert sent < 2 * compute_max_bytes(MAX_UPLOAD)
    declared = await upload(client, ("大.txt", b"x" * compute_max_bytes(MAX_UPLOAD)))
    assert declared.status_code == 413
    assert await base.feed.load_heads() == {}


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
    assert await base.feed.load_heads() == {}


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


async def test_what_does_not_answer_yet_is_a_job_that_goes_on(
    client: httpx.AsyncClient, index: SlowIndex, settings: SimpleNamespace, runner: JobRunner
) -> None:
    index.stuck, settings.upload_wait = True, 0.5
    response = await upload(client, RETURNS)
    assert (response.status_code, response.json()["job"]["status"]) == (202, "running")
    job = response.headers["location"]
    file = await until(client, job, "indexing")
    detail = (await client.get(f"{PATH}/{file['document_id']}")).json()
    assert detail["document"]["status"] == "indexing"
    index.stuck = False
    assert (await until(client, job, "ready"))["outcome"] == "created"
    assert (await client.get(job)).json()["job"]["eta_seconds"] == 0


async def test_an_upload_is_listed_and_cancelled(
    client: httpx.AsyncClient, settings: SimpleNamespace, runner: JobRunner, base: KnowledgeBase
) -> None:
    await runner.close()
    settings.upload_wait = 0.0
    response = await upload(client, RETURNS, ("空.md", b""))
    assert (response.status_code, response.json()["job"]["status"]) == (202, "queued")
    (listed,) = (await client.get(JOBS, params={"unfinished": True})).json()["items"]
    assert (listed["id"], listed["counts"], listed["eta_seconds"]) == (
        response.json()["job"]["id"],
        {"queued": 2},
        None,
    )
    cancelled = (await client.post(f"{JOBS}/{listed['id']}/cancel")).json()
    assert (cancelled["job"]["status"], cancelled["job"]["counts"]) == ("cancelled", {"cancelled": 2})
    assert (await client.get(JOBS, params={"unfinished": True})).json()["total"] == 0
    missing = await client.get(f"{JOBS}/nothing")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "job_not_found")
    assert await base.feed.load_heads() == {}


async def test_one_name_in_two_folders_is_two_documents_and_a_replacement_is_named(client: httpx.AsyncClient) -> None:
    names = [("政策.md", "北区三天发货。".encode()), ("政策.md", "南区五天发货。".encode())]
    files = (await upload(client, *names, paths=["北区/政策.md", "南区\\"])).json()["files"]
    assert [(file["path"], file["outcome"], file["previous"]) for file in files] == [
        ("北区/政策.md", "created", None),
        ("南区/政策.md", "created", None),
    ]
    (again,) = (await upload(client, ("政策.md", "南区一天发货。".encode()), paths="南区/政策.md")).json()["files"]
    assert (again["outcome"], again["document_id"]) == ("updated", files[1]["document_id"])
    assert (again["previous"]["version"], again["previous"]["revision"]) == (1, files[1]["revision"])
    listed = (await client.get(PATH, params={"folder": "南区/"})).json()
    assert [(item["path"], item["version"]) for item in listed["items"]] == [("南区/政策.md", 2)]


async def test_an_external_id_names_a_document_whatever_its_path(client: httpx.AsyncClient) -> None:
    first = (await upload(client, RETURNS, external_ids="kb-1", urls="https://example.com/r")).json()["files"][0]
    moved = await upload(client, ("新名.md", RETURNS[1]), external_ids="kb-1", paths="售后/新名.md")
    file = moved.json()["files"][0]
    assert (file["outcome"], file["document_id"], file["previous"]["path"]) == (
        "updated",
        first["document_id"],
        "退货.md",
    )
    (item,) = (await client.get(PATH, params={"external_id": "kb-1"})).json()["items"]
    assert (item["name"], item["folder"], item["url"], item["version"]) == (
        "新名.md",
        "售后",
        "https://example.com/r",
        1,
    )


async def test_fields_that_do_not_fit_are_refused(client: httpx.AsyncClient, base: KnowledgeBase) -> None:
    for data in (
        {"paths": ["a/退货.md", "b/退货.md"]},
        {"external_ids": ["1", "2"]},
        {"urls": "javascript:alert(1)"},
        {"urls": "https://me:pw@example.com/r"},
        {"valid_from": "2026-12-01"},
    ):
        response = await upload(client, RETURNS, **data)
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request"), data
    never = {"valid_from": "2026-12-01T00:00:00+08:00", "valid_until": "2026-11-01T00:00:00+08:00"}
    response = await upload(client, RETURNS, **never)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "never_valid")
    assert await base.feed.load_heads() == {}


async def test_a_path_that_leads_elsewhere_is_refused(client: httpx.AsyncClient) -> None:
    for folder in ("..", "北区/../..", "x" * 501, "a/" * 21, "a\n"):
        response = await upload(client, RETURNS, paths=f"{folder}/退货.md")
        assert (response.status_code, response.json()["error"]["code"]) == (400, "hostile_document"), folder


async def test_labels_change_without_the_document_being_read_again(
    client: httpx.AsyncClient, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{PATH}/{(await upload(client, RETURNS, category='旧')).json()['files'][0]['document_id']}"
    monkeypatch.setattr(base.embedder, "_encode", None)
    monkeypatch.setattr(base.ingestor, "prepare", None)
    changes = {"category": "售后", "tags": ["官方"], "url": "https://example.com/r", "folder": "政策/退换"}
    response = await client.patch(path, json=changes)
    document = response.json()["document"]
    assert (response.status_code, document["status"], document["version"]) == (200, "ready", 1)
    assert {name: document[name] for name in changes} == changes
    snapshot = (await base.indexer.index("t")).get_snapshot()
    assert {snapshot.get_chunk(chunk_id).document.category for chunk_id in snapshot.list_ids()} == {"售后"}
    assert (await client.get(PATH, params={"tag": "官方"})).json()["total"] == 1
    for wrong in (
        {"url": "ftp://x"},
        {"url": "https://a@b.com"},
        {"url": "\u0084"},
        {"valid_from": "2026-12-01"},
        {"name": "x"},
    ):
        assert (await client.patch(path, json=wrong)).status_code == 422
    refused = await client.patch(path, json={"folder": "../x"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "unsafe_path")
    assert (await client.get(PATH, params={"folder": "../x"})).status_code == 403
    assert (await client.patch(f"{PATH}/nothing", json={})).status_code == 404


async def test_a_document_out_of_its_validity_is_not_found(client: httpx.AsyncClient, base: KnowledgeBase) -> None:
    path = f"{PATH}/{(await upload(client, RETURNS)).json()['files'][0]['document_id']}"
    ended = await client.patch(path, json={"valid_until": "2020-01-01T00:00:00+08:00"})
    assert (ended.json()["document"]["valid"], await base.found("t", "无理由退货")) == (False, [])
    assert (await client.patch(path, json={"valid_until": None})).json()["document"]["valid"]
    assert await base.found("t", "无理由退货") == ["退货.md"]


async def test_a_document_does_not_move_onto_another(client: httpx.AsyncClient) -> None:
    contents = [("a.md", b"one page"), ("a.md", b"another page")]
    files = (await upload(client, *contents, paths=["甲/a.md", "乙/a.md"])).json()["files"]
    response = await client.patch(f"{PATH}/{files[0]['document_id']}", json={"folder": "乙"})
    assert (response.status_code, response.json()["error"]["code"]) == (409, "path_taken")


async def test_the_original_is_for_saving_and_the_chunks_are_paged(client: httpx.AsyncClient) -> None:
    page = ("页.html", "<h1>退货</h1><p>七天内可以退货。</p><script>alert(1)</script>".encode())
    path = f"{PATH}/{(await upload(client, page)).json()['files'][0]['document_id']}"
    original = await client.get(f"{path}/original")
    assert (original.content, original.headers["content-type"]) == (page[1], "application/octet-stream")
    assert original.headers["content-disposition"] == "attachment; filename*=UTF-8''%E9%A1%B5.html"
    assert original.headers["x-content-type-options"] == "nosniff"
    assert (await client.get(f"{path}/original", params={"version": 2})).status_code == 404
    chunks = (await client.get(f"{path}/chunks", params={"limit": 1})).json()
    assert ("七天内可以退货" in chunks["items"][0]["text"], chunks["total"]) == (True, 1)
    assert (await client.get(f"{path}/chunks", params={"offset": 1})).json()["items"] == []
    for text, total in (("可以退货", 1), ("换货", 0), ("%", 0)):
        assert (await client.get(f"{path}/chunks", params={"q": text})).json()["total"] == total
    assert (await client.get(f"{PATH}/nothing/chunks")).status_code == 404


async def until(client: httpx.AsyncClient, job: str, state: str) -> dict[str, Any]:
    """The one file of a job once it is in that state."""
    async with asyncio.timeout(60):
        while True:
            (file,) = (await client.get(job)).json()["files"]
            if file["status"] == state:
                return dict(file)
            await asyncio.sleep(0.05)
