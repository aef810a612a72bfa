"""Calibrations and sweeps: made in the background, in force only when somebody confirms."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from sqlalchemy import select

from app.tuner.reports import JOBS
from app.tuner.tables import TunerReport
from app.wiring.container import Container

PATH = "/api/v1/tuner"
RIGHT = ("质量问题的退货运费由谁承担", "退款在验货后几个工作日内原路退回", "退货运费由商城承担吗", "退款原路退回要多久")
WRONG = ("明天会下雨吗", "帮我写一首关于月亮的诗", "长城有多长", "怎么做红烧肉")


def questions(count: int = 20) -> list[dict[str, Any]]:
    right = [
        {"question": f"{RIGHT[n % 4]}{'呢' * (n // 4)}", "answerable": True, "documents": ["退货.md"]}
        for n in range(count)
    ]
    return right + [{"question": f"{WRONG[n % 4]}{'呢' * (n // 4)}", "answerable": False} for n in range(count)]


async def made(http: httpx.AsyncClient, what: str, **also: Any) -> dict[str, Any]:
    begun = await http.post(f"{PATH}/{what}", json={"questions": questions()} | also)
    assert begun.status_code == 202, begun.text
    async with asyncio.timeout(120):
        while True:
            report: dict[str, Any] = (await http.get(f"{PATH}/reports/{begun.json()['id']}")).json()
            if report["state"] not in ("queued", "running"):
                assert report["state"] == "done", report
                return report
            await asyncio.sleep(0.05)


async def test_a_calibration_recommends_and_changes_nothing_before_it_is_confirmed(
    http: httpx.AsyncClient, container: Container
) -> None:
    phone = {"question": "我的电话是 13812345678，天气怎样", "answerable": False}
    report = await made(http, "calibrations", questions=[*questions(), phone], refusal=0.99)
    result = report["result"]
    assert (result["answerable"], result["unanswerable"], report["finished_at"] is None) == (20, 21, False)
    assert result["current"]["threshold"] == 0.6 and len(result["curve"]) > 50
    assert (await http.get(f"{PATH}/params")).json()["version"] == 0
    async with container.base.database.read() as connection:
        assert (await connection.execute(select(TunerReport.questions))).scalar_one() is None
    applied = await http.post(f"{PATH}/reports/{report['id']}/apply")
    if result["values"]:
        threshold = next(one for one in applied.json()["params"] if one["name"] == "similarity_threshold")
        assert threshold["value"] == result["recommended"]["threshold"]
        history = (await http.get(f"{PATH}/params/history")).json()["items"]
        assert [one["action"] for one in history] == ["calibration"]
        assert (await http.get(f"{PATH}/reports/{report['id']}")).json()["applied"] == 1
        stale = await http.post(f"{PATH}/reports/{report['id']}/apply")
        assert (stale.status_code, stale.json()["error"]["code"]) == (409, "params_changed_meanwhile")
    else:
        assert applied.json()["error"]["code"] == "nothing_recommended"


async def test_a_sweep_tells_every_point_and_a_gain_that_is_no_luck(
    http: httpx.AsyncClient, container: Container
) -> None:
    report = await made(http, "sweeps", alphas=[0.0, 0.6], ks=[60], widths=[25], title="先试两个")
    result = report["result"]
    assert [point["alpha"] for point in result["points"]] == [0.0, 0.6]
    again, current = result["points"][1], result["current"]
    assert {name: again[name] for name in current} == current, "today's parameters come to the same as a point"
    assert (report["total"], result["questions"]) == (120, 40)
    assert bool(result["values"]) == (result["difference"]["significant"] and result["difference"]["value"] > 0)
    listed = (await http.get(f"{PATH}/reports", params={"kind": "sweep"})).json()
    assert [(one["title"], one["result"]) for one in listed["items"]] == [("先试两个", None)]
    gone = f"{PATH}/reports/{report['id']}"
    assert [(await http.delete(gone)).status_code for _ in range(2)] == [204, 404]


async def test_each_parameter_tells_what_the_last_measurement_gave_beside_its_value(http: httpx.AsyncClient) -> None:
    async def effects() -> dict[str, dict[str, Any]]:
        items = (await http.get(f"{PATH}/effects")).json()["items"]
        assert [one["name"] for one in items] == [one["name"] for one in await params()]
        return {one["name"]: one for one in items}

    async def params() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await http.get(f"{PATH}/params")).json()["params"]
        return found

    before = await effects()
    assert {one["effect"] for one in before.values()} == {None}
    assert [before[name]["measured_by"] for name in ("similarity_threshold", "rrf_k", "hot_cache_ttl")] == [
        "calibration",
        "sweep",
        "",
    ]
    curve = {point["threshold"]: point for point in (await made(http, "calibrations"))["result"]["curve"]}
    sweep = await made(http, "sweeps", alphas=[0.3, 0.6, 0.9], ks=[20, 60], widths=[25])
    found = await effects()
    gate = found["similarity_threshold"]["effect"]
    assert (gate["questions"], gate["outdated"]) == (40, False)
    for side, threshold in (("down", 0.55), ("now", 0.6), ("up", 0.65)):
        assert (gate[side]["value"], gate[side]["answered"]) == (threshold, curve[threshold]["answered"])
    vectors, keywords = (found[name]["effect"] for name in ("rrf_vector_weight", "rrf_keyword_weight"))
    tried = {(point["alpha"], point["k"]): point["right"] for point in sweep["result"]["points"]}
    assert [(vectors[side]["value"], vectors[side]["right"]) for side in ("down", "up")] == [
        (0.3, tried[0.3, 60]),
        (0.9, tried[0.9, 60]),
    ]
    assert [(keywords[side]["value"], keywords[side]["right"]) for side in ("down", "up")] == [
        (0.1, tried[0.9, 60]),
        (0.7, tried[0.3, 60]),
    ]
    constant = found["rrf_k"]["effect"]
    assert (constant["report_id"], constant["down"]["value"], constant["up"]) == (sweep["id"], 20, None)

    changed = {"values": {"similarity_threshold": 0.62, "rrf_k": 30}}
    assert (await http.put(f"{PATH}/params", json=changed)).status_code == 200
    after = await effects()
    assert after["rrf_k"]["effect"] is None, "the sweep began from another constant"
    gate = after["similarity_threshold"]["effect"]
    assert (gate["now"]["value"], gate["outdated"]) == (0.62, True)


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("calibrations", {"questions": questions(5)}, 409, "too_few_questions"),
    ("calibrations", {"questions": [], "set": ""}, 422, "invalid_request"),
    ("calibrations", {"set": "none"}, 404, "evaluation_set_not_found"),
    ("sweeps", {"questions": questions(), "widths": [1000]}, 422, "invalid_request"),
    (
        "sweeps",
        {"questions": questions(), "alphas": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "ks": list(range(1, 21))},
        400,
        "too_many_points",
    ),
]


async def test_what_cannot_be_found_out_is_refused_at_once(http: httpx.AsyncClient) -> None:
    for what, body, status, code in REFUSED:
        refused = await http.post(f"{PATH}/{what}", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)


async def test_an_evaluation_set_gives_the_questions_that_are_answered_or_refused(
    http: httpx.AsyncClient, container: Container
) -> None:
    made = (await http.post("/api/v1/evaluation/sets", json={"name": "回归"})).json()
    kinds = (["answer"], ["refuse"], ["business"], ["answer", "refuse"])
    cases = [
        {"question": f"{question['question']}？", "expect": {"kind": kinds[number % 4]}}
        for number, question in enumerate(questions(8))
    ]
    taken = await http.post(f"/api/v1/evaluation/sets/{made['id']}/cases", json={"cases": cases})
    assert taken.status_code in (200, 201), taken.text
    found = await container.evaluation_sets.load_questions("default", made["id"])
    assert [question.answerable for question in found] == [True, False] * 4


async def test_a_report_that_was_deleted_leaves_its_run_nothing_to_do(container: Container) -> None:
    class Context:
        tenant, run_id = "default", "r"
        parameters = {"report": "gone"}  # noqa: RUF012

        async def report_progress(self, done: int, total: int) -> None: ...

    assert await container.jobs.kinds[JOBS["sweep"]].run(Context()) == {"report": "gone", "made": False}
