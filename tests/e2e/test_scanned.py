"""A scanned document is uploaded, and a customer's question is answered from its second page."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.knowledge.recognition.scanned import SCANNED

PAGE = 2


@pytest.mark.acceptance(only=True)
async def test_a_question_is_answered_from_the_second_page_of_a_scan(tmp_path: Path) -> None:
    settings = Settings(
        data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False, _env_file=None
    )
    app = create_app(settings)
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=120)
    async with app.router.lifespan_context(app), client as http:
        sent = await http.post(
            "/api/v1/knowledge/documents?wait=60", files={"files": ("售后手册.pdf", SCANNED, "application/pdf")}
        )
        assert sent.status_code == 201, sent.text
        (file,) = sent.json()["files"]
        assert [notice["code"] for notice in file["notices"]] == ["recognised"]
        await (await app.state.container.tenants.get_parts("default")).retriever.calibrate()
        answer = (await http.post("/api/v1/chat", json={"message": "三环以外上门维修收多少上门费？"})).json()
    assert "六十元" in answer["reply"]
    source = answer["data"]["sources"][0]
    assert (source["title"], source["page"]) == ("售后手册", PAGE)
