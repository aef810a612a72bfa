"""Where the bytes of attachments are: a folder, and S3 by a server that speaks its protocol."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.attachments.store import open_store
from app.errors import AttachmentsUnavailable
from tests.app.attachments.pictures import png
from tests.app.serving import served

ID = "a" * 32


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of an S3 with the bucket `files`."""
    command = [sys.executable, "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        httpx.put(f"{address}/files").raise_for_status()
        yield address
        gc.collect()  # the connections of stores that nobody has any more are closed
        server.terminate()


def options(address: str) -> dict[str, str]:
    return {"key": "k", "secret": "s", "endpoint_url": address}


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, dict[str, str]]:
    if request.param == "folder":
        return str(tmp_path / "files"), {}
    return "s3://files/yingda", options(request.getfixturevalue("s3"))


async def test_bytes_are_kept_by_tenant_and_id(place: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    store = open_store(*place, tmp_path)
    await store.write_file("a", ID, b"first")
    await store.write_file("a", ID, b"second")
    assert await store.read_file("a", ID) == b"second"
    assert await store.read_file("b", ID) is None
    again = open_store(*place, tmp_path)
    await again.delete_file("a", ID)
    await again.delete_file("a", ID)
    assert await store.read_file("a", ID) is None


async def test_a_bucket_that_is_not_there_is_not_made(s3: str, tmp_path: Path) -> None:
    with pytest.raises(AttachmentsUnavailable):
        await open_store("s3://typo/yingda", options(s3), tmp_path).write_file("a", ID, b"x")
    async with httpx.AsyncClient(base_url=s3) as http:
        assert (await http.get("/typo")).status_code == 404


async def test_a_picture_in_s3_is_served_and_erased(s3: str, tmp_path: Path) -> None:
    settings = {"attachment_store": "s3://files/shop", "attachment_store_options": options(s3)}
    async with (
        served(tmp_path, attachment_ocr_seconds=0, **settings) as one,
        httpx.AsyncClient(base_url=one.address, timeout=60) as http,
        httpx.AsyncClient(base_url=s3) as bucket,
    ):
        opened = (await http.post("/api/v1/sessions", json={})).json()
        http.headers["X-Session-Token"] = opened["session_token"]
        address = f"/api/v1/conversations/{opened['session_id']}/attachments"
        sent = (await http.post(address, files={"file": ("照片.png", png())})).json()
        shown = await http.get(f"{address}/{sent['id']}")
        assert shown.headers["content-type"] == "image/png"
        assert len(shown.content) == sent["bytes"]
        listed = {"list-type": "2", "prefix": "shop/"}
        assert sent["id"] in (await bucket.get("/files", params=listed)).text
        assert (await http.delete(f"{address}/{sent['id']}")).status_code == 204
        assert sent["id"] not in (await bucket.get("/files", params=listed)).text
