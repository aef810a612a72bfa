"""`Idempotency-Key`: a request that is sent again returns its first result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import Request, Response
from pydantic import BaseModel

from app.auth.principal import Principal
from app.errors import Conflict, Forbidden, InvalidRequest
from app.idempotency.service import RequestAttempt, Retries
from app.idempotency.types import JSON, KeptResponse, RetryKey
from app.types import Proof

HEADER = "Idempotency-Key"
REPLAYED = {"Idempotency-Replayed": "true"}
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Fields that may be others when a request is sent again: proofs are renewed, and the key is not what is asked.
_PROOFS = {"user_token", "session_token", "client_id"}
_LONGEST_ID = 64


def read_key(request: Request, client_id: str = "") -> str:
    """Returns the key of a request, empty for none. client_id: the same in the body.

    Raises InvalidRequest, and Conflict if the two differ.
    """
    header = request.headers.get(HEADER, "")
    if header and client_id and header != client_id:
        raise Conflict(f"{HEADER} 与 client_id 不一样，请只带一个。", code="idempotency_keys_differ")
    key = header or client_id
    if key and not _KEY.fullmatch(key):
        raise InvalidRequest(f"{HEADER} 须为 1 到 255 个可见的 ASCII 字符。", code="invalid_idempotency_key")
    return key


def build_message_id(key: str) -> str:
    """Returns the key as the sender's own id of a message, by which the human desk keeps a repeated one once."""
    return key if len(key) <= _LONGEST_ID else hashlib.sha256(key.encode()).hexdigest()


def build_retry_key(request: Request, tenant: str, key: str, proof: Proof, body: Any) -> RetryKey | None:
    """Builds what a request is known by; None without a key.

    Args:
        body: What is asked.

    Raises:
        Forbidden: Where anybody might guess the key: whoever proves nothing needs one that nobody else can have.
    """
    if not key:
        return None
    if not proof.trusted and not proof.caller and not proof.token and not _UUID.fullmatch(key):
        raise Forbidden(f"没有会话凭据时，{HEADER} 须是一个随机的 UUID。", code="idempotency_key_not_uuid")
    principal: Principal = request.state.principal
    route = getattr(request.scope.get("route"), "path", request.url.path)
    whose = [request.method, route, principal.key, proof.caller, proof.token, key]
    asked = repr(body.model_dump(mode="json", exclude=_PROOFS) if isinstance(body, BaseModel) else body)
    digest, content = hashlib.sha256(orjson.dumps(whose)), hashlib.sha256(asked.encode(errors="surrogatepass"))
    return RetryKey(tenant, digest.hexdigest(), content.hexdigest(), key)


async def run_once(
    request: Request, key: RetryKey | None, work: Callable[[RequestAttempt | None], Awaitable[KeptResponse]]
) -> Response:
    """Returns the response of the first attempt with a key, or without a key of this one.

    Raises Conflict, and what the work raises.
    """
    if key is None:
        return build_response(await work(None))
    retries: Retries = request.app.state.container.retries
    attempt = await retries.begin(key)
    if isinstance(attempt, KeptResponse):
        return build_response(attempt, REPLAYED)
    async with attempt:
        reply = await work(attempt)
        await attempt.finish(reply)
    return build_response(reply)


def build_response(reply: KeptResponse, headers: dict[str, str] | None = None) -> Response:
    """Builds the response that carries a reply."""
    body = add_token(reply.body, reply.token)
    return Response(body, status_code=reply.status, media_type=JSON if body else None, headers=headers)


def add_token(body: bytes, token: str) -> bytes:
    """Returns a JSON object with the session's secret as its last field."""
    return b'%s,"session_token":"%s"}' % (body[:-1], token.encode()) if token else body
