"""The calls that take more than one line to write down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .calls import Call
from .options import ChatOptions, TicketOptions, Upload, UploadOptions

DOCUMENTS = "/api/v1/knowledge/documents"
FAQS = "/api/v1/knowledge/faqs"
GAPS = "/api/v1/knowledge/gaps"
TICKETS = "/api/v1/tickets"
CONVERSATIONS = "/api/v1/conversations"


def join_path(*parts: str) -> str:
    """The first part as it is, the others quoted: an id with a slash stays one part."""
    first, *others = parts
    return "/".join([first, *(quote(part, safe="") for part in others)])


def build_chat(path: str, message: str, options: ChatOptions) -> Call:
    """One message of a customer, under an idempotency key."""
    given: dict[str, Any] = {**options}
    key = given.pop("idempotency_key", "")
    return Call("POST", path, body={"message": message, **given}).once(key)


def build_ticket(subject: str, options: TicketOptions) -> Call:
    """A new ticket, under an idempotency key."""
    given: dict[str, Any] = {**options}
    key = given.pop("idempotency_key", "")
    return Call("POST", TICKETS, body={"subject": subject, **given}).once(key)


def build_upload(files: Sequence[Upload], wait: float | None, key: str, options: UploadOptions) -> Call:
    """Files in one multipart body, under an idempotency key. Raises OSError for a path that cannot be read."""
    form = {name: _format_value(value) for name, value in options.items()}
    sent = [("files", _read_file(file)) for file in files]
    return Call("POST", DOCUMENTS, query={"wait": wait}, files=sent, form=form).once(key)


def add_given(body: Mapping[str, Any], **others: str) -> dict[str, Any]:
    """A body with those of the other fields that are not empty."""
    return {**body, **{name: value for name, value in others.items() if value}}


def _read_file(file: Upload) -> tuple[str, bytes]:
    if isinstance(file, tuple):
        return file
    path = Path(file)
    return path.name, path.read_bytes()


def _format_value(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
