from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.serving import served

KNOWLEDGE = "/api/v1/knowledge"
DOCUMENTS = f"{KNOWLEDGE}/documents"
OPENING = "东湖店的开门时间是早上九点整，周末不变。"
PARKING = "东湖店可以停车，停车场在地下二层，凭小票免费两小时。"
PETS = "猫狗可以进入二楼咖啡区，请牵好绳子。"
TEXT = f"# 门店说明\n\n## 时间\n\n{OPENING}\n\n## 停车\n\n{PARKING}\n\n## 宠物\n\n{PETS}\n"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        served(tmp_path, chunk_min_tokens=1) as product,
        httpx.AsyncClient(base_url=product.address, timeout=30) as client,
    ):
        yield client


async def upload(client: httpx.AsyncClient, text: str, name: str = "门店.md") -> str:
    sent = [("files", (name, text.encode()))]
    response = await client.post(f"{DOCUMENTS}?wait=30", files=sent)
    assert response.status_code == 201, response.text
    document: str = response.json()["files"][0]["document_id"]
    return document


async def chunks(client: httpx.AsyncClient, document: str) -> dict[str, dict[str, Any]]:
    """By their last heading."""
    items = (await client.get(f"{DOCUMENTS}/{document}/chunks")).json()["items"]
    return {item["heading_path"][-1]: item for item in items}


async def found(client: httpx.AsyncClient, query: str) -> list[str]:
    response = await client.post(f"{KNOWLEDGE}/search", json={"query": query})
    return [candidate["text"] for candidate in response.json()["candidates"]]


async def test_a_draft_is_tried_under_the_corrections_of_the_moment(http: httpx.AsyncClient) -> None:
    document = await upload(http, TEXT)
    sent = [("files", ("门店.md", TEXT.replace("地下二层", "地下三层").encode()))]
    await http.post(f"{DOCUMENTS}?wait=30", files=sent, data={"draft": "true"})
    asked = {"query": OPENING, "drafts": [{"document_id": document, "version": 2}]}

    async def tried() -> str:
        response = await http.post(f"{KNOWLEDGE}/search", json=asked)
        return "".join(candidate["text"] for candidate in response.json()["candidates"])

    assert "九点" in await tried()
    place = f"{DOCUMENTS}/{document}/chunks/{(await chunks(http, document))['时间']['id']}/correction"
    assert (await http.put(place, json={"text": OPENING.replace("九点", "八点")})).status_code == 200
    assert "八点" in await tried()


async def test_a_corrected_chunk_is_searched_as_it_is_and_survives_a_new_version(http: httpx.AsyncClient) -> None:
    document = await upload(http, TEXT)
    before = await chunks(http, document)
    new = OPENING.replace("九点", "八点")
    place = f"{DOCUMENTS}/{document}/chunks"
    body = {"text": new, "author": "小王", "reason": "换季"}
    made = await http.put(f"{place}/{before['时间']['id']}/correction", json=body)
    assert made.status_code == 200, made.text
    left_out = await http.put(f"{place}/{before['宠物']['id']}/correction", json={"excluded": True})
    assert left_out.status_code == 200
    after = await chunks(http, document)
    assert (after["时间"]["text"], after["时间"]["id"]) == (new, made.json()["chunk_id"])
    assert after["停车"]["id"] == before["停车"]["id"]  # nothing else of the document moved
    assert after["宠物"]["excluded"] and not after["时间"]["excluded"]
    assert new in await found(http, new) and PETS not in await found(http, PETS)

    # A chunk that was changed by somebody else meanwhile.
    again = await http.put(f"{place}/{before['时间']['id']}/correction", json={"text": "别的"})
    assert (again.status_code, again.json()["error"]["code"]) == (404, "chunk_not_found")

    # A new version: another passage changes, one of the corrected ones goes.
    text = TEXT.replace("地下二层", "地下三层").replace(PETS, "本店谢绝一切宠物入内，导盲犬除外。")
    assert await upload(http, text) == document
    latest = await chunks(http, document)
    assert latest["时间"]["text"] == new and "三层" in latest["停车"]["text"]
    assert not latest["宠物"]["excluded"]
    listed = (await http.get(f"{DOCUMENTS}/{document}/corrections")).json()["corrections"]
    assert [(one["state"], one["original_text"]) for one in listed] == [("applied", OPENING), ("unmatched", PETS)]
    lost = (await http.get(f"{KNOWLEDGE}/corrections", params={"state": "unmatched"})).json()
    assert (lost["total"], lost["items"][0]["title"]) == (1, "门店说明")

    # Back to the first version: what was lost holds again. Taking corrections back restores what was read.
    assert (await http.post(f"{DOCUMENTS}/{document}/rollback", json={"version": 1})).status_code == 201
    assert (await chunks(http, document))["宠物"]["excluded"]
    for one in listed:
        assert (await http.delete(f"{DOCUMENTS}/{document}/corrections/{one['id']}")).status_code == 204
    assert {one["text"] for one in (await chunks(http, document)).values()} == {OPENING, PARKING, PETS}
    assert PETS in await found(http, PETS)
    gone = await http.delete(f"{DOCUMENTS}/{document}/corrections/{listed[0]['id']}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "correction_not_found")


async def test_headings_are_corrected_and_an_edit_that_says_nothing_takes_it_back(http: httpx.AsyncClient) -> None:
    document = await upload(http, TEXT)
    chunk = (await chunks(http, document))["停车"]
    place = f"{DOCUMENTS}/{document}/chunks"
    made = await http.put(f"{place}/{chunk['id']}/correction", json={"heading_path": ["停车场"]})
    assert (made.json()["correction"]["heading_path"], made.json()["correction"]["text"]) == (["停车场"], None)
    assert (await chunks(http, document))["停车场"]["text"] == PARKING
    back = await http.put(f"{place}/{made.json()['chunk_id']}/correction", json={"text": PARKING})
    assert (back.status_code, back.json()["correction"]) == (200, None)
    assert (await chunks(http, document))["停车"]["correction"] == ""
    assert (await http.get(f"{DOCUMENTS}/{document}/corrections")).json() == {"corrections": []}


async def test_the_last_chunk_of_a_document_is_not_excluded(http: httpx.AsyncClient) -> None:
    document = await upload(http, "# 停车\n\n地下二层。\n", "停车.md")
    (chunk,) = (await chunks(http, document)).values()
    refused = await http.put(f"{DOCUMENTS}/{document}/chunks/{chunk['id']}/correction", json={"excluded": True})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "last_chunk")


async def test_a_correction_that_is_made_while_a_version_is_read_is_in_that_version(
    http: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.corrections.corrector import StoredCorrections

    document, read = await upload(http, TEXT), StoredCorrections.apply_corrections
    chunk = (await chunks(http, document))["停车"]
    calls: list[int] = []

    async def slow(self: StoredCorrections, *args: Any) -> Any:
        made = await read(self, *args)
        if not calls:
            calls.append(1)
            place = f"{DOCUMENTS}/{document}/chunks/{chunk['id']}/correction"
            assert (await http.put(place, json={"excluded": True})).status_code == 200
        return made

    monkeypatch.setattr(StoredCorrections, "apply_corrections", slow)
    await upload(http, TEXT.replace("九点", "十点"))
    after = await chunks(http, document)
    assert calls and after["停车"]["excluded"] and "十点" in after["时间"]["text"]
