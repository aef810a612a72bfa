"""The vocabulary of channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

# One message in a platform's format, as JSON; it is stored until it is sent.
Payload = dict[str, Any]
# How a customer is reached on a platform, as JSON.
Address = dict[str, Any]


class InboundKind(StrEnum):
    """What a customer sent. ENTER: nothing yet, the conversation was opened."""

    TEXT = "text"
    IMAGE = "image"
    VOICE = "voice"
    FILE = "file"
    ENTER = "enter"


# Names of files that come without one.
MEDIA_NAMES = {InboundKind.IMAGE: "图片.jpg", InboundKind.VOICE: "语音.amr", InboundKind.FILE: "视频.mp4"}


class ReplySender(StrEnum):
    """The sender of a reply."""

    BOT = "bot"
    AGENT = "agent"
    SYSTEM = "system"


class QueueStatus(StrEnum):
    """The state of a queued message. DEAD: given up."""

    PENDING = "pending"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A customer's message. id: the platform's own, by which duplicates are recognized. peer: the id of the
    conversation on the platform, such as a user, or a user within a group. sent_at: by the platform's clock. user: the
    sender by the platform. media: what the channel needs to download the picture or file of the message, empty for
    none.
    """

    id: str
    peer: str
    text: str
    address: Address
    sent_at: datetime
    kind: InboundKind = InboundKind.TEXT
    user: str = ""
    media: Payload = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A picture or file of a customer, as the platform gave it."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A picture or file of staff, to be sent to a customer. id: in the session's attachments."""

    session_id: str
    id: str
    name: str
    media_type: str
    content: bytes

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith("image/")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source of a reply. index: as the reply cites it; url: empty if the document has none."""

    index: str
    title: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ChannelReply:
    """A reply before a channel renders it. text: Markdown; links: label and address."""

    text: str
    sender: ReplySender = ReplySender.BOT
    in_reply_to: str = ""
    session_id: str = ""
    sources: tuple[CitedSource, ...] = ()
    suggestions: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A request of a platform. headers: names in lower case; body: of limited size; moment: now, with a time zone."""

    method: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    moment: datetime


@dataclass(frozen=True, slots=True)
class CallbackResult:
    """The immediate response to a platform, and the messages in its request. pull: token of a notice that there are
    messages to fetch. wrap: builds the body of a response that contains the first piece of the reply, if the platform
    takes it there.
    """

    body: bytes = b""
    media_type: str = "text/plain"
    messages: tuple[InboundMessage, ...] = ()
    pull: str = ""
    wrap: Callable[[Payload], bytes] | None = None


@dataclass(frozen=True, slots=True)
class PulledMessages:
    """Fetched messages and the next cursor. more: whether there is more right now."""

    messages: tuple[InboundMessage, ...]
    cursor: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A customer's message that is to be answered. attempts: before this one; awaited_until: when the platform stops
    waiting for a reply in its response, None if it does not wait; member: the member behind the platform's user, empty
    if the company's backend named none.
    """

    tenant: str
    account: str
    id: str
    session_id: str
    peer: str
    kind: InboundKind
    text: str
    attempts: int
    awaited_until: datetime | None
    media: Payload = field(default_factory=dict)
    member: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its row."""
        return self.tenant, self.account, self.id


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A piece of a reply that is to be sent. attempts: before this one."""

    tenant: str
    account: str
    id: str
    session_id: str
    payload: Payload
    address: Address
    attempts: int

    @property
    def key(self) -> tuple[str, str]:
        """The key of its row."""
        return self.tenant, self.id


@dataclass(frozen=True, slots=True)
class ChannelActivity:
    """The latest activity of an account, and how many users of the platform are assigned to members."""

    last_message_at: datetime | None = None
    last_reply_at: datetime | None = None
    members: int = 0


@dataclass(frozen=True, slots=True)
class SentReply:
    """The result of a try. due_at: of the next one, None for none. tried: False if nothing was sent."""

    reply: StoredReply
    status: QueueStatus
    error: str = ""
    due_at: datetime | None = None
    tried: bool = True
