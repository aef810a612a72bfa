"""The one file of a request."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response

from app.http.error_handlers import install_error_handlers
from app.http.forms import read_sent_file, read_sent_upload

TABLE = "问题,答案\n运费谁出,商家\n".encode("gbk")

CUT_OFF = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n--b'


@pytest.fixture
def http() -> httpx.AsyncClient:
    app = FastAPI()
    install_error_handlers(app)

    @app.post("/")
    async def take(request: Request) -> Response:
        return Response(await read_sent_file(request))

    @app.post("/named")
    async def take_named(request: Request) -> Response:
        name, content = await read_sent_upload(request)
        return Response(name.encode() + content)

    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


@pytest.mark.parametrize("content", [TABLE, b"", b"\0" * 2_000_000], ids=["table", "empty", "kept on disk"])
async def test_a_form_and_the_bytes_themselves_are_the_same_file(http: httpx.AsyncClient, content: bytes) -> None:
    form = {"files": {"file": ("表格.csv", content)}, "data": {"note": "x"}}
    for sent in (form, {"content": content}, {"content": content, "headers": {"Content-Type": "text/csv"}}):
        assert (await http.post("/", **sent)).content == content


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"files": {"files": ("a.csv", TABLE)}}, "file 字段"),
        ({"files": {"x": ("a.csv", TABLE)}, "data": {"file": "a,b"}}, "file 字段"),
        ({"files": [("file", ("a.csv", TABLE)), ("file", ("b.csv", TABLE))]}, "一次最多 1 个文件"),
        ({"content": TABLE, "headers": {"Content-Type": "multipart/form-data"}}, "无法解析"),
        ({"content": CUT_OFF, "headers": {"Content-Type": "multipart/form-data; boundary=b"}}, "无法解析"),
        ({"content": b"--b--", "headers": {"Content-Type": "multipart/form-data; boundary=b"}}, "file 字段"),
    ],
    ids=["another field", "a text", "two files", "no form", "no end", "no part"],
)
async def test_a_form_without_one_file_is_refused(http: httpx.AsyncClient, sent: dict[str, Any], told: str) -> None:
    answer = await http.post("/", **sent)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert told in answer.json()["error"]["message"]


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/csv"}, {"Content-Type": "text/plain; boundary=b"}])
async def test_where_a_form_is_needed_other_bodies_are_refused(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    answer = await http.post("/named", content=b"a,b", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert "multipart/form-data" in answer.json()["error"]["message"]
    assert (await http.post("/named", files={"file": ("a.csv", b"x")})).content == b"a.csvx"
