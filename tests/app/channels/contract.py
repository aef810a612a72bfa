"""What every channel keeps to; a channel's own suite inherits it and says how its platform signs."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.channels.base import Channel, ChannelParts
from app.channels.client import PlatformClient
from app.channels.errors import ChannelError, PlatformRefused, PlatformUnavailable
from app.channels.registry import CHANNELS
from app.channels.tokens import TokenCache
from app.channels.types import (
    CallbackRequest,
    ChannelReply,
    CitedSource,
    InboundKind,
    InboundMessage,
    OutgoingFile,
    Payload,
    ReplySender,
)
from app.configuration.channels import ChannelAccount
from app.db.base import now
from app.errors import Forbidden, InvalidRequest
from app.wiring.channels import open_channel
from knowledge.errors import InvalidConfiguration
from tests.app.channels.simulators import Call, Platform, simulated
from tests.app.serving import served

MOMENT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
TEXT = "怎么退货"
LONG = "这是一段很长的说明。" * 2000
PICTURE = OutgoingFile("s1", "a" * 32, "指示灯.png", "image/png", b"\x89PNG picture")
DOCUMENT = OutgoingFile("s1", "b" * 32, "说明书.pdf", "application/pdf", b"%PDF-1.7 document")
# What a platform calls a file that was uploaded.
UPLOADED = "media-1"


class ChannelContract(ABC):
    """The simulator of a platform, and the tests that all have in common."""

    kind: str
    # Where messages to customers go.
    send_path: str
    # Of a message that the platform takes.
    most_bytes = 100_000
    # Of staff, to be sent to customers.
    takes: tuple[OutgoingFile, ...] = (PICTURE, DOCUMENT)
    # Of a file that the platform takes, None where it does not say.
    most_file_bytes: int | None = None

    @abstractmethod
    def options(self, platform: Platform) -> dict[str, str]:
        """Of an account, whose platform is the simulator."""

    @abstractmethod
    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        """A customer's message as the platform sends it. about: `user`, and `kind` other than text."""

    @abstractmethod
    def answer(self, call: Call) -> Any:
        """What the platform says to what it is asked."""

    @abstractmethod
    def text_of(self, payload: Payload) -> str:
        """What a customer reads of a message."""

    @abstractmethod
    def busy(self) -> Any:
        """The platform's answer to one message too many."""

    @abstractmethod
    def refusal(self) -> Any:
        """The platform's answer to what it never takes."""

    def media(self, kind: InboundKind) -> CallbackRequest:
        """A message that is no text."""
        return self.request("", kind=kind)

    @pytest.fixture
    async def platform(self):  # type: ignore[no-untyped-def]
        async with simulated(self.answer) as platform:
            yield platform

    @pytest.fixture
    async def channel(self, platform: Platform):  # type: ignore[no-untyped-def]
        client = PlatformClient(5.0)
        options = self.options(platform)
        yield CHANNELS[self.kind]()(
            CHANNELS[self.kind]().Options(**options), ChannelParts("shop", client, TokenCache())
        )
        await client.close()

    async def address(self, channel: Channel) -> dict[str, Any]:
        return (await self.read(channel, self.request()))[0].address

    async def read(self, channel: Channel, request: CallbackRequest) -> tuple[InboundMessage, ...]:
        """What customers wrote, of a request."""
        return (await channel.receive_request(request)).messages

    async def test_a_signed_message_is_read(self, channel: Channel) -> None:
        (message,) = await self.read(channel, self.request("怎么退货", "m7", user="u1"))
        assert message.text == "怎么退货"
        assert message.kind is InboundKind.TEXT
        assert abs(message.sent_at - MOMENT) < timedelta(minutes=1)

    async def test_an_id_and_a_conversation_are_the_platforms_own(self, channel: Channel) -> None:
        async def read(**about: Any) -> tuple[str, str]:
            (message,) = await self.read(channel, self.request(**about))
            return message.id, message.peer

        first, again, other = await read(id="m1"), await read(id="m1"), await read(id="m2", user="u2")
        assert first == again
        assert first[0] != other[0]
        assert first[1] != other[1]

    @pytest.mark.parametrize("kind", [InboundKind.IMAGE, InboundKind.VOICE])
    async def test_what_is_no_text_says_so(self, channel: Channel, kind: InboundKind) -> None:
        (message,) = await self.read(channel, self.media(kind))
        assert message.kind is kind

    async def test_a_long_reply_is_drawn_within_what_the_platform_takes(self, channel: Channel) -> None:
        drawn = channel.render_reply(ChannelReply(LONG))
        assert drawn
        assert all(len(self.text_of(payload).encode()) <= self.most_bytes for payload in drawn)

    async def test_the_whole_of_a_short_reply_is_drawn(self, channel: Channel) -> None:
        (payload,) = channel.render_reply(ChannelReply("七天内可以退货 [1]。", sources=(CitedSource("1", "退货说明"),)))
        assert "七天内可以退货" in self.text_of(payload)
        assert "退货说明" in self.text_of(payload)

    async def test_a_source_with_an_address_is_a_link(self, channel: Channel) -> None:
        cited = CitedSource("1", "退货说明", "https://help.example.com/returns")
        assert "https://help.example.com/returns" in json_of(
            channel.render_reply(ChannelReply("可以。", sources=(cited,)))
        )

    async def test_suggestions_reach_the_customer(self, channel: Channel) -> None:
        assert "运费谁出" in json_of(channel.render_reply(ChannelReply("可以。", suggestions=("运费谁出",))))

    async def test_an_empty_reply_is_drawn(self, channel: Channel) -> None:
        assert len(channel.render_reply(ChannelReply("", ReplySender.AGENT))) == 1

    async def test_a_reply_is_sent(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("七天内可以退货。"))
        await channel.send_payload(await self.address(channel), payload, "k1")
        assert "七天内可以退货" in self.read_by_customer(self.sent(platform)[-1])

    def read_by_customer(self, call: Call) -> str:
        """What a message that was sent says."""
        return json_of(call.body)

    def has_received(self, platform: Platform, file: OutgoingFile) -> bool:
        """Whether the platform has a file and was told to show it to the customer."""
        *_, upload, message = platform.calls
        return file.content in upload.raw and file.name.encode() in upload.raw and UPLOADED.encode() in message.raw

    @pytest.mark.parametrize("file", [PICTURE, DOCUMENT], ids=["picture", "document"])
    async def test_what_staff_sends_reaches_the_customer_or_is_refused(
        self, channel: Channel, platform: Platform, file: OutgoingFile
    ) -> None:
        address = await self.address(channel)
        if file in self.takes:
            await channel.send_file(address, file, "k1")
            assert self.has_received(platform, file)
        else:
            calls = len(platform.calls)
            with pytest.raises(PlatformRefused):
                await channel.send_file(address, file, "k1")
            assert len(platform.calls) == calls

    async def test_a_file_that_the_platform_would_not_take_is_not_uploaded(
        self, channel: Channel, platform: Platform
    ) -> None:
        if self.most_file_bytes is not None:
            address = await self.address(channel)
            calls = len(platform.calls)
            with pytest.raises(PlatformRefused):
                await channel.send_file(address, replace(PICTURE, content=bytes(self.most_file_bytes + 1)), "k1")
            assert len(platform.calls) == calls

    def sent(self, platform: Platform) -> list[Call]:
        """The messages that customers were sent."""
        return platform.of(self.send_path)

    async def test_a_platform_that_has_enough_is_asked_later(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        platform.faults[self.send_path] = [self.busy()]
        with pytest.raises(PlatformUnavailable):
            await channel.send_payload(await self.address(channel), payload, "k1")

    async def test_a_platform_that_is_away_is_asked_later(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        platform.faults[self.send_path] = [(502, {})]
        with pytest.raises(PlatformUnavailable):
            await channel.send_payload(await self.address(channel), payload, "k1")

    async def test_a_platform_that_refuses_is_not_asked_again(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        platform.faults[self.send_path] = [self.refusal()]
        with pytest.raises(PlatformRefused):
            await channel.send_payload(await self.address(channel), payload, "k1")

    async def test_wrong_options_are_named_and_not_shown(self) -> None:
        with pytest.raises(InvalidConfiguration, match="shop") as caught:
            opened(self.kind, {"nonsense": "hidden-value"})
        assert "hidden-value" not in str(caught.value)


class SignedContract(ChannelContract):
    """Of channels that a platform sends to."""

    # Whether the signature does, so that a changed body is refused.
    covers_body = True
    replays_expire = True

    def forged(self, request: CallbackRequest) -> CallbackRequest:
        """The same with a signature of somebody who does not know the secret."""
        return replace(
            request,
            query={name: _other(value) if "signature" in name else value for name, value in request.query.items()},
            headers={
                name: _other(value) if "signature" in name or name == "sign" else value
                for name, value in request.headers.items()
            },
        )

    async def test_a_forged_signature_is_refused(self, channel: Channel) -> None:
        with pytest.raises(Forbidden):
            await channel.receive_request(self.forged(self.request()))

    async def test_a_request_without_any_signature_is_refused(self, channel: Channel) -> None:
        request = self.request()
        with pytest.raises((Forbidden, InvalidRequest)):
            await channel.receive_request(replace(request, query={}, headers={}))

    async def test_a_body_of_another_message_is_refused(self, channel: Channel) -> None:
        """Where the platform's signature covers it; docs/channels.md says where it does not."""
        exchanged = replace(self.request("一"), body=self.request("二", "m2").body)
        if self.covers_body:
            with pytest.raises((Forbidden, InvalidRequest)):
                await channel.receive_request(exchanged)
        else:
            assert [message.text for message in await self.read(channel, exchanged)] == ["二"]

    @pytest.mark.parametrize("hours", [-3, 3])
    async def test_a_replay_is_refused(self, channel: Channel, hours: int) -> None:
        """Where the platform signs the time."""
        late = replace(self.request(), moment=MOMENT + timedelta(hours=hours))
        if self.replays_expire:
            with pytest.raises(Forbidden):
                await channel.receive_request(late)
        else:
            assert len(await self.read(channel, late)) == 1

    @pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"<xml", b"[" * 5000])
    async def test_what_is_no_message_is_refused(self, channel: Channel, body: bytes) -> None:
        with pytest.raises((Forbidden, InvalidRequest)):
            await channel.receive_request(replace(self.request(), body=body))

    async def test_a_customer_is_answered_once(self, platform: Platform, tmp_path: Path) -> None:
        """Through the whole product: in the response, or by a message."""
        account = {"name": "shop", "kind": self.kind, "options": self.options(platform)}
        async with served(tmp_path, channels=[account]) as one, httpx.AsyncClient(base_url=one.address) as http:
            request = self.request("你好", moment=now())
            options: dict[str, Any] = {"params": dict(request.query), "headers": dict(request.headers)}
            bodies = []
            for _ in range(3):
                told = await http.post("/api/v1/channels/shop/callback", content=request.body, timeout=60, **options)
                assert told.status_code == 200
                bodies.append(told.content)
            if len(set(bodies)) == 1:  # none of them holds a reply
                await platform.wait(self.send_path)
                await asyncio.sleep(0.7)
            else:
                assert bodies[1] == bodies[2]
            assert len(self.sent(platform)) == (len(set(bodies)) == 1)


class TokenContract(SignedContract):
    """Of channels whose platform gives out access tokens."""

    token_path: str

    @abstractmethod
    def expired(self) -> Any:
        """The platform's answer to a token that counts no more."""

    async def test_a_token_is_fetched_once(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        for key in ("k1", "k2"):
            await channel.send_payload(await self.address(channel), payload, key)
        assert len(platform.of(self.token_path)) == 1
        assert len(self.sent(platform)) == 2

    async def test_a_token_that_ran_out_is_fetched_anew(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        address = await self.address(channel)
        await channel.send_payload(address, payload, "k1")
        platform.faults[self.send_path] = [self.expired()]
        await channel.send_payload(address, payload, "k2")
        assert len(platform.of(self.token_path)) == 2
        assert len(self.sent(platform)) == 3

    async def test_a_token_that_never_counts_ends_the_tries(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        platform.faults[self.send_path] = [self.expired(), self.expired()]
        with pytest.raises(ChannelError):
            await channel.send_payload(await self.address(channel), payload, "k1")


def opened(kind: str, options: Mapping[str, str]) -> Channel:
    """As the settings open it."""
    account = ChannelAccount.model_validate({"name": "shop", "kind": kind, "options": dict(options)})
    return open_channel(account, PlatformClient(5.0), TokenCache())


def json_of(value: Any) -> str:
    """Everything that is in it, readable."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _other(value: str) -> str:
    return ("0" if value[:1] != "0" else "1") + value[1:]
