"""The vocabulary of attachments: pictures and files that customers and staff send each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.types import Side

MAX_PER_MESSAGE = 9
MAX_NAME_CHARS = 120
PICTURE_SENT, FILE_SENT = "[图片]", "[文件]"
"""What stands for the words of a message that has none: in lists, in the queue, on channels."""


class TextState(StrEnum):
    """Whether the text of a picture was read. UNREAD: not tried yet; NONE: there is none, or it cannot be read."""

    UNREAD = "unread"
    READ = "read"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Attachment:
    """What is known of a file that is kept. bytes: of what is kept; width, height: of a picture, else 0; text: what is
    written in the picture.
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

    def brief(self) -> dict[str, Any]:
        """As it stands with the message that it came with; never changes, so it is kept there, too."""
        return asdict(AttachmentBrief(self.id, self.name, self.media_type, self.bytes, self.width, self.height))


@dataclass(frozen=True, slots=True)
class AttachmentBrief:
    """What a page has to know to show it."""

    id: str
    name: str
    media_type: str
    bytes: int
    width: int
    height: int


def words_for(content: str, attached: Sequence[dict[str, Any]]) -> str:
    """The words of a message, or what stands for them where it has none but brings files."""
    if content.strip() or not attached:
        return content
    return PICTURE_SENT if any(one["width"] for one in attached) else FILE_SENT


def said_beside(content: str, attached: Sequence[dict[str, Any]]) -> str:
    """The words that were written beside files: without those of `words_for`."""
    return "" if attached and content in (PICTURE_SENT, FILE_SENT) else content
