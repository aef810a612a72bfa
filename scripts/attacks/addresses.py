"""Webhooks that would lead back into the server's own network."""

from __future__ import annotations

from scripts.attacks.payloads import load_payloads
from scripts.harness.checks import Report
from scripts.harness.servers import Target

PATH = "/api/v1/webhooks"
_PAYLOADS = load_payloads("addresses")
URLS = (
    *(f"http://{host}/x" for host in (*_PAYLOADS["v4"], *_PAYLOADS["names"])),
    *(f"http://[{host}]/x" for host in _PAYLOADS["v6"]),
    *_PAYLOADS["broken"],
)


async def run_attack(target: Target) -> Report:
    """Each address as a new webhook, and as the new address of one; then more webhooks than anybody has."""
    report = Report()
    async with target.open_client(target.admin) as http:
        made = await http.post(PATH, json={"url": "https://example.com/hook", "events": ["ticket.created"]})
        own = [made.json()["id"]] if made.status_code == 201 else []
        report.check(made.status_code == 201, f"https://example.com/hook 是 {made.status_code}")
        for url in URLS:
            answer = await http.post(PATH, json={"url": url, "events": ["ticket.created"]})
            own += [answer.json()["id"]] if answer.status_code == 201 else []
            report.check(answer.status_code in (400, 403, 422), f"{url!a} 是 {answer.status_code}")
        for url in URLS[::4]:
            answer = await http.patch(f"{PATH}/{own[0]}", json={"url": url})
            report.check(answer.status_code in (400, 403, 422), f"改成 {url!a} 是 {answer.status_code}")
        while made.status_code == 201 and len(own) < 1100:
            made = await http.post(PATH, json={"url": "https://example.com/hook", "events": ["ticket.created"]})
            own += [made.json()["id"]] if made.status_code == 201 else []
        full = made.status_code == 409 and made.json()["error"]["code"] == "too_many_webhooks"
        report.check(full, f"有了 {len(own)} 个 Webhook 之后是 {made.status_code}")
        for webhook in own:
            await http.delete(f"{PATH}/{webhook}")
    return report
