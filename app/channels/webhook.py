"""Any system of one's own: signed JSON in, signed JSON out, by the signature of the product's webhooks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, ValidationError

from app.channels.base import Channel, ChannelOptions, require_fresh, revealed, unreadable, unsigned
from app.channels.crypto import same
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
    """What comes in."""

    model_config = ConfigDict(extra="forbid")

    id: Id
    user_id: Id
    conversation_id: str = Field("", max_length=256)
    kind: InboundKind = InboundKind.TEXT
    text: str = Field("", max_length=20_000)
    sent_at: datetime | None = None


class WebhookOptions(ChannelOptions):
    """url: what replies are sent to; secret: signs both ways."""

    url: str = Field(pattern=r"^https?://\S+$", max_length=2000)
    secret: SecretStr = Field(min_length=16, max_length=128)


class WebhookChannel(Channel):
    """See docs/channels.md."""

    Options = WebhookOptions
    proves_users = True

    async def receive(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`."""
        timestamp = request.headers.get(TIMESTAMP.lower(), "")
        wanted = sign_body(revealed(self.options.secret), timestamp, request.body)
        if not same(request.headers.get(SIGNATURE.lower(), ""), wanted):
            raise unsigned()
        require_fresh(timestamp, request.moment)
        try:
            told = WebhookMessage.model_validate_json(request.body)
        except (ValidationError, RecursionError) as error:
            raise unreadable() from error
        sent_at = told.sent_at or request.moment
        message = InboundMessage(
            id=told.id,
            peer=json.dumps([told.user_id, told.conversation_id]),
            text=told.text,
            address={"user_id": told.user_id, "conversation_id": told.conversation_id},
            sent_at=sent_at if sent_at.tzinfo else sent_at.replace(tzinfo=UTC),
            kind=told.kind,
            user=told.user_id,
        )
        return CallbackResult(b'{"accepted":true}', "application/json", (message,))

    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: the receiver draws it."""
        return [reply.to_json()]

    async def send(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        told: dict[str, Any] = {"id": key, "channel": self.parts.name, **address, **payload}
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        signed = build_headers(revealed(self.options.secret), EVENT, key, body, now())
        await self.parts.client.tell(self.options.url, body, dict(signed))

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: what it is; the receiver fetches the bytes with a key of its own."""
        about = {"id": file.id, "name": file.name, "media_type": file.media_type, "bytes": len(file.content)}
        reply = ChannelReply("", ReplySender.AGENT, session_id=file.session_id)
        await self.send(address, {**reply.to_json(), "attachments": [about]}, key)
