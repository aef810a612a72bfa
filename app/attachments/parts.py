"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.attachments.service import AttachmentService
    from app.types import SessionKey


class Holders(Protocol):
    """Whose conversations are, see `HolderRepository`."""

    async def find(self, key: SessionKey) -> object | None: ...


class Parts(Protocol):
    """What these routes are served by."""

    attachments: AttachmentService

    @property
    def holders(self) -> Holders: ...


Wiring = Wired[Parts]
