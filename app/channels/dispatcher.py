"""Answers messages of channels by the same turns as all other messages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from loguru import logger

from agents.language import is_reply_english
from agents.types import Question
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import say
from app.attachments.types import Attachment
from app.channels.errors import PlatformRefused
from app.channels.types import ChannelReply, CitedSource, InboundKind, MediaFile, StoredMessage
from app.desk.types import State
from app.errors import AppError, Conflict, FileRejected
from app.idempotency.types import KeptResponse, RetryKey
from app.ids import create_id
from app.limits.types import Requester
from app.turns.types import Message
from app.types import Proof, SessionKey, Side
from knowledge.errors import InvalidDocument

if TYPE_CHECKING:
    from agents.profile import TenantProfile
    from app.chat.types import TurnDone
    from app.idempotency.service import RequestAttempt, Retries

Response = Mapping[str, Any]
# Shown to staff before the address of the picture or file.
_MEDIA = {InboundKind.IMAGE: "[图片]", InboundKind.VOICE: "[语音]", InboundKind.FILE: "[文件]"}


class Answers(Protocol):
    """The chat."""

    async def answer_message(self, message: Message) -> TurnDone: ...


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The services that a turn needs. count_message: counts a message of a customer for the limits; load_profile: of a
    tenant; is_held: whether a person has the session; find_url: of a document of a tenant, given sentences of it, empty
    if it has none; download: the files of a message; store_file: stores a file of at most max_bytes.
    """

    chat: Answers
    retries: Retries
    count_message: Callable[[str, Requester, str, str], Awaitable[Requester]]
    load_profile: Callable[[str], Awaitable[TenantProfile]]
    is_held: Callable[[SessionKey], bool]
    find_url: Callable[[str, str, list[str]], Awaitable[str]]
    download: Callable[[StoredMessage], Awaitable[Sequence[MediaFile]]]
    store_file: Callable[[SessionKey, str, bytes, Side], Awaitable[Attachment]]
    max_bytes: int


class Dispatcher:
    """Turns a customer's message into the reply."""

    def __init__(self, services: TurnServices) -> None:
        self._services = services

    async def answer_message(self, message: StoredMessage) -> ChannelReply | None:
        """Answers a message.

        Args:
            message: The customer's message.

        Returns:
            The reply, None if a person has the session and answers.

        Raises:
            AppError: It could not be answered.
            AgentError: It could not be answered.
            KnowledgeError: It could not be answered.
        """
        if message.kind is InboundKind.ENTER:
            return await self._build_notice(message, "greeting")
        key = SessionKey(message.tenant, message.session_id)
        held = self._services.is_held(key)
        if message.kind is InboundKind.VOICE and not held:
            return await self._build_notice(message, "channel_voice")
        attached = await self._store_attachments(message, key)
        if message.kind in _MEDIA and not attached and not held:
            return await self._build_notice(message, "channel_media")
        return await self._build_reply(message, await self._run_turn(message, attached))

    async def build_apology(self, message: StoredMessage) -> ChannelReply:
        """Builds the reply to a message that could not be answered in any try."""
        return await self._build_notice(message, "too_busy")

    @staticmethod
    def build_refusal(message: StoredMessage, error: AppError) -> ChannelReply:
        """Builds the reply that says why a message is not answered."""
        return ChannelReply(error.message, in_reply_to=message.id, session_id=message.session_id)

    async def _store_attachments(self, message: StoredMessage, key: SessionKey) -> tuple[str, ...]:
        """Stores the files of a message that can be accepted, and returns their ids. Raises PlatformUnavailable, and
        temporary errors of storing.
        """
        if not message.media:
            return ()
        kept = []
        try:
            for file in await self._services.download(message):
                kept.append((await self._services.store_file(key, file.name, file.content, Side.CUSTOMER)).id)
        except (PlatformRefused, InvalidDocument, FileRejected, Conflict) as error:
            logger.bind(tenant=message.tenant, channel=message.account).info("a file is not taken: {}", error)
        return tuple(kept)

    async def _run_turn(self, message: StoredMessage, attached: tuple[str, ...]) -> Response:
        """Runs the turn and returns the response; a turn that was saved before its reply is not repeated."""
        requester = Requester(key=f"channel:{message.account}", address=message.peer, server=True)
        asked = Message(
            tenant=message.tenant,
            session_id=message.session_id,
            text=self._build_text(message, attached),
            attachments=attached,
            user_id=message.member or f"{message.account}:{message.peer}"[:128],
            channel=message.account,
            trace_id=create_id(),
            client_id=message.id,
            proof=Proof(message.member, trusted=True),
        )

        async def answer(attempt: RequestAttempt | None) -> KeptResponse:
            count = self._services.count_message
            sender = await count(message.tenant, requester, message.session_id, asked.text)
            return (await self._services.chat.answer_message(replace(asked, sender=sender, attempt=attempt))).reply

        reply, _ = await self._services.retries.run_once(_build_retry_key(message), answer)
        response: Response = json.loads(reply.body)
        return response

    @staticmethod
    def _build_text(message: StoredMessage, attached: tuple[str, ...]) -> str:
        if message.kind not in _MEDIA:
            return message.text
        return "" if attached else f"{_MEDIA[message.kind]} {message.text}".strip()

    async def _build_reply(self, message: StoredMessage, response: Response) -> ChannelReply | None:
        data = response["data"]
        if data.get("handoff", {}).get("state") == State.ASSIGNED:
            return None
        buttons = data.get("buttons", ())
        said = [button["message"] for button in buttons if button["message"]]
        return ChannelReply(
            text=response["reply"],
            in_reply_to=message.id,
            session_id=message.session_id,
            sources=tuple([await self._build_source(message.tenant, source) for source in data["sources"]]),
            suggestions=tuple(dict.fromkeys([*said, *data["suggestions"]])),
            links=tuple((button["label"], button["url"]) for button in buttons if button["url"]),
        )

    async def _build_source(self, tenant: str, source: Mapping[str, Any]) -> CitedSource:
        if source["index"] == "SQL":
            return CitedSource("SQL", source["key"])
        quotes = [line for line in source["snippet"].split("\n") if line.strip()]
        url = await self._services.find_url(tenant, source["document_id"], quotes) if quotes else ""
        return CitedSource(str(source["index"]), source["title"], url)

    async def _build_notice(self, message: StoredMessage, key: str) -> ChannelReply:
        profile = await self._services.load_profile(message.tenant)
        said = "" if message.kind in _MEDIA else message.text  # else it is an address
        english = is_reply_english(Question(Utterance(said)), profile)
        text = say(key, english, name=profile.get_name(english), most=self._services.max_bytes // 2**20)
        if message.kind is InboundKind.ENTER and profile.welcome_message:
            text = profile.welcome_message
        return ChannelReply(text, in_reply_to=message.id, session_id=message.session_id)


def _build_retry_key(message: StoredMessage) -> RetryKey:
    """Builds the retry key of a message, since the platform or a restarted process may bring the same one again."""
    secret = f"channel:{message.account}:{message.id}"
    return RetryKey(message.tenant, hashlib.sha256(secret.encode()).hexdigest(), message.id, secret)
