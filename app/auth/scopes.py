"""A narrower right than a role: what of the interface a key may use, by the tags of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum


class KeyScope(StrEnum):
    """A key without scopes may do all that its role may; with them, what is of one of them and of its role."""

    CHAT = "chat"
    DESK = "desk"
    DOCUMENTS_READ = "documents:read"
    DOCUMENTS_WRITE = "documents:write"
    EVALUATION = "evaluation"
    TUNING = "tuning"
    PROFILE = "profile"
    JOBS = "jobs"
    WEBHOOKS = "webhooks"
    TRACES = "traces"
    OBSERVABILITY = "observability"
    REPORTS = "reports"
    AUDIT = "audit"


# Operations that only read, although they take a body; what one of MCP asks for is looked at by itself.
READING_POSTS = frozenset(("search_knowledge", "search_many", "search_file", "call_mcp"))
_KNOWLEDGE = frozenset(
    ("documents", "versions", "corrections", "faqs", "search", "sources", "vocabulary", "gaps", "mcp")
)
TAGS: Mapping[KeyScope, frozenset[str]] = {
    KeyScope.CHAT: frozenset(("chat", "openai", "conversations", "mcp")),
    KeyScope.DESK: frozenset(("desk", "tickets", "conversations", "mcp")),
    KeyScope.DOCUMENTS_READ: _KNOWLEDGE,
    KeyScope.DOCUMENTS_WRITE: _KNOWLEDGE,
    KeyScope.EVALUATION: frozenset(("evaluation", "quality")),
    KeyScope.TUNING: frozenset(("tuner",)),
    KeyScope.PROFILE: frozenset(("profile",)),
    KeyScope.JOBS: frozenset(("jobs",)),
    KeyScope.WEBHOOKS: frozenset(("webhooks", "channels")),
    KeyScope.TRACES: frozenset(("traces",)),
    KeyScope.OBSERVABILITY: frozenset(("observability", "performance", "models")),
    KeyScope.REPORTS: frozenset(("reports",)),
    KeyScope.AUDIT: frozenset(("audit",)),
}
# What no scope covers: whoever makes keys or accounts could make one without scopes; the others ask for no key.
UNSCOPED = frozenset(("keys", "people", "signin", "health"))
# Operations beside the tags: what a chat window shows before anybody speaks.
ALSO: Mapping[KeyScope, frozenset[str]] = {KeyScope.CHAT: frozenset(("read_greeting", "read_widget"))}


def is_covered(scopes: Collection[KeyScope], tags: Collection[str], method: str = "GET", name: str = "") -> bool:
    """Whether one of the scopes covers an operation. name: as the document calls it. Writing covers reading."""
    reads = method in ("GET", "HEAD") or name in READING_POSTS
    open_to = (scope for scope in scopes if reads or scope is not KeyScope.DOCUMENTS_READ)
    return any(name in ALSO.get(scope, ()) or not TAGS[scope].isdisjoint(tags) for scope in open_to)
