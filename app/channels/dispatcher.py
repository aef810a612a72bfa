"""Answers what customers wrote on channels, by the same turns as everywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from loguru import logger

from agents.language import is_reply_english
from agents.types import Question
from agents.wording.catalogue import say
from app.attachments.types import Attachment
from app.channels.errors import PlatformRefused
from app.channels.types import ChannelReply, CitedSource, InboundKind, MediaFile, StoredMessage
from app.chat.session import Message
from app.desk.types import State
from app.errors import AppError, Conflict, FileRejected
from app.idempotency.types import KeptResponse, RetryKey
from app.ids import create_id
from app.limits.types import Requester
from app.types import Proof, SessionKey, Side
from knowledge.errors import InvalidDocument

if TYPE_CHECKING:
    from agents.profile import TenantProfile
    from app.chat.types import TurnDone
    from app.idempotency.service import Retries

Response = Mapping[str, Any]
_MEDIA = {InboundKind.IMAGE: "[图片]", InboundKind.VOICE: "[语音]", InboundKind.FILE: "[文件]"}
"""What staff read, before where it is to be found."""


class Answers(Protocol):
    """The chat."""

    async def answer_message(self, message: Message) -> TurnDone: ...


@dataclass(frozen=True, slots=True)
class ChatDesk:
    """What turns are had by. counted: counts one more message of a customer; profile: of a tenant; held: whether a
    person has the session; url: of a document of a tenant, given sentences of it, empty where it has
    none; download: what came with a message; attach: keeps a file, of max_bytes at most.
    """

    chat: Answers
    retries: Retries
    counted: Callable[[str, Requester, str], Awaitable[Requester]]
    profile: Callable[[str], Awaitable[TenantProfile]]
    held: Callable[[SessionKey], bool]
    url: Callable[[str, str, list[str]], Awaitable[str]]
    download: Callable[[StoredMessage], Awaitable[Sequence[MediaFile]]]
    attach: Callable[[SessionKey, str, bytes, Side], Awaitable[Attachment]]
    max_bytes: int


class Dispatcher:
    """From a customer's message to what the customer is told."""

    def __init__(self, desk: ChatDesk) -> None:
        self._desk = desk

    async def answer(self, message: StoredMessage) -> ChannelReply | None:
        """None where nothing is to be said: a person has the session and answers. Raises AppError, AgentError,
        KnowledgeError where it could not be answered.
        """
        if message.kind is InboundKind.ENTER:
            return await self._notice(message, "greeting")
        key = SessionKey(message.tenant, message.session_id)
        held = self._desk.held(key)
        if message.kind is InboundKind.VOICE and not held:
            return await self._notice(message, "channel_voice")
        attached = await self._attached(message, key)
        if message.kind in _MEDIA and not attached and not held:
            return await self._notice(message, "channel_media")
        return await self._reply(message, await self._turn(message, attached))

    async def apology(self, message: StoredMessage) -> ChannelReply:
        """What is said instead of an answer where none could be had, however often it was tried."""
        return await self._notice(message, "too_busy")

    @staticmethod
    def refusal(message: StoredMessage, error: AppError) -> ChannelReply:
        """Why a message is not answered."""
        return ChannelReply(error.message, in_reply_to=message.id, session_id=message.session_id)

    async def _attached(self, message: StoredMessage, key: SessionKey) -> tuple[str, ...]:
        """Ids of what came with a message, as far as it can be taken. Raises PlatformUnavailable, and what says that it
        cannot be taken just now.
        """
        if not message.media:
            return ()
        kept = []
        try:
            for file in await self._desk.download(message):
                kept.append((await self._desk.attach(key, file.name, file.content, Side.CUSTOMER)).id)
        except (PlatformRefused, InvalidDocument, FileRejected, Conflict) as error:
            logger.bind(tenant=message.tenant, channel=message.account).info("a file is not taken: {}", error)
        return tuple(kept)

    async def _turn(self, message: StoredMessage, attached: tuple[str, ...]) -> Response:
        """Has the turn, once: one that was kept before its reply was is not had again."""
        requester = Requester(key=f"channel:{message.account}", address=message.peer, server=True)
        asked = Message(
            tenant=message.tenant,
            session_id=message.session_id,
            text=self._words(message, attached),
            attachments=attached,
            user_id=message.member or f"{message.account}:{message.peer}"[:128],
            channel=message.account,
            trace_id=create_id(),
            client_id=message.id,
            sender=await self._desk.counted(message.tenant, requester, message.session_id),
            proof=Proof(message.member, trusted=True),
        )
        begun = await self._desk.retries.begin(_retry_key(message))
        if isinstance(begun, KeptResponse):
            kept: Response = json.loads(begun.body)
            return kept
        async with begun as attempt:
            done = await self._desk.chat.answer_message(replace(asked, attempt=attempt))
            await attempt.finish(done.reply)
        return done.build_response()

    @staticmethod
    def _words(message: StoredMessage, attached: tuple[str, ...]) -> str:
        if message.kind not in _MEDIA:
            return message.text
        return "" if attached else f"{_MEDIA[message.kind]} {message.text}".strip()

    async def _reply(self, message: StoredMessage, response: Response) -> ChannelReply | None:
        data = response["data"]
        if data.get("handoff", {}).get("state") == State.ASSIGNED:
            return None
        buttons = data.get("buttons", ())
        said = [button["message"] for button in buttons if button["message"]]
        return ChannelReply(
            text=response["reply"],
            in_reply_to=message.id,
            session_id=message.session_id,
            sources=tuple([await self._cited(message.tenant, source) for source in data["sources"]]),
            suggestions=tuple(dict.fromkeys([*said, *data["suggestions"]])),
            links=tuple((button["label"], button["url"]) for button in buttons if button["url"]),
        )

    async def _cited(self, tenant: str, source: Mapping[str, Any]) -> CitedSource:
        if source["index"] == "SQL":
            return CitedSource("SQL", source["key"])
        quotes = [line for line in source["snippet"].split("\n") if line.strip()]
        url = await self._desk.url(tenant, source["document_id"], quotes) if quotes else ""
        return CitedSource(str(source["index"]), source["title"], url)

    async def _notice(self, message: StoredMessage, key: str) -> ChannelReply:
        profile = await self._desk.profile(message.tenant)
        said = "" if message.kind in _MEDIA else message.text  # else it is an address
        english = is_reply_english(Question(said), profile)
        text = say(key, english, name=profile.get_name(english), most=self._desk.max_bytes // 2**20)
        if message.kind is InboundKind.ENTER and profile.welcome_message:
            text = profile.welcome_message
        return ChannelReply(text, in_reply_to=message.id, session_id=message.session_id)


def _retry_key(message: StoredMessage) -> RetryKey:
    """A message is a request that the platform, or a process that was killed, may bring again."""
    secret = f"channel:{message.account}:{message.id}"
    return RetryKey(message.tenant, hashlib.sha256(secret.encode()).hexdigest(), message.id, secret)
