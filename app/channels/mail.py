"""E-mail: fetched by IMAP, answered by SMTP. The sender is not proved: the answer goes to the address that the mail
names.
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

from app.channels.base import FRESH, Channel, ChannelOptions, ChannelParts, reveal_secret
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

# Bytes read of a mail: its text comes first, attachments after it.
MAX_BYTES = 256 * 1024
# Mails of one fetch.
AT_ONCE = 50
# Maximum attachments of a mail that are stored.
MAX_FILES = 3
# Timeout of a step with a mail server.
SECONDS = 30.0
# Characters of a text, and of one header, that are looked at.
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

    async def receive_request(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`. Raises NotFound, since mail is only fetched."""
        raise NotFound("没有这个渠道。", code="channel_not_found", channel=self.parts.name)

    async def pull_messages(self, cursor: str, token: str) -> PulledMessages:
        """See `Channel`: the cursor is the last number in the folder and the UIDVALIDITY under which it counts."""
        return await asyncio.to_thread(self._fetch_mails, cursor)

    async def download_media(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel`: the attachments of the mail; larger files are left out."""
        return await asyncio.to_thread(self._fetch_attachments, media["uid"], most)

    def _fetch_attachments(self, uid: int, most: int) -> list[MediaFile]:
        with self._open_mailbox() as mailbox:
            _require_ok(mailbox.select(self.options.folder, readonly=True))
            data = _require_ok(mailbox.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MAX_FILES * most}>)"))
        raw = next((part[1] for part in data if isinstance(part, tuple)), b"")
        found = []
        for part in BytesParser(policy=policy.compat32).parsebytes(raw).walk():
            content = part.get_payload(decode=True) if part.get_filename() else None
            if isinstance(content, bytes) and 0 < len(content) <= most:
                found.append(MediaFile(str(make_header(decode_header(part.get_filename() or ""))), content))
        return found[:MAX_FILES]

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: a mail may be of any length."""
        return [{"text": draw_plain(reply, suggestions=True) or "…"}]

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        await asyncio.to_thread(self._send_mail, address, payload["text"], key)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: attached to a mail of its own; a server refuses what is too large for it."""
        await asyncio.to_thread(self._send_mail, address, file.name, key, file)

    def _fetch_mails(self, cursor: str) -> PulledMessages:
        with self._open_mailbox() as mailbox:
            _require_ok(mailbox.select(self.options.folder, readonly=True))
            validity = _get_first(mailbox.response("UIDVALIDITY")[1]).decode("ascii", "replace")
            known, _, last = cursor.partition(":")
            start = int(last) + 1 if known == validity and last.isdigit() else 1
            listed = _get_first(_require_ok(mailbox.uid("SEARCH", "UID", f"{start}:*"))).split()
            found = sorted(uid for uid in map(int, listed) if uid >= start)  # `*` is the last one, however old
            # Without a cursor only the latest count: old mail is not answered, see `Puller.fetch_messages`.
            batch = found[:AT_ONCE] if cursor else found[-AT_ONCE:]
            messages = [message for uid in batch if (message := self._fetch_message(mailbox, uid)) is not None]
            if known and known != validity:  # all are numbered anew, and what was answered is not known by number
                messages = [message for message in messages if message.sent_at > now() - FRESH]
            highest = batch[-1] if batch else start - 1
            return PulledMessages(tuple(messages), f"{validity}:{highest}", more=len(found) > AT_ONCE and bool(cursor))

    def _fetch_message(self, mailbox: imaplib.IMAP4, uid: int) -> InboundMessage | None:
        """Fetches one mail; None if no person wrote it, it cannot be answered, or it cannot be read."""
        data = _require_ok(mailbox.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MAX_BYTES}>)"))
        raw = next((part[1] for part in data if isinstance(part, tuple)), b"")
        try:
            return self._build_message(BytesParser(policy=policy.compat32).parsebytes(raw[:MAX_BYTES]), uid)
        except Exception as error:  # whatever a stranger's mail does to the parser, it keeps none of the others back
            logger.bind(channel=self.parts.name, uid=uid).opt(exception=error).warning("a mail cannot be read")
            return None

    def _build_message(self, mail: Message, uid: int) -> InboundMessage | None:
        sender = parseaddr(_read_header(mail, "Reply-To") or _read_header(mail, "From"))[1].lower()
        if not _ADDRESS.fullmatch(sender) or sender == self.options.address.lower() or _is_automatic(mail, sender):
            return None
        subject, name = _read_header(mail, "Subject"), _read_header(mail, "Message-ID") or f"{sender}:{uid}"
        text = _extract_text(mail)
        address = {"to": sender, "subject": subject[:200], "reference": name[:500]}
        kind = InboundKind.TEXT if text or subject else InboundKind.FILE
        media = {"uid": uid} if any(part.get_filename() for part in mail.walk()) else {}
        return InboundMessage(name, sender, text or subject, address, _parse_date(mail), kind, media=media)

    def _send_mail(self, address: Address, text: str, key: str, file: OutgoingFile | None = None) -> None:
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
            with self._open_postbox() as postbox:
                postbox.send_message(mail)
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPResponseException) as error:
            raise _build_send_error(error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise PlatformUnavailable(describe_error(error)) from error

    @contextmanager
    def _open_mailbox(self) -> Iterator[imaplib.IMAP4]:
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
                mailbox.login(options.username or options.address, reveal_secret(options.password))
                yield mailbox
        except (imaplib.IMAP4.error, OSError) as error:
            raise PlatformUnavailable(describe_error(error)) from error

    @contextmanager
    def _open_postbox(self) -> Iterator[smtplib.SMTP]:
        options = self.options
        if options.tls:
            context = ssl.create_default_context()
            postbox: smtplib.SMTP = smtplib.SMTP_SSL(
                options.smtp_host, options.smtp_port, context=context, timeout=SECONDS
            )
        else:
            postbox = smtplib.SMTP(options.smtp_host, options.smtp_port, timeout=SECONDS)
        with postbox:
            postbox.login(options.username or options.address, reveal_secret(options.password))
            yield postbox


def _is_automatic(mail: Message, sender: str) -> bool:
    """Whether a machine wrote the mail: two machines that answer each other would never end."""
    submitted = _read_header(mail, "Auto-Submitted").lower()
    bulk = _read_header(mail, "Precedence").lower() in ("bulk", "list", "junk", "auto_reply")
    listed = any(mail.get(name) is not None for name in ("List-Id", "List-Unsubscribe", "X-Auto-Response-Suppress"))
    return (submitted not in ("", "no")) or bulk or listed or bool(_MAILBOT.search(sender.partition("@")[0]))


def _extract_text(mail: Message) -> str:
    """Returns the first plain text of a mail, without quotes of earlier mails."""
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


def _read_header(mail: Message, name: str) -> str:
    """Returns a header, decoded and on one line."""
    raw = str(mail.get(name, ""))[:MAX_HEADER]
    try:
        decoded = str(make_header(decode_header(raw)))
    except (ValueError, LookupError):  # of no known charset: as it stands
        return _UNSAFE.sub(" ", raw).strip()
    return _UNSAFE.sub(" ", decoded).strip()


def _parse_date(mail: Message) -> datetime:
    """Returns the date of a mail, but never later than now."""
    try:
        moment = parsedate_to_datetime(_read_header(mail, "Date"))
    except (ValueError, IndexError):
        return now()
    return min(moment if moment.tzinfo else moment.replace(tzinfo=UTC), now())


def _build_send_error(error: smtplib.SMTPException) -> PlatformRefused | PlatformUnavailable:
    """Builds the error of a failed delivery; a code that begins with 5 is permanent (RFC 5321, 4.2.1)."""
    codes = (
        [code for code, _ in error.recipients.values()]
        if isinstance(error, smtplib.SMTPRecipientsRefused)
        else [getattr(error, "smtp_code", 0)]
    )
    reason = str(error)[:200]
    return PlatformRefused(reason) if all(500 <= code < 600 for code in codes) else PlatformUnavailable(reason)


def _require_ok(answer: tuple[str, Sequence[object]]) -> Sequence[object]:
    """Returns the data of a response. Raises PlatformUnavailable if the command failed."""
    if answer[0] != "OK":
        raise PlatformUnavailable(f"IMAP {answer[0]}")
    return answer[1]


def _get_first(data: Sequence[object]) -> bytes:
    first = data[0] if data else None
    return first if isinstance(first, bytes) else b""
