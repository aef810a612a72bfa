"""One delivery over HTTP: no redirects, no proxy, nothing read of the response but its status."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from app.db.base import now
from app.errors import Forbidden
from app.net.targets import TargetPolicy, parse_port_ranges, resolve_target
from app.webhooks.repository_deliveries import Delivery
from app.webhooks.signature import build_headers
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

MAX_ERROR_CHARS = 200
CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class SendResult:
    """How a try went. `status` is None where there was no response."""

    status: int | None
    error: str = ""

    @property
    def ok(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """The receiver says that it wants nothing more."""
        return self.status == httpx.codes.GONE


class WebhookSender:
    """timeout: seconds for a whole try, the name's resolution included."""

    def __init__(self, timeout: float, *, allow_private: bool, ports: str = "") -> None:
        """ports: of the open internet, see `parse_port_ranges`; empty for any."""
        remedy = "确有需要时由管理员设置 WEBHOOK_ALLOW_PRIVATE=true 或 WEBHOOK_PORTS"
        self.policy = TargetPolicy("Webhook 地址", remedy, private=allow_private, ports=parse_port_ranges(ports))
        self._timeout = timeout

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        """Made when it is first used: reading the certificates takes 30 ms."""
        return httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,  # a proxy would resolve the name again, behind the check
            timeout=self._timeout,
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if "_client" in vars(self):
            await self._client.aclose()

    async def send(self, delivery: Delivery) -> SendResult:
        """Sends a delivery. Never raises: what went wrong is in the result."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._send(delivery)
        except TimeoutError:
            return SendResult(None, "timeout")
        except Forbidden as error:
            return SendResult(None, error.message)
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            return SendResult(None, f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS])

    async def _send(self, delivery: Delivery) -> SendResult:
        target = await resolve_target(delivery.url, self.policy)
        body = delivery.body.encode()
        signed = build_headers(delivery.secret, delivery.event, delivery.event_id, body, now())
        request = self._client.build_request(
            "POST",
            target.address_url,
            content=body,
            headers={**signed, **_request_id(delivery), **target.headers},
            extensions=target.extensions,
        )
        response = await self._client.send(request, stream=True)
        await response.aclose()
        return SendResult(response.status_code, "" if response.is_success else f"HTTP {response.status_code}")


def _request_id(delivery: Delivery) -> dict[str, str]:
    """Returns the header with the id of the request that caused the event, if one did."""
    request_id = json.loads(delivery.body).get("request_id")
    return {"X-Request-ID": request_id} if request_id else {}
