from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.db.engine import Database
from app.errors import Conflict
from app.gaps.repository import change_gap
from app.gaps.types import GapState
from tests.app.gaps.test_api import PATH, app, ask, gaps, http
from tests.app.gaps.test_review import QUESTION, edit, one_gap, step

__all__ = ["app", "http"]
FAQS = "/api/v1/knowledge/faqs"


class Killed(BaseException):
    """The process ends here."""


async def in_review(http: httpx.AsyncClient, answer: str = "每个字五元。") -> str:
    gap_id = await one_gap(http)
    await edit(http, gap_id, answer)
    await step(http, gap_id, "submit")
    return gap_id


async def entries(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await http.get(FAQS)).json()["items"])


async def regressions(http: httpx.AsyncClient) -> list[Any]:
    sets = (await http.get("/api/v1/evaluation/sets")).json()["sets"]
    return [one["cases"] for one in sets if one["name"] == "缺口回归"]


async def test_two_approvals_at_once_publish_one_answer(http: httpx.AsyncClient) -> None:
    gap_id = await in_review(http)
    told = await asyncio.gather(*(http.post(f"{PATH}/{gap_id}/approve") for _ in range(3)))
    assert sorted(one.status_code for one in told) == [200, 409, 409]
    [entry] = await entries(http)
    [gap] = await gaps(http)
    assert gap["state"] == "approved"
    assert (await http.get(f"{PATH}/{gap_id}")).json()["draft"]["faq_id"] == entry["id"]
    assert await regressions(http) == [1]
    assert "每个字五元" in (await ask(http, QUESTION))["reply"]


async def test_what_is_rejected_while_it_is_being_published_does_not_stay_published(
    app: FastAPI, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = app.state.container.gap_review
    gap_id = await in_review(http)
    create = review._published.create

    async def rejected_meanwhile(*arguments: Any, **named: Any) -> Any:
        made = await create(*arguments, **named)
        await step(http, gap_id, "reject")
        await edit(http, gap_id, "每个字六元。")
        await step(http, gap_id, "submit")
        return made

    monkeypatch.setattr(review._published, "create", rejected_meanwhile)
    assert (await step(http, gap_id, "approve", 409))["error"]["code"] == "draft_changed"
    assert await entries(http) == [] and await regressions(http) == [0]
    draft = (await http.get(f"{PATH}/{gap_id}")).json()["draft"]
    assert (draft["answer"], draft["faq_id"]) == ("每个字六元。", "")
    monkeypatch.undo()
    await step(http, gap_id, "approve")
    assert "六元" in (await ask(http, QUESTION))["reply"]


async def test_an_approval_whose_regression_case_cannot_be_kept_publishes_nothing(
    app: FastAPI, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap_id = await in_review(http)

    async def full(*_: Any) -> None:
        raise Conflict("一个评测集最多 5000 条。", code="too_many_cases")

    monkeypatch.setattr(app.state.container.gap_review._cases, "add", full)
    assert (await step(http, gap_id, "approve", 409))["error"]["code"] == "too_many_cases"
    assert await entries(http) == []
    assert [gap["state"] for gap in await gaps(http)] == ["in_review"]


async def test_an_approval_that_is_killed_half_way_is_gone_on_with_even_with_another_answer(
    app: FastAPI, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = app.state.container.gap_review
    gap_id = await in_review(http)

    async def killed(*_: Any) -> None:
        raise Killed

    monkeypatch.setattr(review._cases, "add", killed)
    with pytest.raises(Killed):
        await review.approve_draft("default", gap_id, "")
    monkeypatch.undo()
    assert len(await entries(http)) == 1 and [gap["state"] for gap in await gaps(http)] == ["in_review"]
    await edit(http, gap_id, "每个字六元。")
    await step(http, gap_id, "submit")
    await step(http, gap_id, "approve")
    [entry] = await entries(http)
    assert entry["answer"] == "每个字六元。" and await regressions(http) == [1]


@pytest.mark.parametrize("deleted", [False, True])
async def test_a_gap_that_comes_back_keeps_what_staff_added_to_its_answer(
    app: FastAPI, http: httpx.AsyncClient, deleted: bool
) -> None:
    gap_id = await in_review(http)
    entry = (await step(http, gap_id, "approve"))["draft"]["faq_id"]
    button = {"label": "去刻字", "url": "https://a.example/", "message": ""}
    added = {"question": "别的问题", "answer": "别的答案", "variants": ["雕刻要钱吗"], "buttons": [button]}
    assert (await http.put(f"{FAQS}/{entry}", json=added)).status_code == 200
    if deleted:
        assert (await http.delete(f"{FAQS}/{entry}")).status_code == 204
    database: Database = app.state.container.base.database
    await database.transact(lambda connection: change_gap(connection, "default", gap_id, {"state": GapState.OPEN}))
    await edit(http, gap_id, "每个字六元。")
    await step(http, gap_id, "submit")
    await step(http, gap_id, "approve")
    [kept] = await entries(http)
    assert kept["answer"] == "每个字六元。"
    assert (kept["buttons"], kept["variants"]) == (([], []) if deleted else ([button], ["雕刻要钱吗"]))
    assert "六元" in (await ask(http, QUESTION))["reply"]
