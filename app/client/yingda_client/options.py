"""Keyword arguments of the clients' methods."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from .types import Category, FilterIn, GapState, MissReason, PageIn, Priority, TicketState

# A file to send: its path, or its name with its bytes.
Upload = str | Path | tuple[str, bytes]


class Proved(TypedDict, total=False):
    """What opens a conversation: the token of its first response, or that of a member."""

    session_token: str
    user_token: str


class ChatOptions(Proved, total=False):
    """user_id: counts with keys that may vouch for it; filter: answer from these documents alone; idempotency_key: a
    random one unless told.
    """

    session_id: str
    user_id: str
    channel: str
    page: PageIn
    filter: FilterIn
    idempotency_key: str


class SearchOptions(TypedDict, total=False):
    """explain: every candidate that was recalled; history: earlier questions, the first one first."""

    top_k: int
    filter: FilterIn
    explain: bool
    history: list[str]


class UploadOptions(TypedDict, total=False):
    """paths, external_ids, urls: one for each file; times: ISO 8601."""

    paths: list[str]
    external_ids: list[str]
    urls: list[str]
    category: str
    tags: list[str]
    product: str
    product_version: str
    question_column: str
    answer_column: str
    valid_from: str
    valid_until: str
    draft: bool
    author: str
    reason: str


class Page(TypedDict, total=False):
    """Which part of a list."""

    offset: int
    limit: int


class DocumentQuery(Page, total=False):
    """q: in name, title or path."""

    q: str
    status: str
    valid: bool
    category: str
    folder: str
    tag: str
    external_id: str


class FaqQuery(Page, total=False):
    """q: in questions and answers."""

    q: str
    state: str
    order: str


class GapQuery(Page, total=False):
    """customers: how many have asked at least; order: `rank` or `recent`."""

    state: list[GapState]
    q: str
    reason: MissReason
    customers: int
    order: str


class TicketQuery(Page, total=False):
    """overdue: beyond its time; unassigned: neither to a person nor to a team; sort: `urgency`, `due`, `newest`,
    `oldest` or `updated`.
    """

    state: list[TicketState]
    q: str
    priority: Priority
    category: Category
    session_id: str
    user_id: str
    assignee: str
    team: str
    unassigned: bool
    overdue: bool
    sort: str


class TicketOptions(TypedDict, total=False):
    """session_id: the conversation that it comes from."""

    description: str
    category: Category
    priority: Priority
    session_id: str
    user_id: str
    author: str
    idempotency_key: str
