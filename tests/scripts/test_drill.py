"""The drill itself, as it is documented; what it is made of is small enough to be looked at here."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from scripts.drills.fault_drill import run_drill
from scripts.drills.faults import FAULTS
from scripts.drills.ledger import Deed, Ledger, Trouble, read_trouble
from scripts.drills.servers import SITE, Nginx, move_site
from tests.services import require_program

BODY = {"error": {"code": "overloaded", "message": "忙", "details": {}, "request_id": "r"}}


@pytest.mark.acceptance(only=True)
async def test_nothing_that_was_acknowledged_is_lost_or_doubled(tmp_path: Path) -> None:
    for name in ("nginx", "redis-server"):
        require_program(name)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o711)  # PostgreSQL runs as another user where this is root
    report = await run_drill(tmp_path, list(FAULTS), {"EMBEDDER": "hash"})
    assert report.problems == []
    assert min(report.acknowledged.values()) > 10


def test_nginx_takes_the_site_that_is_shipped(tmp_path: Path) -> None:
    require_program("nginx")
    checked = Nginx(tmp_path, [8001, 8002, 8003]).check_site()
    assert checked.returncode == 0, checked.stderr


def test_nothing_but_ports_of_the_site_is_changed() -> None:
    text = SITE.read_text("utf-8")
    made = move_site(text, 8080, [8001, 8002, 8003])
    assert made.count("max_fails=2") == 3
    same = [
        line for line in text.splitlines() if "app1:" not in line and "app2:" not in line and "listen 80;" not in line
    ]
    assert [line for line in made.splitlines() if "server 127." not in line and "listen 127." not in line] == same
    with pytest.raises(ValueError, match="app1"):
        move_site("", 80, [1])


@pytest.mark.parametrize(
    ("status", "body", "typed"),
    [(503, BODY, True), (429, BODY, True), (500, BODY, False), (503, {"error": "x"}, False), (503, [], False)],
)
def test_a_refusal_is_typed_by_its_status_and_its_body(status: int, body: object, typed: bool) -> None:
    assert read_trouble(httpx.Response(status, json=body), 0.0).typed is typed
    assert not read_trouble(httpx.Response(503, text="<html>"), 0.0).typed


def test_recovery_is_the_first_success_of_what_began_after_the_fault() -> None:
    ledger = Ledger()
    before, retried, after = (ledger.begin(Deed.CHAT, "k", "s", at) for at in (1.0, 2.0, 12.0))
    before.tried, before.acknowledged = 1.0, 11.0
    retried.troubles.append(Trouble(9.5, 503, "away", typed=True))
    retried.tried, retried.acknowledged = 10.5, 13.0
    after.tried, after.acknowledged = 12.0, 14.0
    assert ledger.measure_recovery(10.0, [Deed.CHAT, Deed.TICKET]) == {Deed.CHAT: 3.0, Deed.TICKET: None}
