"""Parameters of a tenant: within ranges, in force at once, with a history and a way back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.errors import Conflict
from app.tuner.ranges import RANGES
from app.tuner.service import Tuner
from app.wiring.container import Container

PATH = "/api/v1/tuner/params"
QUESTION = "质量问题的退货运费由谁承担"


async def put(http: httpx.AsyncClient, note: str = "", version: int | None = None, **values: float) -> httpx.Response:
    return await http.put(PATH, json={"values": values, "note": note, "version": version})


async def ask(http: httpx.AsyncClient) -> dict[str, Any]:
    body: dict[str, Any] = (await http.post("/api/v1/chat", json={"message": QUESTION})).json()
    return body


def value(params: dict[str, Any], name: str) -> float:
    return float(next(item["value"] for item in params["params"] if item["name"] == name))


async def test_every_parameter_is_told_with_its_default_and_lies_within_its_range(http: httpx.AsyncClient) -> None:
    told = (await http.get(PATH)).json()
    assert [item["name"] for item in told["params"]] == list(RANGES)
    assert all(item["low"] <= item["value"] == item["default"] <= item["high"] for item in told["params"])
    assert (told["version"], told["changed_at"]) == (0, None)


REFUSED: list[tuple[dict[str, float], int, str]] = [
    ({"similarity_threshold": 0.0}, 400, "parameter_out_of_range"),
    ({"similarity_threshold": 0.39}, 400, "parameter_out_of_range"),
    ({"clarify_threshold": 0.1}, 400, "parameter_out_of_range"),
    ({"vector_top_k": 25.5}, 400, "parameter_out_of_range"),
    ({"hot_cache_max_size": 1001}, 409, "above_installation"),
    ({"similarity_threshold": 0.8}, 409, "thresholds_out_of_order"),
    ({"rrf_vector_weight": 0, "rrf_keyword_weight": 0}, 409, "weights_are_zero"),
    ({"llm_api_key": 1}, 400, "unknown_parameter"),
]


async def test_no_parameter_weakens_the_refusal_or_leaves_its_range(http: httpx.AsyncClient) -> None:
    for values, status, code in REFUSED:
        refused = await http.put(PATH, json={"values": values})
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), values
    assert (await http.get(PATH)).json()["version"] == 0


async def test_a_change_holds_for_the_next_answer_though_the_last_one_is_cached(http: httpx.AsyncClient) -> None:
    first, again = await ask(http), await ask(http)
    assert (first["outcome"], again["data"]["cached"]) == ("answered", True)
    changed = await put(http, min_surviving_chunks=5)
    assert value(changed.json(), "min_surviving_chunks") == 5
    strict = await ask(http)
    assert (strict["outcome"] == "answered", strict["data"]["cached"]) == (False, False)
    await http.post(f"{PATH}/reset")
    assert (await ask(http))["outcome"] == "answered"


async def test_a_trace_tells_by_which_parameters_a_turn_was_answered(http: httpx.AsyncClient) -> None:
    async def basis() -> dict[str, Any]:
        asked = (await ask(http))["message_id"]
        found: dict[str, Any] = (await http.get(f"/api/v1/traces/{asked}")).json()["basis"]
        return found

    before = await basis()
    await put(http, rrf_k=10)
    after = await basis()
    assert (before["params_version"], after["params_version"]) == (0, 1)
    assert before["configuration"] != after["configuration"]


async def test_weights_and_widths_change_what_a_search_does(http: httpx.AsyncClient, container: Container) -> None:
    await ask(http)
    await put(http, vector_top_k=7, rrf_keyword_weight=1, rerank_top_k=1)
    options = (await container.tenants.get_parts("default")).retriever
    found = await options.search(QUESTION)
    assert (found.top, len(found.candidates)) == (1, 1)
    assert (await container.tenants.get_parts("other")).tuned.settings.rerank_top_k == 5


async def test_the_history_says_who_changed_what_and_leads_back(http: httpx.AsyncClient) -> None:
    key = {"name": "运营小王", "role": "admin"}
    made = (await http.post("/api/v1/keys", json=key)).json()["key"]
    http.headers["X-API-Key"] = made
    await put(http, note="多看几条", rrf_k=30, vector_top_k=40)
    await put(http, rrf_k=20)
    await http.post(f"{PATH}/reset", json={"names": ["vector_top_k"]})
    back = (await http.post(f"{PATH}/history/1/revert")).json()
    assert (value(back, "rrf_k"), value(back, "vector_top_k"), back["version"]) == (30, 40, 4)
    told = (await http.get(f"{PATH}/history")).json()
    assert [item["action"] for item in told["items"]] == ["revert", "reset", "put", "put"]
    assert {item["by"] for item in told["items"]} == {"运营小王"} and told["total"] == 4
    first = told["items"][-1]
    assert (first["note"], first["changes"]) == (
        "多看几条",
        [{"name": "vector_top_k", "before": 25, "after": 40}, {"name": "rrf_k", "before": 60, "after": 30}],
    )
    assert (await http.post(f"{PATH}/history/0/revert")).json()["version"] == 5
    assert not any(item["tuned"] for item in (await http.get(PATH)).json()["params"])
    assert (await http.post(f"{PATH}/history/9/revert")).status_code == 404


async def test_of_two_who_saw_the_same_version_one_is_told_so(http: httpx.AsyncClient, container: Container) -> None:
    await put(http, version=0, rrf_k=30)
    late = await put(http, version=0, rrf_k=40)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "params_changed_meanwhile")
    assert (await put(http, rrf_k=30)).json()["version"] == 1  # nothing changes, so nothing is written
    with pytest.raises(Conflict):
        await container.tuner.set_values("default", {"rrf_k": 5}, by="", expected=7)


async def test_another_process_learns_of_a_change(container: Container) -> None:
    moments = [0.0]
    beside = Tuner(container.base.database, container.settings, container.tenants.prepare, lambda: moments[0])
    old = await beside.get_tuned_settings("default")
    await container.tuner.set_values("default", {"rrf_k": 30}, by="甲")
    assert await beside.get_tuned_settings("default") is old
    moments[0] = 1.0
    assert (await beside.get_tuned_settings("default")).settings.rrf_k == 30
    assert (await beside.get_tuned_settings("other")).settings.rrf_k == 60


async def test_a_version_that_lies_outside_of_the_ranges_by_now_is_not_restored(container: Container) -> None:
    await container.tuner.set_values("default", {"hot_cache_max_size": 900}, by="")
    await container.tuner.reset_values("default", [], by="")
    smaller = container.settings.model_copy(update={"hot_cache_max_size": 100})
    with pytest.raises(Conflict):
        await Tuner(container.base.database, smaller, container.tenants.prepare).revert_to_version("default", 1, by="")


async def test_parameters_that_no_longer_fit_the_settings_stop_nobody(container: Container) -> None:
    await container.tuner.set_values("default", {"rrf_vector_weight": 0}, by="")
    changed = container.settings.model_copy(update={"rrf_keyword_weight": 0.0})
    served = await Tuner(container.base.database, changed, container.tenants.prepare).get_tuned_settings("default")
    assert served.settings is changed and served.params.overrides == {"rrf_vector_weight": 0}
