"""An administrative action: who, when, what, of which tenant."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from app.db.base import now
from app.ids import create_id

# The actor of everything that is done on the command line, where nobody signs in.
COMMAND_LINE = "scripts"
MAX_TARGET_CHARS = 200
PERSONAL = frozenset({"session_id"})
# Larger bodies are not parsed for the fields of an action; files are never parsed.
MAX_BODY_BYTES = 200_000
MAX_FIELDS = 20
# By action, the field of its response that holds the name of the created thing.
MADE = {
    "add_evaluation_set": "name",
    "add_faq": "question",
    "add_source": "name",
    "begin_calibration": "title",
    "begin_judgement": "title",
    "begin_sweep": "title",
    "create_key": "name",
    "create_person": "name",
    "create_team": "name",
    "create_webhook": "url",
    "import_from_url": "files",
    "open_ticket": "number",
    "put_vocabulary_entry": "term",
    "start_evaluation_run": "set_name",
    "upload_documents": "files",
    "write_model_connection": "models",
}
_FIELD = re.compile("[a-z_]{1,40}")


class AuditOutcome(StrEnum):
    """The result: done, refused for what was asked (4xx), or failed on the server's side (5xx)."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AuditAction:
    """actor_id: of a key, empty on this machine without keys; actor: the key's name; action: the operation as the
    OpenAPI document calls it; target: what stands in its path; subject: what that was called then; changed: the fields
    that were sent, with their values where they are true or false; outcome: None while it is not known.
    """

    tenant: str
    actor_id: str
    actor: str
    action: str
    target: Mapping[str, str]
    request_id: str = ""
    outcome: AuditOutcome | None = None
    subject: str = ""
    changed: Sequence[str] = ()
    id: str = field(default_factory=create_id)
    at: datetime = field(default_factory=now)


def mask_target(target: Mapping[str, object]) -> dict[str, str]:
    """Returns the ids of a path as the log stores them. The id of a conversation may be chosen by its customer, and the
    conversation may be deleted, so only a digest of it is stored: whoever knows the id can still find the entry.
    """
    return {
        name: hash_id(str(value)) if name in PERSONAL else str(value)[:MAX_TARGET_CHARS]
        for name, value in target.items()
    }


def list_fields(body: bytes) -> list[str]:
    """Returns the fields of a JSON object in the form of `AuditAction.changed`; empty for other bodies."""
    sent = parse_object(body)
    fields = [f"{name}={str(value).lower()}" if isinstance(value, bool) else name for name, value in sent.items()]
    return [field for field in fields if _FIELD.fullmatch(field.partition("=")[0])][:MAX_FIELDS]


def find_created_name(action: str, made: Mapping[str, Any]) -> str:
    """Returns the name of the thing that an action created; empty where it created nothing with a name."""
    found = made.get(MADE.get(action, ""), "")
    if isinstance(found, list):
        names = [one["name"] if isinstance(one, dict) else one for one in found]
        found = names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}" if names else ""
    return shorten_name(str(found))


def shorten_name(name: str) -> str:
    """Returns a name as the log stores it; of a URL only the host, since the rest may hold a secret."""
    host = urlsplit(name).hostname if name.startswith(("http://", "https://")) else None
    return (host or name)[:MAX_TARGET_CHARS]


def parse_object(body: bytes) -> dict[str, Any]:
    """Returns the JSON object in a body; empty for every other body."""
    if len(body) > MAX_BODY_BYTES:
        return {}
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def hash_id(value: str) -> str:
    """Returns the digest under which the id of a conversation is stored."""
    return sha256(value.encode()).hexdigest()[:32]
