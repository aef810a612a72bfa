from __future__ import annotations

import asyncio
import email
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

import pytest

from app.channels.base import Channel
from app.channels.mail import MAX_BYTES
from app.channels.types import CallbackRequest, ChannelReply, InboundKind, InboundMessage, OutgoingFile, Payload
from app.errors import NotFound
from tests.app.channels.contract import MOMENT, TEXT, ChannelContract
from tests.app.channels.simulators import Call, Platform

OWN, PASSWORD = "help@shop.example", "secret-of-mail"


@dataclass
class MailServer(Platform):
    """A folder that is read by IMAP (RFC 3501), and SMTP (RFC 5321), as far as a client of either needs it."""

    box: dict[int, bytes] = field(default_factory=dict)
    validity: int = 7
    ports: dict[str, int] = field(default_factory=dict)

    async def imap(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK IMAP4rev1 ready\r\n")
        while line := (await reader.readline()).decode().strip():
            tag, command, *rest = line.split(" ")
            said = [part.upper() for part in [command, *rest[:1]]]
            if said[0] == "CAPABILITY":
                writer.write(b"* CAPABILITY IMAP4rev1\r\n")
            elif said[0] == "LOGIN" and rest[-1].strip('"') != PASSWORD:
                writer.write(f"{tag} NO wrong password\r\n".encode())
                continue
            elif said[0] in ("SELECT", "EXAMINE"):
                writer.write(f"* {len(self.box)} EXISTS\r\n* OK [UIDVALIDITY {self.validity}] valid\r\n".encode())
            elif said == ["UID", "SEARCH"]:
                start = int(rest[-1].partition(":")[0])
                found = [uid for uid in self.box if uid >= start] or list(self.box)[-1:]
                writer.write(f"* SEARCH {' '.join(map(str, found))}\r\n".encode())
            elif said == ["UID", "FETCH"]:
                raw = self.box[int(rest[1])][:MAX_BYTES]
                writer.write(f"* 1 FETCH (UID {rest[1]} BODY[]<0> {{{len(raw)}}}\r\n".encode() + raw + b")\r\n")
            elif said[0] == "LOGOUT":
                writer.write(b"* BYE\r\n")
            writer.write(f"{tag} OK done\r\n".encode())
        writer.close()

    async def smtp(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        while line := (await reader.readline()).decode().strip():
            command = line.split(" ")[0].upper()
            if command == "EHLO":
                writer.write(b"250-mail\r\n250 AUTH PLAIN\r\n")
            elif command == "AUTH":
                writer.write(b"235 welcome\r\n")
            elif command == "DATA":
                writer.write(b"354 go on\r\n")
                raw = (await reader.readuntil(b"\r\n.\r\n"))[:-5]
                self.calls.append(Call("DATA", "smtp", {}, {}, raw))
                faults = self.faults.get("smtp")
                told = faults.pop(0) if faults else "250 taken"
                writer.write(f"{told if isinstance(told, str) else '421 away'}\r\n".encode())
            else:
                writer.write(b"221 bye\r\n" if command == "QUIT" else b"250 ok\r\n")
        writer.close()


@asynccontextmanager
async def mail_server() -> AsyncIterator[MailServer]:
    server = MailServer(lambda _: {})
    handlers: dict[str, Callable[[Any, Any], Awaitable[None]]] = {"imap": server.imap, "smtp": server.smtp}
    started = {name: await asyncio.start_server(handler, "127.0.0.1", 0) for name, handler in handlers.items()}
    server.ports = {name: one.sockets[0].getsockname()[1] for name, one in started.items()}
    yield server
    for one in started.values():
        one.close()


def mail(text: str, id: str = "m1", sender: str = "u1@home.example", moment: datetime = MOMENT, **more: str) -> bytes:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = f"顾客 <{sender}>", OWN, more.pop("subject", "")
    made["Message-ID"], made["Date"] = f"<{id}@home.example>", format_datetime(moment)
    for name, value in more.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made.as_bytes()


class TestMailChannel(ChannelContract):
    kind, send_path = "mail", "smtp"

    @pytest.fixture
    async def platform(self) -> AsyncIterator[Platform]:
        async with mail_server() as server:
            self.server = server
            yield server

    def options(self, platform: Platform) -> dict[str, str]:
        assert isinstance(platform, MailServer)
        hosts = {"imap_host": "127.0.0.1", "smtp_host": "127.0.0.1", "tls": "false"}
        ports = {f"{name}_port": str(port) for name, port in platform.ports.items()}
        return {"address": OWN, "password": PASSWORD, **hosts, **ports}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        return self.put(mail(text, id, f"{about.get('user', 'u1')}@home.example", moment))

    def put(self, *raw: bytes) -> CallbackRequest:
        self.server.box = dict(enumerate(raw, 1))
        return CallbackRequest("", {}, {}, b"", MOMENT)

    async def read(self, channel: Channel, request: CallbackRequest) -> tuple[InboundMessage, ...]:
        return (await channel.pull_messages("", "")).messages

    def answer(self, call: Call) -> Any:
        return {}

    def text_of(self, payload: Payload) -> str:
        return str(payload["text"])

    def read_by_customer(self, call: Call) -> str:
        return str(email.message_from_bytes(call.raw, policy=policy.default).get_content())

    def has_received(self, platform: Platform, file: OutgoingFile) -> bool:
        message = email.message_from_bytes(platform.calls[-1].raw, policy=policy.default)
        (attached,) = message.iter_attachments()
        return (attached.get_filename(), attached.get_content()) == (file.name, file.content)

    def busy(self) -> Any:
        return "451 try again later"

    def refusal(self) -> Any:
        return "554 no such user here"

    @pytest.mark.parametrize("kind", [InboundKind.FILE])
    async def test_what_is_no_text_says_so(self, channel: Channel, kind: InboundKind) -> None:
        (message,) = await self.read(channel, self.put(mail("")))
        assert message.kind is kind

    async def test_nobody_brings_mail(self, channel: Channel) -> None:
        with pytest.raises(NotFound):
            await channel.receive_request(self.request())

    async def test_a_reply_goes_on_the_thread_and_says_that_a_machine_wrote_it(
        self, channel: Channel, platform: Platform
    ) -> None:
        forged = b"=?utf-8?q?=E9=80=80=E8=B4=A7=0D=0ABcc:_x=40evil.example?="
        self.put(mail(TEXT, "m1", subject="SUBJECT").replace(b"SUBJECT", forged))
        (message,) = (await channel.pull_messages("", "")).messages
        await channel.send_payload(message.address, channel.render_reply(ChannelReply("可以。"))[0], "k1")
        sent = email.message_from_bytes(self.sent(platform)[-1].raw, policy=policy.default)
        assert sent["To"] == "u1@home.example"
        assert sent["Subject"] == "Re: 退货 Bcc: x@evil.example"
        assert sent["Bcc"] is None
        assert sent["In-Reply-To"] == sent["References"] == "<m1@home.example>"
        assert sent["Auto-Submitted"] == "auto-replied"

    @pytest.mark.parametrize(
        "raw",
        [
            mail(TEXT, Auto_Submitted="auto-replied"),
            mail(TEXT, Precedence="bulk"),
            mail(TEXT, List_Id="<news.example>"),
            mail(TEXT, sender="MAILER-DAEMON@home.example"),
            mail(TEXT, sender=OWN),
            b"From: nobody\r\n\r\ntext",
            b"",
        ],
    )
    async def test_what_no_person_wrote_is_not_answered(self, channel: Channel, raw: bytes) -> None:
        assert await self.read(channel, self.put(raw)) == ()

    async def test_what_is_quoted_is_no_part_of_the_question(self, channel: Channel) -> None:
        (message,) = await self.read(channel, self.put(mail("运费谁出？\n\n> 您好\n> 可以退货\n")))
        assert message.text == "运费谁出？"

    async def test_only_what_is_new_is_fetched(self, channel: Channel) -> None:
        self.put(mail("一", "m1"))
        first = await channel.pull_messages("", "")
        assert first.cursor == "7:1"
        assert (await channel.pull_messages(first.cursor, "")).messages == ()
        self.put(mail("一", "m1"), mail("二", "m2"))
        assert [one.text for one in (await channel.pull_messages(first.cursor, "")).messages] == ["二"]
        self.server.validity = 8
        numbered_anew = await channel.pull_messages("7:2", "")
        assert (numbered_anew.messages, numbered_anew.cursor) == ((), "8:2")

    async def test_a_mail_that_breaks_the_parser_keeps_none_back(self, channel: Channel) -> None:
        nested = b"From: a@b.example\r\n" + b"".join(
            b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (depth, depth) for depth in range(3000)
        )
        unknown = mail("三", "m3").replace(b"utf-8", b"no-such")
        messages = await self.read(channel, self.put(nested, b"\xff" * 5000, unknown, mail("二", "m2")))
        assert "二" in [message.text for message in messages]

    async def test_a_large_mail_is_read_as_far_as_its_words(self, channel: Channel) -> None:
        (message,) = await self.read(channel, self.put(mail("字" * 400_000)))
        assert 0 < len(message.text) <= 20_000
