"""The vocabulary of attachments: pictures and files that customers and staff send each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.types import Side

MAX_PER_MESSAGE = 9
MAX_NAME_CHARS = 120
# Shown in place of the text of a message that has none: in lists, in the queue, on channels.
PICTURE_SENT, FILE_SENT = "[图片]", "[文件]"
# What a page needs to show an attachment.
_BRIEF = "id", "name", "media_type", "bytes", "width", "height"


class TextState(StrEnum):
    """Whether the text of a picture was read. UNREAD: not tried yet; NONE: there is none, or it cannot be read."""

    UNREAD = "unread"
    READ = "read"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Attachment:
    """The record of a stored file. bytes: its size as stored; width, height: of a picture, else 0; text: what was read
    in the picture.
    """

    tenant: str
    session_id: str
    id: str
    sender: Side
    name: str
    media_type: str
    bytes: int
    width: int
    height: int
    text: str
    text_state: TextState
    created_at: datetime

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith("image/")

    def build_brief(self) -> dict[str, Any]:
        """Builds the JSON that is stored with the message of the attachment; it never changes."""
        return {name: getattr(self, name) for name in _BRIEF}


def build_display_text(content: str, attached: Sequence[dict[str, Any]]) -> str:
    """Returns the text of a message; if it is empty and there are files, the placeholder for them."""
    if content.strip() or not attached:
        return content
    return PICTURE_SENT if any(one["width"] for one in attached) else FILE_SENT


def extract_written_text(content: str, attached: Sequence[dict[str, Any]]) -> str:
    """Returns the text that was written with files, without the placeholder of `build_display_text`."""
    return "" if attached and content in (PICTURE_SENT, FILE_SENT) else content
