"""A channel for own systems: signed JSON in both directions, with the signature of the product's webhooks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, ValidationError

from app.channels.base import (
    Channel,
    ChannelOptions,
    build_signature_error,
    build_unreadable_error,
    require_fresh,
    reveal_secret,
)
from app.channels.crypto import is_same_signature
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    OutgoingFile,
    Payload,
    ReplySender,
)
from app.db.base import now
from app.webhooks.signature import SIGNATURE, TIMESTAMP, build_headers, sign_body

EVENT = "channel.reply"
Id = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class WebhookMessage(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid")

    id: Id
    user_id: Id
    conversation_id: str = Field("", max_length=256)
    kind: InboundKind = InboundKind.TEXT
    text: str = Field("", max_length=20_000)
    sent_at: datetime | None = None


class WebhookOptions(ChannelOptions):
    """url: where replies are sent; secret: signs both directions."""

    url: str = Field(pattern=r"^https?://\S+$", max_length=2000)
    secret: SecretStr = Field(min_length=16, max_length=128)


class WebhookChannel(Channel):
    """See docs/channels.md."""

    Options = WebhookOptions
    proves_users = True

    async def receive_request(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`."""
        timestamp = request.headers.get(TIMESTAMP.lower(), "")
        wanted = sign_body(reveal_secret(self.options.secret), timestamp, request.body)
        if not is_same_signature(request.headers.get(SIGNATURE.lower(), ""), wanted):
            raise build_signature_error()
        require_fresh(timestamp, request.moment)
        try:
            incoming = WebhookMessage.model_validate_json(request.body)
        except (ValidationError, RecursionError) as error:
            raise build_unreadable_error() from error
        sent_at = incoming.sent_at or request.moment
        message = InboundMessage(
            id=incoming.id,
            peer=json.dumps([incoming.user_id, incoming.conversation_id]),
            text=incoming.text,
            address={"user_id": incoming.user_id, "conversation_id": incoming.conversation_id},
            sent_at=sent_at if sent_at.tzinfo else sent_at.replace(tzinfo=UTC),
            kind=incoming.kind,
            user=incoming.user_id,
        )
        return CallbackResult(b'{"accepted":true}', "application/json", (message,))

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: the receiver renders it."""
        return [asdict(reply)]

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        content: dict[str, Any] = {"id": key, "channel": self.parts.name, **address, **payload}
        body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        signed = build_headers(reveal_secret(self.options.secret), EVENT, key, body, now())
        await self.parts.client.post_body(self.options.url, body, dict(signed))

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: only the description; the receiver fetches the bytes with a key of its own."""
        about = {"id": file.id, "name": file.name, "media_type": file.media_type, "bytes": len(file.content)}
        reply = ChannelReply("", ReplySender.AGENT, session_id=file.session_id)
        await self.send_payload(address, {**asdict(reply), "attachments": [about]}, key)
