"""A file is shown as it would be cut, and nothing of it is kept."""

from __future__ import annotations

from pathlib import Path

import httpx

from app.auth.principal import Role
from app.main import create_app
from app.settings import Settings
from tests.app.auth.test_auth import key_of

PATH = "/api/v1/knowledge/documents"
TEXT = "# 退货\n\n" + "\n\n".join(f"## 第{n}条\n\n{'退货要先申请，审核之后寄回。' * 12}" for n in range(6))


async def test_a_preview_shows_the_pieces_of_an_import_and_keeps_nothing(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    file = [("files", ("退货.md", TEXT))]
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        shown = (await http.post(f"{PATH}/preview", files=file)).json()
        assert (shown["title"], shown["max_tokens"]) == ("退货", 300)
        assert (await http.get(PATH)).json()["total"] == 0
        smaller = (
            await http.post(f"{PATH}/preview", params={"max_tokens": 60, "overlap_tokens": 0}, files=file)
        ).json()
        assert smaller["total"] > shown["total"]
        taken = (await http.post(PATH, params={"wait": 60}, files=file)).json()["files"][0]
        chunks = (await http.get(f"{PATH}/{taken['document_id']}/chunks", params={"limit": 100})).json()["items"]
        assert [chunk["text"] for chunk in chunks] == [chunk["text"] for chunk in shown["chunks"]]
        for params, files, status in (
            ({"min_tokens": 900}, file, 400),
            ({}, file * 2, 400),
            ({}, [("files", ("坏.pdf", b"no pdf"))], 422),
            ({"max_tokens": 0}, file, 422),
        ):
            assert (await http.post(f"{PATH}/preview", params=params, files=files)).status_code == status
        agent = await key_of(app.state.container, "default", Role.AGENT)
        app.state.container.keys.expire_copy()
        assert (await http.post(f"{PATH}/preview", files=file, headers=agent)).status_code == 403
