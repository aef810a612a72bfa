"""Experiments: customers stay in their arm, arms share nothing, and nothing is concluded too early."""

from __future__ import annotations

from typing import Any

import httpx
from sqlalchemy import func, select

from app.tuner.placing import place
from app.tuner.tables import TunerExperimentTurn
from app.tuner.types import CONTROL, TREATMENT, RunningExperiment
from app.wiring.container import Container

PATH = "/api/v1/tuner"
QUESTION = "质量问题的退货运费由谁承担"
STRICT = {"min_surviving_chunks": 5}


async def begin(http: httpx.AsyncClient, **also: Any) -> httpx.Response:
    return await http.post(f"{PATH}/experiments", json={"name": "更严", "values": STRICT, "needed": 20} | also)


async def ask(http: httpx.AsyncClient, user: str) -> dict[str, Any]:
    body: dict[str, Any] = (await http.post("/api/v1/chat", json={"message": QUESTION, "user_id": user})).json()
    return body


def test_customers_stay_where_they_are_put_and_as_many_as_asked_for_are_treated() -> None:
    experiment, other = (RunningExperiment(name, "customer", 30, {}) for name in ("e1", "e2"))
    placed = {f"u{n}": place(experiment, f"u{n}") for n in range(2000)}
    assert all(place(experiment, whom) == where for whom, where in placed.items())
    treated = [whom for whom, where in placed.items() if where.arm == TREATMENT]
    assert 500 < len(treated) < 700
    elsewhere = sum(place(other, whom).arm == TREATMENT for whom in treated)
    assert 0.2 < elsewhere / len(treated) < 0.4, "the next experiment deals anew"


async def test_each_arm_is_answered_by_its_own_parameters_and_out_of_its_own_cache(
    http: httpx.AsyncClient, container: Container
) -> None:
    await ask(http, "before")
    begun = await begin(http)
    assert (begun.status_code, begun.json()["running"]) == (201, True)
    experiment = (await container.tuner.of("default")).experiment
    assert experiment is not None
    arms = {f"u{n}": place(experiment, f"customer u{n}").arm for n in range(12)}
    assert set(arms.values()) == {CONTROL, TREATMENT}
    for user, arm in arms.items():
        for _ in range(2):
            body = await ask(http, user)
            assert (body["outcome"] == "answered") == (arm == CONTROL)
    some = next(user for user, arm in arms.items() if arm == TREATMENT)
    trace = (await http.get(f"/api/v1/traces/{(await ask(http, some))['message_id']}")).json()
    assert trace["basis"]["arm"] == f"{begun.json()['id']}:{TREATMENT}"
    told = (await http.get(f"{PATH}/experiments")).json()["items"][0]["result"]
    units = {arm: sum(one == arm for one in arms.values()) for arm in (CONTROL, TREATMENT)}
    assert {arm: told["arms"][arm]["units"] for arm in told["arms"]} == units
    assert (told["arms"][TREATMENT]["answered"], told["conclusion"]) == (0, "too_few")


async def test_while_an_experiment_runs_no_other_begins_and_the_parameters_stay(http: httpx.AsyncClient) -> None:
    same = await begin(http, values={"rrf_k": 60})
    assert (same.status_code, same.json()["error"]["code"]) == (409, "nothing_to_try")
    assert (await begin(http, values={"similarity_threshold": 0.1})).status_code == 400
    running = (await begin(http)).json()["id"]
    changed = await http.put(f"{PATH}/params", json={"values": {"rrf_k": 30}})
    codes = [response.json()["error"]["code"] for response in (await begin(http), changed)]
    assert codes == ["experiment_running"] * 2
    over = (await http.post(f"{PATH}/experiments/{running}/end")).json()
    assert (over["running"], over["adopted"], over["result"]["conclusion"]) == (False, None, "too_few")
    assert (await http.post(f"{PATH}/experiments/{running}/end")).json()["error"]["code"] == "experiment_over"
    assert (await http.get(f"{PATH}/experiments/none")).status_code == 404
    assert (await ask(http, "u"))["outcome"] == "answered"


async def test_what_was_tried_is_adopted_only_by_who_says_so_and_forgotten_with_its_conversations(
    http: httpx.AsyncClient, container: Container
) -> None:
    running = (await begin(http, share=99, unit="conversation")).json()["id"]
    session = (await ask(http, "u"))["session_id"]

    async def rows() -> int:
        async with container.base.database.read() as connection:
            return int((await connection.execute(select(func.count()).select_from(TunerExperimentTurn))).scalar_one())

    assert await rows() == 1
    over = (await http.post(f"{PATH}/experiments/{running}/end", json={"adopt": True})).json()
    assert (over["adopted"], sum(arm["units"] for arm in over["result"]["arms"].values())) == (1, 1)
    history = (await http.get(f"{PATH}/params/history")).json()["items"]
    assert [(one["action"], one["overrides"]) for one in history] == [("experiment", STRICT)]
    await http.delete(f"/api/v1/conversations/{session}")
    assert await rows() == 0
    assert (await http.get(f"{PATH}/experiments/{running}")).json()["result"] == over["result"]
