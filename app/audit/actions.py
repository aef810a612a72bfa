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
from app.ids import new_id

COMMAND_LINE = "scripts"
"""Who acts on the command line, of whom nothing else is known."""
MAX_TARGET_CHARS = 200
PERSONAL = frozenset({"session_id"})
MAX_BODY_BYTES = 200_000
"""Of a body that is looked into for what is told of an action; files are none of it."""
MAX_FIELDS = 20
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
    "put_vocabulary_entry": "term",
    "start_evaluation_run": "set_name",
    "upload_documents": "files",
    "write_model_connection": "models",
}
"""Where the response to an action that makes something tells its name."""
_FIELD = re.compile("[a-z_]{1,40}")


class AuditOutcome(StrEnum):
    """What came of it: done, refused for what was asked (4xx), or failed on the server's side (5xx)."""

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
    id: str = field(default_factory=new_id)
    at: datetime = field(default_factory=now)


def bounded(target: Mapping[str, object]) -> dict[str, str]:
    """Ids of a path as they are kept; of a conversation, which its customer may have named and which may be deleted, a
    digest: whoever knows the id finds it.
    """
    return {
        name: digest_of(str(value)) if name in PERSONAL else str(value)[:MAX_TARGET_CHARS]
        for name, value in target.items()
    }


def list_fields(body: bytes) -> list[str]:
    """The fields of a JSON object, as `AuditAction.changed` tells them; nothing of other bodies."""
    sent = read_object(body)
    told = [f"{name}={str(value).lower()}" if isinstance(value, bool) else name for name, value in sent.items()]
    return [field for field in told if _FIELD.fullmatch(field.partition("=")[0])][:MAX_FIELDS]


def made_name(action: str, made: Mapping[str, Any]) -> str:
    """What is called what an action made; empty where it made nothing that has a name."""
    found = made.get(MADE.get(action, ""), "")
    if isinstance(found, list):
        names = [one["name"] if isinstance(one, dict) else one for one in found]
        found = names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}" if names else ""
    return shown_name(str(found))


def shown_name(name: str) -> str:
    """A name as it is kept; an address by its host alone, since the rest of it may hold a secret."""
    host = urlsplit(name).hostname if name.startswith(("http://", "https://")) else None
    return (host or name)[:MAX_TARGET_CHARS]


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object that a body is; empty for all others."""
    if len(body) > MAX_BODY_BYTES:
        return {}
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def digest_of(value: str) -> str:
    """As an id of a conversation is kept."""
    return sha256(value.encode()).hexdigest()[:32]
