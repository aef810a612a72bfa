"""`Idempotency-Key`: a request that is sent again returns its first result."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import orjson
from fastapi import Request, Response
from pydantic import BaseModel

from app.auth.principal import Principal
from app.errors import Conflict, Forbidden, InvalidRequest
from app.idempotency.service import Retries, Work
from app.idempotency.types import RetryKey
from app.types import Proof

HEADER = "Idempotency-Key"
REPLAYED = {"Idempotency-Replayed": "true"}
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Fields that may be others when a request is sent again: proofs are renewed, and the key is not what is asked.
_PROOFS = {"user_token", "session_token", "client_id"}


def build_retry_key(request: Request, tenant: str, proof: Proof, asked: Any, client_id: str = "") -> RetryKey | None:
    """Builds what a request is known by; None where it came without a key.

    Args:
        asked: What is asked: the same key with something else is an error.
        client_id: The key in the body.

    Raises:
        Conflict: Where the header and the body give two keys.
        InvalidRequest: For what is no key.
        Forbidden: Where anybody might guess the key: whoever proves nothing needs one that nobody else can have.
    """
    header = request.headers.get(HEADER, "")
    if header and client_id and header != client_id:
        raise Conflict(f"{HEADER} 与 client_id 不一样，请只带一个。", code="idempotency_keys_differ")
    key = header or client_id
    if not key:
        return None
    if not _KEY.fullmatch(key):
        raise InvalidRequest(f"{HEADER} 须为 1 到 255 个可见的 ASCII 字符。", code="invalid_idempotency_key")
    if not proof.trusted and not proof.caller and not proof.token and not _UUID.fullmatch(key):
        raise Forbidden(f"没有会话凭据时，{HEADER} 须是一个随机的 UUID。", code="idempotency_key_not_uuid")
    principal: Principal = request.state.principal
    route = getattr(request.scope.get("route"), "path", request.url.path)
    whose = [request.method, route, principal.key, proof.caller, proof.token, key]
    content = repr(asked.model_dump(mode="json", exclude=_PROOFS) if isinstance(asked, BaseModel) else asked)
    digest, body = hashlib.sha256(orjson.dumps(whose)), hashlib.sha256(content.encode(errors="surrogatepass"))
    return RetryKey(tenant, digest.hexdigest(), body.hexdigest(), key)


async def run_once(request: Request, key: RetryKey | None, work: Work) -> Response:
    """The response of the first attempt; without a key, of this one. Raises Conflict, and what the work raises."""
    retries: Retries = request.app.state.container.retries
    reply, replayed = await retries.run_once(key, work)
    body = reply.full_body
    media_type, headers = "application/json" if body else None, REPLAYED if replayed else None
    return Response(body, status_code=reply.status, media_type=media_type, headers=headers)
