"""The vocabulary of channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Payload = dict[str, Any]
"""One message as a platform takes it, as JSON; it is kept until it is sent."""
Address = dict[str, Any]
"""Where a customer is to be reached on a platform, as JSON."""


class InboundKind(StrEnum):
    """What a customer sent. ENTER: nothing yet, the conversation was opened."""

    TEXT = "text"
    IMAGE = "image"
    VOICE = "voice"
    FILE = "file"
    ENTER = "enter"


MEDIA_NAMES = {InboundKind.IMAGE: "图片.jpg", InboundKind.VOICE: "语音.amr", InboundKind.FILE: "视频.mp4"}
"""Of what comes without a name."""


class ReplySender(StrEnum):
    """Who speaks to the customer."""

    BOT = "bot"
    AGENT = "agent"
    SYSTEM = "system"


class QueueStatus(StrEnum):
    """What became of a message on its way. DEAD: given up."""

    PENDING = "pending"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A customer's message. id: the platform's own, by which one that is sent twice is taken once. peer: what names the
    conversation on the platform, as a user, or a user within a group. sent_at: by the platform's clock. user: whom the
    platform says that it is from. media: by what the channel downloads the picture or file that came with it, empty for
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
    """What a reply rests on. index: as the reply cites it; url: empty where the document has none."""

    index: str
    title: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ChannelReply:
    """What a customer is told, before a platform draws it. text: Markdown; links: label and address."""

    text: str
    sender: ReplySender = ReplySender.BOT
    in_reply_to: str = ""
    session_id: str = ""
    sources: tuple[CitedSource, ...] = ()
    suggestions: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A request of a platform. headers: names in lower case; body: bounded already; moment: now, aware."""

    method: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    moment: datetime


@dataclass(frozen=True, slots=True)
class CallbackResult:
    """What the platform is answered at once, and what came of its request. pull: there is news to be fetched. wrap:
    makes the body of a response that carries the first piece of the reply, where the platform takes it there.
    """

    body: bytes = b""
    media_type: str = "text/plain"
    messages: tuple[InboundMessage, ...] = ()
    pull: str = ""
    wrap: Callable[[Payload], bytes] | None = None


@dataclass(frozen=True, slots=True)
class PulledMessages:
    """What was fetched, and from where to go on next time. more: there is more right now."""

    messages: tuple[InboundMessage, ...]
    cursor: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A customer's message that waits to be answered. attempts: before this one; awaited_until: when the platform
    gives up waiting for a reply in its response, None where it does not wait; member: whom the company's backend says
    that the platform's user is, empty where it says nothing.
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


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A piece of a reply on its way. attempts: before this one."""

    tenant: str
    account: str
    id: str
    session_id: str
    payload: Payload
    address: Address
    attempts: int


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """A piece of a reply as it is listed; `error` is of the last try."""

    id: str
    session_id: str
    status: QueueStatus
    attempts: int
    error: str
    due_at: datetime
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ChannelActivity:
    """What went on at an account lately, and how many users of the platform are known as members."""

    last_message_at: datetime | None = None
    last_reply_at: datetime | None = None
    members: int = 0


@dataclass(frozen=True, slots=True)
class ChannelConversation:
    """A conversation of an account; updated_at: when the customer wrote last."""

    session_id: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SentReply:
    """How a try went. due_at: of the next one, None for none. tried: False where nothing was sent yet."""

    reply: StoredReply
    status: QueueStatus
    error: str = ""
    due_at: datetime | None = None
    tried: bool = True
