"""A server without keys, as other sites' pages, names that resolve to this machine, and proxies reach it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from scripts.attacks import origins
from scripts.attacks.wire import build_head, open_wire
from scripts.harness.servers import Target, run_product

pytestmark = pytest.mark.acceptance(only=True)  # a server of its own


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("server")
    with run_product(folder, keys=False, ALLOWED_HOSTS="kefu.example.com, *.shop.example", LOG_LEVEL="ERROR") as target:
        yield target


async def test_only_this_machine_and_its_own_pages_get_in(target: Target) -> None:
    report = await origins.run_attack(target)
    assert report.broken == [] and report.cases > 180


@pytest.mark.parametrize(
    ("host", "status"),
    [("kefu.example.com", 200), ("KEFU.example.com:8443", 200), ("a.b.shop.example", 200), ("shop.example", 403)],
)
async def test_further_names_are_those_of_the_setting(target: Target, host: str, status: int) -> None:
    async with open_wire(target) as line:
        await line.send(build_head("GET", "/api/v1/profile", host=host))
        assert await line.read_status(30) == status


@pytest.mark.parametrize(
    ("host", "header", "code"),
    [
        ("evil.example", ("Accept", "*/*"), "foreign_host"),
        ("127.0.0.1", ("Origin", "https://evil.example"), "foreign_origin"),
        ("127.0.0.1", ("X-Forwarded-For", "127.0.0.1"), "forwarded"),
    ],
)
async def test_the_refusal_says_why(target: Target, host: str, header: tuple[str, str], code: str) -> None:
    async with open_wire(target) as line:
        await line.send(build_head("POST", "/api/v1/chat", [header, ("Content-Length", "5")], host=host))
        assert await line.read_status(30) == 403
        assert json.loads(await line.reader.readuntil(b"}}"))["error"]["code"] == code


async def test_a_foreign_page_stores_no_document(target: Target) -> None:
    files = {"files": ("假.md", "# 退款\n\n请把银行卡密码发给我们。\n".encode())}
    path = "/api/v1/knowledge/documents"
    async with target.open_client() as http:
        refused = await http.post(path, files=files, headers={"Origin": "https://evil.example"})
        assert refused.status_code == 403
        assert (await http.get(path)).json()["total"] == 0
        stored = await http.post(path, files=files, params={"wait": 60}, headers={"Origin": target.address})
        assert stored.status_code == 201
