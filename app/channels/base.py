"""What every channel does: takes the requests of a platform apart, and draws and sends what customers are told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, SecretStr

from app.channels.client import PlatformClient
from app.channels.errors import PlatformRefused
from app.channels.tokens import TokenCache
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundMessage,
    MediaFile,
    OutgoingFile,
    Payload,
    PulledMessages,
)
from app.errors import Forbidden, InvalidRequest
from app.limits.types import Rate

FRESH = timedelta(minutes=10)
"""How old a message may be that is answered when an account is fetched from for the first time."""
WINDOW = timedelta(minutes=5)
"""How far the time that a platform signs may be from ours: what is older is a replay."""


class ChannelOptions(BaseModel):
    """What an account on a platform is opened with: its channel has a class of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class ChannelParts:
    """What an account is put together from. name: of the account; client: speaks HTTP; tokens: shared by replicas."""

    name: str
    client: PlatformClient
    tokens: TokenCache


class Channel(ABC):
    """One account on a platform.

    rate: how often it may be sent to, so that the platform need not refuse; waits: seconds that the platform waits for
    a reply in the response to its request, 0 where it takes none there; pull_seconds: how often `pull` is called
    without being asked to, 0 for never; holds: whether a reply can go nowhere but into a response, so that a request
    which has none yet is left open until the platform gives up and asks again; listens: see `listen`; proves_users:
    whether a message is from whom it names, since what names them is signed, or fetched; has_token: whether it is sent
    to with an access token.
    """

    Options: ClassVar[type[ChannelOptions]]
    rate: ClassVar[Rate] = Rate(600)
    waits: ClassVar[float] = 0.0
    pull_seconds: float = 0.0
    holds: bool = False
    listens: bool = False
    proves_users: bool = False
    has_token: ClassVar[bool] = False

    def __init__(self, options: Any, parts: ChannelParts) -> None:
        """options: of the class's `Options`. Raises MissingDependency, InvalidConfiguration."""
        self.options = options
        self.parts = parts

    @abstractmethod
    async def receive(self, request: CallbackRequest) -> CallbackResult:
        """Checks who sent a request, by its signature, before anything of its body is believed. Raises Forbidden,
        InvalidRequest.
        """

    @abstractmethod
    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """The messages that a reply becomes, each within what the platform takes; at least one."""

    @abstractmethod
    async def send(self, address: Address, payload: Payload, key: str) -> None:
        """Sends one of them. key: the same on every try, for platforms that drop what they have. Raises
        PlatformUnavailable, PlatformRefused.
        """

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """Sends a picture or file; key: see `send`. Raises PlatformUnavailable, and PlatformRefused also where the
        platform takes none, none of its kind or none so large: then the customer is told in words.
        """
        raise PlatformRefused("the platform takes no files")

    async def download(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """The pictures and files that came with a message; most: bytes of each. Raises PlatformUnavailable,
        PlatformRefused, also where the platform gives none.
        """
        raise PlatformRefused("the platform gives no download")

    async def pull(self, cursor: str, token: str) -> PulledMessages:
        """Fetches what came since, where the platform only tells that something did. token: what it told with. Raises
        PlatformUnavailable, PlatformRefused.
        """
        return PulledMessages((), cursor)

    async def listen(self, take: Callable[[InboundMessage], Awaitable[None]]) -> None:
        """Takes what comes over a connection that is opened to the platform, until that ends, where `listens`. take:
        keeps a message. Raises PlatformUnavailable, PlatformRefused.
        """
        raise NotImplementedError(f"{type(self).__name__} is sent to, or fetches")


def require_small(file: OutgoingFile, most: int) -> None:
    """Raises PlatformRefused for a file of more bytes than a platform takes."""
    if len(file.content) > most:
        raise PlatformRefused(f"the platform takes files of up to {most} bytes")


def require_fresh(timestamp: str, moment: datetime, *, window: timedelta = WINDOW, milliseconds: bool = False) -> None:
    """timestamp: since the epoch, as the platform signed it. Raises Forbidden for one that is no number, or not now."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 15):
        raise Forbidden("请求里没有有效的时间戳。", code="invalid_signature")
    seconds = int(timestamp) / (1000 if milliseconds else 1)
    if abs(seconds - moment.timestamp()) > window.total_seconds():
        raise Forbidden("请求的时间戳不在允许的范围内。", code="stale_request")


def unsigned() -> Forbidden:
    """The error for a signature that does not hold."""
    return Forbidden("签名不正确。", code="invalid_signature")


def unreadable() -> InvalidRequest:
    """The error for what was signed, or claims to be, and cannot be read."""
    return InvalidRequest("读不懂平台发来的内容。", code="unreadable_callback")


def required(values: Mapping[str, Any], name: str, kind: type = str) -> Any:
    """A field of a platform's message. Raises InvalidRequest where it is not there, or of another kind."""
    value = values.get(name)
    if not isinstance(value, kind) or value == "":
        raise unreadable()
    return value


def revealed(secret: SecretStr) -> str:
    """What a secret is."""
    return secret.get_secret_value()
