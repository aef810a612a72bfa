from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy.exc import OperationalError

from agents.errors import AgentError, GenerationUnavailable
from app.errors import STATUS, AppError, NotFound, describe, find_outage, find_status
from app.http.context import RequestContextMiddleware
from app.http.error_handlers import install_error_handlers
from app.http.statuses import Statuses
from knowledge.errors import (
    EmbeddingUnavailable,
    EncryptedDocument,
    InvalidConfiguration,
    InvalidDocument,
    KnowledgeError,
    NotCalibrated,
)


def tree(base: type[Exception]) -> Iterator[type[Exception]]:
    """The error classes of the product below a base, itself included."""
    yield base
    for child in base.__subclasses__():
        if child.__module__.split(".")[0] in ("app", "agents", "knowledge"):
            yield from tree(child)


ALL = [error for base in (AppError, AgentError, KnowledgeError) for error in tree(base)]


@pytest.mark.parametrize("error", ALL)
def test_every_error_class_has_a_status_of_its_own(error: type[Exception]) -> None:
    assert error in STATUS


@pytest.mark.parametrize("error", ALL)
def test_every_error_is_described_to_people_in_chinese_with_a_stable_code(error: type[Exception]) -> None:
    raised = error("文件.pdf", "打不开") if issubclass(error, InvalidDocument) else error("出错了")
    description = describe(raised)
    assert 400 <= description.status < 600
    assert description.code.replace("_", "").isalpha() and description.code == description.code.lower()
    assert any("一" <= character <= "龥" for character in description.message)


def test_messages_for_the_log_do_not_reach_people() -> None:
    for error in (EmbeddingUnavailable("onnx: /root/x"), InvalidConfiguration("DATABASE_URL=secret"), OSError("/etc")):
        assert str(error) not in describe(error).message
    assert describe(OSError("x")).code == "internal_error"


def test_outages_can_be_tried_again() -> None:
    for error in (EmbeddingUnavailable(), NotCalibrated(), GenerationUnavailable()):
        assert find_status(error) == 503


class Body(BaseModel):
    number: int


def client() -> httpx.AsyncClient:
    app = FastAPI()
    app.add_middleware(RequestContextMiddleware, statuses=Statuses())
    install_error_handlers(app)

    @app.get("/missing")
    async def missing() -> None:
        raise NotFound("没有这篇文档", document_id="d1")

    @app.get("/document")
    async def document() -> None:
        raise EncryptedDocument("合同.pdf", "需要密码")

    @app.get("/bug")
    async def bug() -> None:
        raise ZeroDivisionError("secret detail")

    @app.post("/body")
    async def body(body: Body) -> None:
        pass

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/missing", 404, "not_found"),
        ("GET", "/document", 422, "encrypted_document"),
        ("GET", "/bug", 500, "internal_error"),
        ("GET", "/nowhere", 404, "not_found"),
        ("DELETE", "/missing", 405, "method_not_allowed"),
        ("POST", "/body", 422, "invalid_request"),
        ("GET", "/missing%00", 404, "not_found"),
        ("GET", "/missing?user=a%00b", 400, "invalid_request"),
    ],
)
async def test_every_failure_has_the_same_body_and_the_request_id(
    method: str, path: str, status: int, code: str
) -> None:
    async with client() as http:
        response = await http.request(method, path, headers={"X-Request-ID": "abc-1"})
    assert response.status_code == status
    assert response.headers["x-request-id"] == "abc-1"
    error = response.json()["error"]
    assert set(error) == {"code", "message", "details", "request_id"}
    assert (error["code"], error["request_id"]) == (code, "abc-1")
    assert "secret" not in response.text


async def test_a_wrong_field_is_named_and_its_value_is_not_repeated() -> None:
    async with client() as http:
        error = (await http.post("/body", json={"number": "13812345678x"})).json()["error"]
    assert error["details"]["fields"] == [{"field": "number", "problem": "应为整数"}]
    assert "13812345678" not in str(error)


async def test_a_request_id_that_looks_like_none_is_replaced() -> None:
    async with client() as http:
        response = await http.get("/missing", headers={"X-Request-ID": "a b;c"})
    assert response.headers["x-request-id"] != "a b;c"
    assert response.json()["error"]["request_id"] == response.headers["x-request-id"]


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("a driver's words")
    error.sqlite_errorcode = code
    return error


FULL, LOCKED = sqlite_error(sqlite3.SQLITE_FULL), sqlite_error(sqlite3.SQLITE_BUSY_RECOVERY)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FULL, "storage_full"),
        (LOCKED, "database_busy"),
        (OperationalError("INSERT", {}, FULL), "storage_full"),
        (OperationalError("INSERT", {}, LOCKED), "database_busy"),
        (OSError(errno.ENOSPC, "No space left on device"), "storage_full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "storage_full"),
    ],
    ids=str,
)
def test_a_full_disk_and_a_lock_are_outages_wherever_they_are_met(error: Exception, code: str) -> None:
    description = describe(error)
    assert (description.status, description.code) == (503, code)
    assert int(description.headers["Retry-After"]) > 0
    assert "driver" not in description.message


@pytest.mark.parametrize("error", [sqlite_error(sqlite3.SQLITE_IOERR_READ), OSError(errno.EACCES, "no"), KeyError()])
def test_what_does_not_pass_by_itself_is_no_outage(error: Exception) -> None:
    assert find_outage(error) is None
    assert describe(error).code == "internal_error"
