"""The base of channels: reads the requests of a platform, and renders and sends replies to customers."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, SecretStr

from app.channels.client import PlatformClient, require_text
from app.channels.errors import PlatformRefused, PlatformUnavailable
from app.channels.tokens import FetchedToken, TokenCache
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

Result = TypeVar("Result")
# Maximum age of a message that is answered when an account is fetched for the first time.
FRESH = timedelta(minutes=10)
# Maximum distance between the time that a platform signed and ours; anything older is a replay.
WINDOW = timedelta(minutes=5)


class ChannelOptions(BaseModel):
    """The options of an account on a platform; each channel has a subclass."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


@dataclass(frozen=True, slots=True)
class ChannelParts:
    """The parts of an account. name: of the account; client: for HTTP; tokens: shared by replicas."""

    name: str
    client: PlatformClient
    tokens: TokenCache


class Channel(ABC):
    """One account on a platform.

    rate: how often messages may be sent, so that the platform does not refuse; wait_seconds: how long the platform
    waits for a reply in the response to its request, 0 if it takes none there; pull_seconds: how often `pull_messages`
    is called without a notice of the platform, 0 for never; is_passive: whether a reply can only go into a response, so
    that a request without a reply yet stays open until the platform gives up and asks again; has_stream: see
    `listen_for_messages`; proves_users: whether the sender of a message is certain, since the sender's name is signed
    or fetched; has_token: whether sending needs an access token, see `fetch_token`.
    """

    Options: ClassVar[type[ChannelOptions]]
    rate: ClassVar[Rate] = Rate(600)
    wait_seconds: ClassVar[float] = 0.0
    pull_seconds: float = 0.0
    is_passive: bool = False
    has_stream: bool = False
    proves_users: bool = False
    has_token: ClassVar[bool] = False

    def __init__(self, options: Any, parts: ChannelParts) -> None:
        """options: an instance of the class's `Options`. Raises MissingDependency, InvalidConfiguration."""
        self.options = options
        self.parts = parts

    @abstractmethod
    async def receive_request(self, request: CallbackRequest) -> CallbackResult:
        """Checks the signature of a request before its body is trusted, and reads it.

        Args:
            request: What the platform sent.

        Returns:
            The messages in it, and the response.

        Raises:
            Forbidden: The signature is wrong or too old.
            InvalidRequest: The body cannot be read.
        """

    @abstractmethod
    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """Returns the messages that make up a reply, at least one, each within the limits of the platform."""

    @abstractmethod
    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """Sends one message of a reply.

        Args:
            address: The customer on the platform.
            payload: A message from `render_reply`.
            key: The same on every try, for platforms that drop duplicates.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed.
        """

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """Sends a picture or file.

        Args:
            address: The customer on the platform.
            file: The picture or file.
            key: See `send_payload`.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed, also because the platform takes no files, none of this kind or none
                so large. The customer then gets a notice instead.
        """
        raise PlatformRefused("the platform takes no files")

    async def download_media(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """Downloads the pictures and files of a message.

        Args:
            media: The field `media` of the message.
            most: Maximum bytes of each; a larger one is left out or refused.

        Returns:
            The pictures and files.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed, since the platform gives no files or one is too large.
        """
        raise PlatformRefused("the platform gives no download")

    async def pull_messages(self, cursor: str, token: str) -> PulledMessages:
        """Fetches new messages, for platforms whose callback only says that there are some.

        Args:
            cursor: Where the last call ended; empty for the first one.
            token: The token in the platform's notice.

        Returns:
            The messages, and the next cursor.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed.
        """
        return PulledMessages((), cursor)

    async def listen_for_messages(self, save_message: Callable[[InboundMessage], Awaitable[None]]) -> None:
        """Opens a connection to the platform and handles its messages until the connection ends, if `has_stream`.

        Args:
            save_message: Saves a message.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed.
        """
        raise NotImplementedError(f"{type(self).__name__} gets its messages by callback or by fetching")

    async def fetch_token(self) -> FetchedToken:
        """Fetches an access token, if `has_token`. Raises PlatformUnavailable, PlatformRefused."""
        raise NotImplementedError(f"{type(self).__name__} needs no token")

    async def run_with_token(self, call: Callable[[str], Awaitable[Result]]) -> Result:
        """Runs a call with the access token of the account; see `TokenCache.run_with_token`."""
        return await self.parts.tokens.run_with_token(self.parts.name, self.fetch_token, call)


def require_small(file: OutgoingFile, most: int) -> None:
    """Raises PlatformRefused for a file of more bytes than the platform takes."""
    if len(file.content) > most:
        raise PlatformRefused(f"the platform takes files of up to {most} bytes")


def require_fresh(timestamp: str, moment: datetime, *, window: timedelta = WINDOW, milliseconds: bool = False) -> None:
    """Checks the time of a request.

    Args:
        timestamp: Seconds or milliseconds since the epoch, as the platform signed them.
        moment: Now.
        window: Maximum distance between both.
        milliseconds: The unit of `timestamp`.

    Raises:
        Forbidden: It is no number, or too far from now.
    """
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 15):
        raise Forbidden("请求里没有有效的时间戳。", code="invalid_signature")
    seconds = int(timestamp) / (1000 if milliseconds else 1)
    if abs(seconds - moment.timestamp()) > window.total_seconds():
        raise Forbidden("请求的时间戳不在允许的范围内。", code="stale_request")


def build_signature_error() -> Forbidden:
    """Builds the error for a wrong signature."""
    return Forbidden("签名不正确。", code="invalid_signature")


def build_unreadable_error() -> InvalidRequest:
    """Builds the error for content of a platform that cannot be read."""
    return InvalidRequest("读不懂平台发来的内容。", code="unreadable_callback")


def parse_object(body: bytes) -> Mapping[str, Any]:
    """Returns the JSON object that a platform sent. Raises InvalidRequest if it is none."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise build_unreadable_error() from error
    if not isinstance(data, dict):
        raise build_unreadable_error()
    return data


def require_field(values: Mapping[str, Any], name: str, kind: type = str) -> Any:
    """Returns a field of a platform's message. Raises InvalidRequest if it is missing or of another type."""
    value = values.get(name)
    if not isinstance(value, kind) or value == "":
        raise build_unreadable_error()
    return value


def parse_moment(text: str, *, per_second: int = 1) -> datetime:
    """Returns a time in a platform's message.

    Args:
        text: A number of units since the epoch.
        per_second: Units of a second, as 1000 of milliseconds.

    Raises:
        InvalidRequest: It is no number, or a time that `datetime` cannot hold.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 15 and int(text) < 10**11 * per_second):
        raise build_unreadable_error()
    return datetime.fromtimestamp(int(text) / per_second, UTC)


def read_token(data: Mapping[str, Any], token: str, seconds: str) -> FetchedToken:
    """Returns the access token in a platform's response. Raises PlatformUnavailable if there is none.

    token, seconds: the names of the fields.
    """
    lifetime = data.get(seconds)
    if not isinstance(lifetime, int):
        raise PlatformUnavailable("the response has no token")
    return require_text(data, token), float(lifetime)


def reveal_secret(secret: SecretStr) -> str:
    """Returns the value of a secret."""
    return secret.get_secret_value()
