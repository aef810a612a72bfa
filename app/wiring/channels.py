"""The channels of one process, out of its settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from app.channels.base import Channel, ChannelParts
from app.channels.client import PlatformClient
from app.channels.dispatcher import Dispatcher, TurnServices
from app.channels.registry import CHANNELS
from app.channels.repository import ChannelRepository
from app.channels.repository_desk import UnseenMessageRepository
from app.channels.repository_members import MemberRepository
from app.channels.sender import ReplyWorker
from app.channels.service import ChannelService, OpenedChannel
from app.channels.staff_files import StaffFiles
from app.channels.tokens import TokenCache
from app.channels.types import MediaFile, StoredMessage
from app.channels.worker import MessageWorker
from app.desk.openings import HANDED_OVER_NOTICE
from knowledge.errors import InvalidConfiguration

if TYPE_CHECKING:
    from app.attachments.service import AttachmentService
    from app.chat.service import ChatService
    from app.configuration.channels import ChannelAccount
    from app.desk.human_desk import HumanDesk
    from app.idempotency.service import Retries
    from app.limits.service import RateLimits
    from app.limits.windows import Counters
    from app.profiles.repository import ProfileRepository
    from app.redis.server import RedisServer
    from app.settings import Settings
    from app.wiring.knowledge import KnowledgeBase


def build_channel_service(
    settings: Settings,
    base: KnowledgeBase,
    redis: RedisServer | None,
    counters: Counters,
    *,
    chat: ChatService,
    retries: Retries,
    limits: RateLimits,
    profiles: ProfileRepository,
    desk: HumanDesk,
    attachments: AttachmentService,
) -> ChannelService:
    """Builds the channels over the chat. Raises InvalidConfiguration, MissingDependency."""
    database = base.database
    client, tokens = PlatformClient(settings.channel_timeout), TokenCache(redis)
    opened = [
        OpenedChannel(account.name, account.kind, account.tenant, open_channel(account, client, tokens))
        for account in settings.channels
    ]
    channels = {one.account: one.channel for one in opened}
    repository = ChannelRepository(database)
    replies = ReplyWorker(
        repository,
        UnseenMessageRepository(database),
        channels,
        counters,
        StaffFiles(attachments, profiles),
        settings.channel_max_attempts,
        [HANDED_OVER_NOTICE],
    )

    async def find_url(tenant: str, document: str, quotes: list[str]) -> str:
        found = await base.documents.find_passage(tenant, document, quotes)
        return (found.url or "") if found else ""

    async def download(message: StoredMessage) -> Sequence[MediaFile]:
        channel = channels[message.tenant, message.account]
        return await channel.download_media(message.media, settings.attachment_max_bytes)

    services = TurnServices(
        chat,
        retries,
        limits.count_message,
        profiles.get,
        desk.feed.is_held,
        find_url,
        download,
        attachments.store_file,
        settings.attachment_max_bytes,
    )
    messages = MessageWorker(repository, Dispatcher(services), channels, replies.wake)
    return ChannelService(opened, repository, messages, replies, client, MemberRepository(database))


def open_channel(account: ChannelAccount, client: PlatformClient, tokens: TokenCache) -> Channel:
    """Opens one account. Raises MissingDependency, and InvalidConfiguration, which names it and what to write."""
    if account.kind not in CHANNELS:
        known = "、".join(CHANNELS)
        raise InvalidConfiguration(f"CHANNELS 里 {account.name} 的 kind={account.kind} 不认识，可用的有 {known}")
    kind = CHANNELS[account.kind]()
    try:
        options = kind.Options(**account.plain_options)
    except ValidationError as error:
        wrong = "、".join(".".join(map(str, item["loc"])) or "options" for item in error.errors())
        raise InvalidConfiguration(f"CHANNELS 里 {account.name}（{account.kind}）的 options 不对：{wrong}") from error
    return kind(options, ChannelParts(account.name, client, tokens))
