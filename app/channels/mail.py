"""E-mail: fetched by IMAP, answered by SMTP. Nobody proves who they are: a mail is answered to where it says it is
from.
"""

from __future__ import annotations

import asyncio
import imaplib
import re
import smtplib
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from email import policy
from email.header import decode_header, make_header
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.utils import parseaddr, parsedate_to_datetime
from itertools import takewhile
from typing import ClassVar

from loguru import logger
from pydantic import Field, SecretStr

from app.channels.base import FRESH, Channel, ChannelOptions, ChannelParts, revealed
from app.channels.errors import PlatformRefused, PlatformUnavailable, describe_error
from app.channels.markup import draw_plain
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    MediaFile,
    OutgoingFile,
    Payload,
    PulledMessages,
)
from app.db.base import now
from app.errors import NotFound
from app.limits.types import Rate

MAX_BYTES = 256 * 1024
"""Of a mail that is read: its words come first, attachments after them."""
AT_ONCE = 50
MAX_FILES = 3
"""Attachments of a mail that are taken."""
SECONDS = 30.0
MAX_TEXT = 20_000
MAX_HEADER = 4000
_ADDRESS = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}")
_MAILBOT = re.compile(r"mailer-daemon|postmaster|no-?reply|donotreply", re.IGNORECASE)
_QUOTED = re.compile(r"^(?:>|-{2,} ?(?:Original Message|原始邮件|Forwarded)|-- $|_{10,}$|发件人[:：]|From: )")
_UNSAFE = re.compile(r"[\r\n\x00]+")


class MailOptions(ChannelOptions):
    """tls: whether both servers speak TLS from the start, as on ports 993 and 465. poll_seconds: how often mail is
    fetched.
    """

    address: str = Field(pattern=r"^[^\s@]+@[^\s@]+$", max_length=254)
    username: str = Field("", max_length=254)
    password: SecretStr = Field(min_length=1)
    imap_host: str = Field(min_length=1, max_length=253)
    imap_port: int = Field(993, ge=1, le=65535)
    smtp_host: str = Field(min_length=1, max_length=253)
    smtp_port: int = Field(465, ge=1, le=65535)
    folder: str = Field("INBOX", pattern=r"^[A-Za-z0-9_./-]+$", max_length=100)
    tls: bool = True
    poll_seconds: float = Field(60.0, ge=1, le=3600)


class MailChannel(Channel):
    """See docs/channels.md."""

    Options = MailOptions
    rate: ClassVar[Rate] = Rate(30)

    def __init__(self, options: MailOptions, parts: ChannelParts) -> None:
        super().__init__(options, parts)
        self.pull_seconds = options.poll_seconds

    async def receive(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`. Raises NotFound: mail is fetched, nobody brings it."""
        raise NotFound("没有这个渠道。", code="channel_not_found", channel=self.parts.name)

    async def pull(self, cursor: str, token: str) -> PulledMessages:
        """See `Channel`: what came after a number within the folder, as long as the server counts it the same way."""
        return await asyncio.to_thread(self._fetch, cursor)

    async def download(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel`: what is attached to the mail; larger files are left out."""
        return await asyncio.to_thread(self._attached, media["uid"], most)

    def _attached(self, uid: int, most: int) -> list[MediaFile]:
        with self._mailbox() as mailbox:
            _done(mailbox.select(self.options.folder, readonly=True))
            data = _done(mailbox.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MAX_FILES * most}>)"))
        raw = next((part[1] for part in data if isinstance(part, tuple)), b"")
        found = []
        for part in BytesParser(policy=policy.compat32).parsebytes(raw).walk():
            content = part.get_payload(decode=True) if part.get_filename() else None
            if isinstance(content, bytes) and 0 < len(content) <= most:
                found.append(MediaFile(str(make_header(decode_header(part.get_filename() or ""))), content))
        return found[:MAX_FILES]

    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: a mail may be of any length."""
        return [{"text": draw_plain(reply, suggestions=True) or "…"}]

    async def send(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        await asyncio.to_thread(self._deliver, address, payload["text"], key)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: attached to a mail of its own; a server refuses what is too large for it."""
        await asyncio.to_thread(self._deliver, address, file.name, key, file)

    def _fetch(self, cursor: str) -> PulledMessages:
        with self._mailbox() as mailbox:
            _done(mailbox.select(self.options.folder, readonly=True))
            validity = _first(mailbox.response("UIDVALIDITY")[1]).decode("ascii", "replace")
            known, _, last = cursor.partition(":")
            start = int(last) + 1 if known == validity and last.isdigit() else 1
            listed = _first(_done(mailbox.uid("SEARCH", "UID", f"{start}:*"))).split()
            found = sorted(uid for uid in map(int, listed) if uid >= start)  # `*` is the last one, however old
            batch = found[:AT_ONCE] if cursor else found[-AT_ONCE:]
            messages = [message for uid in batch if (message := self._message(mailbox, uid)) is not None]
            if known and known != validity:  # all are numbered anew, and what was answered is not known by number
                messages = [message for message in messages if message.sent_at > now() - FRESH]
            highest = batch[-1] if batch else start - 1
            return PulledMessages(tuple(messages), f"{validity}:{highest}", more=len(found) > AT_ONCE and bool(cursor))

    def _message(self, mailbox: imaplib.IMAP4, uid: int) -> InboundMessage | None:
        """None for what no person wrote, or to nobody who can be answered, and for what cannot be read."""
        data = _done(mailbox.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MAX_BYTES}>)"))
        raw = next((part[1] for part in data if isinstance(part, tuple)), b"")
        try:
            return self._read(BytesParser(policy=policy.compat32).parsebytes(raw[:MAX_BYTES]), uid)
        except Exception as error:  # whatever a stranger's mail does to the parser, it keeps none of the others back
            logger.bind(channel=self.parts.name, uid=uid).opt(exception=error).warning("a mail cannot be read")
            return None

    def _read(self, mail: Message, uid: int) -> InboundMessage | None:
        sender = parseaddr(_header(mail, "Reply-To") or _header(mail, "From"))[1].lower()
        if not _ADDRESS.fullmatch(sender) or sender == self.options.address.lower() or _automatic(mail, sender):
            return None
        subject, name = _header(mail, "Subject"), _header(mail, "Message-ID") or f"{sender}:{uid}"
        text = _words(mail)
        address = {"to": sender, "subject": subject[:200], "reference": name[:500]}
        kind = InboundKind.TEXT if text or subject else InboundKind.FILE
        media = {"uid": uid} if any(part.get_filename() for part in mail.walk()) else {}
        return InboundMessage(name, sender, text or subject, address, _sent_at(mail), kind, media=media)

    def _deliver(self, address: Address, text: str, key: str, file: OutgoingFile | None = None) -> None:
        mail = EmailMessage()
        subject = address["subject"] or self.options.address
        mail["From"], mail["To"] = self.options.address, address["to"]
        mail["Subject"] = subject if subject.lower().startswith("re:") else f"Re: {subject}"
        mail["Message-ID"] = f"<{key}@{self.options.address.partition('@')[2]}>"
        mail["In-Reply-To"] = mail["References"] = address["reference"]
        mail["Auto-Submitted"] = "auto-replied"  # so that no other robot answers (RFC 3834)
        mail.set_content(text)
        if file is not None:
            kind, _, subkind = file.media_type.partition("/")
            mail.add_attachment(file.content, maintype=kind, subtype=subkind, filename=file.name)
        try:
            with self._postbox() as postbox:
                postbox.send_message(mail)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPResponseException) as error:
            raise _refusal(error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise PlatformUnavailable(describe_error(error)) from error

    @contextmanager
    def _mailbox(self) -> Iterator[imaplib.IMAP4]:
        options = self.options
        try:
            if options.tls:
                context = ssl.create_default_context()
                mailbox: imaplib.IMAP4 = imaplib.IMAP4_SSL(
                    options.imap_host, options.imap_port, ssl_context=context, timeout=SECONDS
                )
            else:
                mailbox = imaplib.IMAP4(options.imap_host, options.imap_port, timeout=SECONDS)
            with mailbox:
                mailbox.login(options.username or options.address, revealed(options.password))
                yield mailbox
        except (imaplib.IMAP4.error, OSError) as error:
            raise PlatformUnavailable(describe_error(error)) from error

    @contextmanager
    def _postbox(self) -> Iterator[smtplib.SMTP]:
        options = self.options
        if options.tls:
            context = ssl.create_default_context()
            postbox: smtplib.SMTP = smtplib.SMTP_SSL(
                options.smtp_host, options.smtp_port, context=context, timeout=SECONDS
            )
        else:
            postbox = smtplib.SMTP(options.smtp_host, options.smtp_port, timeout=SECONDS)
        with postbox:
            postbox.login(options.username or options.address, revealed(options.password))
            yield postbox


def _automatic(mail: Message, sender: str) -> bool:
    """Whether a machine wrote it: two that answer each other would never end."""
    submitted = _header(mail, "Auto-Submitted").lower()
    bulk = _header(mail, "Precedence").lower() in ("bulk", "list", "junk", "auto_reply")
    listed = any(mail.get(name) is not None for name in ("List-Id", "List-Unsubscribe", "X-Auto-Response-Suppress"))
    return (submitted not in ("", "no")) or bulk or listed or bool(_MAILBOT.search(sender.partition("@")[0]))


def _words(mail: Message) -> str:
    """What was written, without what it answers: of the first part that is plain text."""
    plain = (part for part in mail.walk() if part.get_content_type() == "text/plain" and part.get_filename() is None)
    part = next(plain, None)
    payload = part.get_payload(decode=True) if part is not None else None
    if part is None or not isinstance(payload, bytes):
        return ""
    try:
        text = payload.decode(str(part.get_content_charset("utf-8")), "replace")
    except LookupError:
        text = payload.decode("utf-8", "replace")
    lines = list(takewhile(lambda line: not _QUOTED.match(line), text[:MAX_TEXT].splitlines()))
    return "\n".join(lines).strip()


def _header(mail: Message, name: str) -> str:
    """Decoded, and on one line."""
    raw = str(mail.get(name, ""))[:MAX_HEADER]
    try:
        decoded = str(make_header(decode_header(raw)))
    except (ValueError, LookupError):  # of no known charset: as it stands
        return _UNSAFE.sub(" ", raw).strip()
    return _UNSAFE.sub(" ", decoded).strip()


def _sent_at(mail: Message) -> datetime:
    """As the mail says, but never later than now."""
    try:
        moment = parsedate_to_datetime(_header(mail, "Date"))
    except (ValueError, IndexError):
        return now()
    return min(moment if moment.tzinfo else moment.replace(tzinfo=UTC), now())


def _refusal(error: smtplib.SMTPException) -> PlatformRefused | PlatformUnavailable:
    """A reply that begins with 5 is for good (RFC 5321, 4.2.1)."""
    codes = (
        [code for code, _ in error.recipients.values()]
        if isinstance(error, smtplib.SMTPRecipientsRefused)
        else [getattr(error, "smtp_code", 0)]
    )
    told = str(error)[:200]
    return PlatformRefused(told) if all(500 <= code < 600 for code in codes) else PlatformUnavailable(told)


def _done(answer: tuple[str, Sequence[object]]) -> Sequence[object]:
    """What a command gave. Raises PlatformUnavailable where it failed."""
    if answer[0] != "OK":
        raise PlatformUnavailable(f"IMAP {answer[0]}")
    return answer[1]


def _first(data: Sequence[object]) -> bytes:
    first = data[0] if data else None
    return first if isinstance(first, bytes) else b""
