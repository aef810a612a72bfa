"""The signature of webhooks: HMAC-SHA256 over time and body, so that neither can be changed nor sent again later."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime

EVENT, EVENT_ID = "X-Yingda-Event", "X-Yingda-Event-Id"
TIMESTAMP, SIGNATURE = "X-Yingda-Timestamp", "X-Yingda-Signature"


def sign_body(secret: str, timestamp: str, body: bytes) -> str:
    """Returns the signature of a body: `sha256=` and 64 hex digits. timestamp: seconds since the epoch."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"


def build_headers(secret: str, event: str, event_id: str, body: bytes, moment: datetime) -> Mapping[str, str]:
    """Builds the headers of a delivery. The event's id is the same on every try, so that receivers drop repetitions by
    it.
    """
    timestamp = str(int(moment.timestamp()))
    return {
        "Content-Type": "application/json",
        "User-Agent": "Yingda-Webhook/1",
        EVENT: event,
        EVENT_ID: event_id,
        TIMESTAMP: timestamp,
        SIGNATURE: sign_body(secret, timestamp, body),
    }
