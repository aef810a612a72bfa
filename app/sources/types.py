"""Sources of documents, what each of them held when it was last looked at, and how that went."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

# Of a website in one sync.
MAX_PAGES = 5000
# Of a folder.
MAX_FILES = 10_000
# Of links from the start page.
MAX_DEPTH = 10


class SourceKind(StrEnum):
    """What a source is."""

    FOLDER = "folder"
    WEBSITE = "website"


class ItemState(StrEnum):
    """Where a page or file stands."""

    # It is a document, as it was last seen.
    CURRENT = "current"
    # Another document has its content.
    DUPLICATE = "duplicate"
    # It is not there any more; its document has expired.
    GONE = "gone"
    # It is there, and is not to be a document; one that it had has expired.
    EXCLUDED = "excluded"
    # It never was a document: it could not be read so far.
    FAILED = "failed"
    # It is being written.
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class WebsiteConfig:
    """url: of a page, or of a sitemap. depth: how many links from there pages may be away; prefix: how their paths
    begin; requests_per_minute: of the host, at most.
    """

    url: str
    depth: int = 2
    max_pages: int = 200
    requests_per_minute: int = 60
    prefix: str = "/"


@dataclass(frozen=True, slots=True)
class FolderConfig:
    """path: absolute, of the server."""

    path: str


@dataclass(frozen=True, slots=True)
class WatchedSource:
    """folder: of documents, under which those of it are filed. interval_minutes: 0 syncs on demand alone.

    last: how the last sync ended, see `SyncOut`.
    """

    id: str
    kind: SourceKind
    name: str
    config: WebsiteConfig | FolderConfig
    folder: str
    category: str
    tags: tuple[str, ...]
    enabled: bool
    interval_minutes: int
    next_sync_at: datetime | None
    last: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime

    @property
    def author(self) -> str:
        """Of the versions that it makes."""
        return f"数据来源：{self.name}"


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A page or file. locator: its URL, or its path in the folder; signature: by which a file is known to be unchanged.

    text_hash: of what is read of it, where its bytes may change without that. reason: why it is no document;
    error_code, error: of the last look, empty where that went well.
    """

    locator: str
    state: ItemState = ItemState.FAILED
    document_id: str = ""
    signature: str = ""
    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""
    text_hash: str = ""
    depth: int = 0
    reason: str = ""
    error_code: str = ""
    error: str = ""
    seen_at: datetime | None = None
    changed_at: datetime | None = None

    @property
    def key(self) -> str:
        """Its primary key: locators are longer than databases index."""
        return hash_locator(self.locator)


def hash_locator(locator: str) -> str:
    """See `SourceItem.key`."""
    return hashlib.sha256(locator.encode()).hexdigest()


@dataclass(slots=True)
class SyncCounts:
    """What became of the items that a sync looked at."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    expired: int = 0
    excluded: int = 0
    waiting: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class FoundContent:
    """The bytes of a page or file. path: to file them under, below the folder of the source; url: for customers."""

    path: str
    content: bytes
    url: str = ""
    etag: str = ""
    last_modified: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class NewSource:
    """What an administrator says of a source."""

    kind: SourceKind
    name: str
    config: WebsiteConfig | FolderConfig
    folder: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    enabled: bool = True
    interval_minutes: int = 1440
