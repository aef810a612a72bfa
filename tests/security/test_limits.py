"""One sender's flood, and everybody else; and where webhooks may lead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts.attacks import limits
from scripts.harness.checks import Report
from scripts.harness.servers import Target, run_product

pytestmark = pytest.mark.acceptance(only=True)  # a server of its own

WEBHOOKS = "/api/v1/webhooks"
SMALL = {
    "RATE_PER_SESSION": "20",
    "RATE_PER_ADDRESS": "400",
    "TURNS_PER_KEY": "24",
    "HANDOFFS_PER_ADDRESS": "12",
    "SIGN_IN_FAILURES": "10",
    "WEBHOOKS_PER_TENANT": "5",
    "LOG_LEVEL": "WARNING",
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with run_product(tmp_path_factory.mktemp("limits"), keys=True, **SMALL) as target:
        yield target


async def test_wrong_keys_are_not_looked_at_for_long_and_right_ones_work(target: Target) -> None:
    report = Report()
    await limits.check_sign_ins(target, report, tried=13)
    assert report.broken == []


async def test_handoffs_are_counted_by_address(target: Target) -> None:
    report = Report()
    assert await limits.check_handoffs(target, report, tried=30) == 12
    assert report.broken == []


async def test_no_webhook_leads_inside_and_webhooks_are_counted(target: Target) -> None:
    """Which addresses are inside is tried by tests/app/net/test_targets.py."""
    hook = {"url": "https://example.com/hook", "events": ["ticket.created"]}
    inside = hook | {"url": "http://[::ffff:10.0.0.8]/hook"}
    async with target.open_client(target.admin) as http:
        assert (await http.post(WEBHOOKS, json=inside)).status_code == 403
        made = [await http.post(WEBHOOKS, json=hook) for _ in range(6)]
        assert [answer.status_code for answer in made] == [201] * 5 + [409]
        assert made[-1].json()["error"]["code"] == "too_many_webhooks"
        path = f"{WEBHOOKS}/{made[0].json()['id']}"
        assert (await http.patch(path, json={"url": inside["url"]})).status_code == 403


async def test_another_tenant_does_not_feel_a_flood_which_is_refused_honestly(target: Target) -> None:
    report = Report()
    await limits.check_other_tenants(target, report, connections=48, seconds=2.5, asked=20)
    assert report.broken == []


async def test_no_limit_silences_who_is_in_danger(target: Target) -> None:
    report = Report()
    await limits.check_urgent(target, report, tried=600)
    assert report.broken == []
    async with target.open_client(target.admin) as http:
        lines = (await http.get("/metrics")).text.splitlines()
    counted = [line for line in lines if line.startswith("yingda_requests_limited_total{")]
    for kind, tenant in (("session", "other"), ("address", "other"), ("handoff", "default")):
        assert any(f'kind="{kind}"' in line and f'tenant="{tenant}"' in line for line in counted)
    (refused,) = [line for line in lines if line.startswith("yingda_sign_ins_refused_total ")]
    assert float(refused.split()[1]) >= 3
