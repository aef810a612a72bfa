from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from agents.llm.faq_drafter import FaqDrafter
from agents.llm.replies import UnreadableReply
from agents.types import Usage
from app.auth.principal import Role
from app.db.engine import Database
from app.desk.repository_solutions import SolutionRepository
from app.gaps.draft_writer import list_wordings
from app.gaps.repository_drafts import DraftRepository
from app.gaps.repository_unanswered import count_questions
from app.gaps.types import DraftOrigin, MissReason
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.types import SessionKey
from tests.app.gaps.test_api import PATH, app, ask, client, gaps, http, mine
from tests.app.gaps.test_misses import WRAP, asked, call_a_person, collected, keep, resolve_ticket, unplaced

__all__ = ["app", "http"]
QUESTION = "刻字服务怎么收费"


async def one_gap(http: httpx.AsyncClient, question: str = QUESTION) -> str:
    await ask(http, question)
    await mine(http)
    return str((await gaps(http))[0]["id"])


async def step(http: httpx.AsyncClient, gap_id: str, name: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await http.post(f"{PATH}/{gap_id}/{name}", json=body or None)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def edit(http: httpx.AsyncClient, gap_id: str, answer: str = "每个字五元。") -> dict[str, Any]:
    written = await http.put(f"{PATH}/{gap_id}/draft", json={"question": QUESTION, "answer": answer})
    assert written.status_code == 200, written.text
    return dict(written.json())


async def test_an_approved_draft_answers_and_reopening_takes_it_back(http: httpx.AsyncClient) -> None:
    gap_id = await one_gap(http)
    assert (await step(http, gap_id, "submit", 409))["error"]["code"] == "invalid_gap_state"
    assert (await step(http, gap_id, "draft"))["draft"]["origin"] == "empty"
    assert (await step(http, gap_id, "submit", 409))["error"]["code"] == "draft_is_empty"
    assert "13812345678" not in str(await edit(http, gap_id, "每个字五元，电话 13812345678。"))
    await edit(http, gap_id)
    await step(http, gap_id, "submit")
    await step(http, gap_id, "reject", note="写清楚")
    await step(http, gap_id, "submit")
    assert (await step(http, gap_id, "approve"))["state"] == "approved"
    assert (await step(http, gap_id, "approve", 409))["error"]["code"] == "invalid_gap_state"
    assert "每个字五元" in (await ask(http, QUESTION))["reply"]
    assert (await step(http, gap_id, "reopen"))["state"] == "drafted"
    assert (await ask(http, QUESTION))["outcome"] == "no_evidence"
    assert (await http.get("/api/v1/evaluation/sets")).json()["sets"][0]["cases"] == 0


async def test_a_gap_asked_in_vain_after_its_answer_comes_back_and_changes_that_answer(
    http: httpx.AsyncClient,
) -> None:
    gap_id = await one_gap(http)
    await edit(http, gap_id)
    await step(http, gap_id, "submit")
    entry = (await step(http, gap_id, "approve"))["draft"]["faq_id"]
    faq = {"question": "别的问题", "answer": "别的答案"}
    assert (await http.put(f"/api/v1/knowledge/faqs/{entry}", json=faq)).status_code == 200
    await ask(http, QUESTION)
    assert (await mine(http))["returned"] == 1
    assert (await gaps(http))[0]["state"] == "open"
    await edit(http, gap_id, "每个字六元。")
    await step(http, gap_id, "submit")
    assert (await step(http, gap_id, "approve"))["draft"]["faq_id"] == entry
    assert "六元" in (await ask(http, QUESTION))["reply"]


async def test_another_person_approves_where_the_tenant_wants_that(app: FastAPI, http: httpx.AsyncClient) -> None:
    keys = KeyRepository(app.state.container.base.database)
    for name in ("author", "reviewer"):
        await keys.create("default", Role.ADMIN, name, hash_key(name))
    app.state.container.keys._fresh_until = float("-inf")
    assert (await http.put(f"{PATH}/policy", json={"two_persons": True})).json() == {"two_persons": True}
    async with client(app, "author") as author, client(app, "reviewer") as reviewer:
        gap_id = await one_gap(author)
        await edit(author, gap_id)
        await step(author, gap_id, "submit")
        assert (await step(author, gap_id, "approve", 409))["error"]["code"] == "another_reviewer"
        draft = (await step(reviewer, gap_id, "approve"))["draft"]
        assert (draft["author"], draft["approver"]) == ("author", "reviewer")


async def test_a_dismissed_gap_stays_so_until_it_is_reopened(http: httpx.AsyncClient) -> None:
    gap_id = await one_gap(http)
    await step(http, gap_id, "dismiss", note="不做这项业务")
    await ask(http, QUESTION)
    await mine(http)
    [gap] = await gaps(http)
    assert (gap["state"], gap["asked"]) == ("dismissed", 2)
    assert await gaps(http, state="open") == []
    assert (await step(http, gap_id, "reopen"))["state"] == "open"


async def test_merging_counts_together_and_is_undone(http: httpx.AsyncClient) -> None:
    await ask(http, "海外直邮新加坡多少钱")
    into = await one_gap(http)
    [first, second] = await gaps(http)
    into, gap_id = first["id"], second["id"]
    assert (await step(http, gap_id, "merge", 409, into=gap_id))["error"]["code"] == "cannot_merge"
    assert (await step(http, gap_id, "merge", into=into))["asked"] == 2
    assert (await step(http, gap_id, "reopen"))["asked"] == 1


async def test_a_wording_of_another_answer_is_refused_and_nothing_changes(http: httpx.AsyncClient) -> None:
    gap_id = await one_gap(http)
    made = await http.post(
        "/api/v1/knowledge/faqs", json={"question": QUESTION, "answer": "免费。", "variants": [], "draft": True}
    )
    assert made.status_code == 201
    await edit(http, gap_id)
    await step(http, gap_id, "submit")
    assert (await step(http, gap_id, "approve", 409))["error"]["code"] == "wording_taken"
    assert (await gaps(http))[0]["state"] == "in_review"


async def test_drafts_take_the_words_of_staff_without_personal_data(database: Database) -> None:
    await keep(database, asked(1, "能刻字吗"))
    await call_a_person(database, "s1", "能刻字吗")
    await collected(database)
    stored = DraftRepository(database)
    assert await stored.find_staff_words("t", await unplaced(database)) == ("", DraftOrigin.EMPTY)
    await resolve_ticket(database, "TK1", "想在杯子上刻字", "可以刻，三天做好，电话 13812345678。")
    await collected(database)
    words, origin = await stored.find_staff_words("t", await unplaced(database))
    assert (words, origin) == ("可以刻，三天做好，电话 [phone]。", DraftOrigin.TICKET)
    await SolutionRepository(database, count_questions).put(SessionKey("t", "s"), "h", WRAP, "可以，每件五元。", "小王")
    await collected(database)
    assert await stored.find_staff_words("t", await unplaced(database)) == ("可以，每件五元。", DraftOrigin.SOLUTION)


async def test_wordings_leave_out_what_held_personal_data(database: Database) -> None:
    await keep(database, asked(1, WRAP), asked(2, "给 13812345678 包装"), asked(3, "能包装吗"), asked(4, "能包装吗"))
    found = list((await collected(database)).values())
    assert list_wordings(WRAP, found) == [WRAP, "能包装吗"]
    assert {miss.reason for miss in found} == {MissReason.NO_EVIDENCE}


class Reply:
    """A model that replies so, whatever it is asked."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.asked: list[dict[str, str]] = []

    async def complete(self, messages: Any, seconds: float) -> tuple[str, Usage]:
        self.asked = list(messages)
        return self.reply, Usage()


async def test_a_model_drafts_out_of_the_material_and_never_numbers_of_its_own() -> None:
    model = Reply('{"question": "可以刻字吗", "answer": "可以，每个字 5 元。"}')
    made = await FaqDrafter(model, 1.0).write(["能刻字不"], "刻字每个字 5 元。", ["刻字说明"])
    assert (made.question, made.answer) == ("可以刻字吗", "可以，每个字 5 元。")
    assert "刻字每个字 5 元" in model.asked[1]["content"]
    with pytest.raises(UnreadableReply):
        await FaqDrafter(model, 1.0).write(["能刻字不"], "要收费。", [])
    with pytest.raises(UnreadableReply):
        await FaqDrafter(Reply("可以"), 1.0).write(["能刻字不"], "", [])


@pytest.mark.parametrize("answer", ["可以，三天做好。", "可以，每个字五元，满十个字打八折。"])
async def test_numbers_in_characters_are_numbers_too(answer: str) -> None:
    model = Reply(json.dumps({"question": "可以刻字吗", "answer": answer}))
    with pytest.raises(UnreadableReply):
        await FaqDrafter(model, 1.0).write(["能刻字不"], "每个字 5 元。", [])
    staff = "第一步下单，刻字 3 天，每个字 5 元，满 10 个字打 8 折。"
    assert (await FaqDrafter(model, 1.0).write(["能刻字不"], staff, [])).answer == answer


async def test_steps_may_be_counted() -> None:
    steps = "第一步，下单时备注；第二步，等我们联系。"
    model = Reply(json.dumps({"question": "怎么刻字", "answer": steps}))
    assert (await FaqDrafter(model, 1.0).write(["能刻字不"], "下单备注就行，我们联系您。", [])).answer == steps


async def test_a_draft_that_shows_the_place_of_personal_data_is_not_submitted(http: httpx.AsyncClient) -> None:
    gap_id = await one_gap(http)
    assert "[order]" in (await edit(http, gap_id, "请打 400-800-1234。"))["draft"]["answer"]
    refused = (await step(http, gap_id, "submit", 409))["error"]
    assert (refused["code"], refused["details"]["tags"]) == ("draft_is_masked", ["[order]"])
    await edit(http, gap_id, "请打客服热线。")
    await step(http, gap_id, "submit")
