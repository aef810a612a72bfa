"""微信客服 by WeCom: the callback only says that there are messages, which are then fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import Field

from app.channels.errors import PlatformUnavailable
from app.channels.markup import draw_plain, list_button_texts, split_text
from app.channels.tencent import CorpChannel, CorpOptions
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    OutgoingFile,
    Payload,
    PulledMessages,
)
from app.channels.wechat_api import KINDS, build_media, read_fields
from app.limits.types import Rate

# Bytes of a text message that the platform takes.
MAX_BYTES = 2048
# `origin` of what a customer sent.
FROM_CUSTOMER = 3
# Messages of one fetch; the platform says whether there are more.
AT_ONCE = 1000


class WecomKfOptions(CorpOptions):
    """The options of one account ("客服账号"), `open_kfid`."""

    open_kfid: str = Field(min_length=1, max_length=64)


class WecomKfChannel(CorpChannel):
    """See docs/channels.md."""

    Options = WecomKfOptions
    rate: ClassVar[Rate] = Rate(6000)
    # A notice of the platform starts a fetch at once; this finds messages whose notice was lost.
    pull_seconds = 600.0

    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """See `EncryptedChannel`."""
        fields = read_fields(opened)
        mine = fields.get("Event") == "kf_msg_or_event" and fields.get("OpenKfId") == self.options.open_kfid
        return CallbackResult(b"success", pull=fields.get("Token", "") if mine else "")

    async def pull_messages(self, cursor: str, token: str) -> PulledMessages:
        """See `Channel`."""
        asked = {"cursor": cursor, "token": token, "limit": AT_ONCE, "open_kfid": self.options.open_kfid}
        data = await self.api.call_api("/cgi-bin/kf/sync_msg", {name: value for name, value in asked.items() if value})
        listed, following = data.get("msg_list", []), data.get("next_cursor", cursor)
        if not isinstance(listed, list) or not isinstance(following, str):
            raise PlatformUnavailable("the response is not as documented")
        found = [message for one in listed if (message := _build_message(one)) is not None]
        return PulledMessages(tuple(found), following, more=data.get("has_more") == 1)

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: with a menu below the last piece."""
        pieces = split_text(draw_plain(reply, suggestions=False), MAX_BYTES)
        drawn: list[Payload] = [{"msgtype": "text", "text": {"content": piece}} for piece in pieces]
        if suggestions := list_button_texts(reply, 60):
            items = [
                {"type": "click", "click": {"id": str(number), "content": item}}
                for number, item in enumerate(suggestions, 1)
            ]
            # The text above a menu may be half as long as a message: the last piece is split once more for it.
            text = drawn.pop()["text"]["content"]
            head, *rest = split_text(text, 1024, 3)
            drawn += [{"msgtype": "text", "text": {"content": piece}} for piece in [head, *rest][:-1]]
            drawn.append({"msgtype": "msgmenu", "msgmenu": {"head_content": [head, *rest][-1], "list": items}})
        return drawn

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        body = {**payload, "touser": address["user"], "open_kfid": self.options.open_kfid, "msgid": key}
        await self.api.call_api("/cgi-bin/kf/send_msg", body)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`."""
        await self.send_payload(address, await self.build_file_message(file), key)


def _build_message(data: Any) -> InboundMessage | None:
    """Reads a message; None if no customer sent it."""
    if not isinstance(data, Mapping) or data.get("origin") != FROM_CUSTOMER:
        return None
    name, user, moment = data.get("msgid"), data.get("external_userid"), data.get("send_time")
    kind = KINDS.get(str(data.get("msgtype")), InboundKind.FILE)
    text = data.get("text", {}).get("content", "") if kind is InboundKind.TEXT else ""
    if not (isinstance(name, str) and isinstance(user, str) and isinstance(moment, int) and isinstance(text, str)):
        return None
    sent = data.get(str(data.get("msgtype")))
    media = build_media(kind, sent.get("media_id"), sent.get("filename")) if isinstance(sent, Mapping) else {}
    at = datetime.fromtimestamp(moment, UTC)
    return InboundMessage(name, user, text, {"user": user}, at, kind, user, media)
