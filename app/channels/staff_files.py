"""Files that staff send to customers on channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.language import is_reply_english
from agents.types import Question
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import say
from app.channels.errors import PlatformRefused
from app.channels.types import OutgoingFile
from app.errors import NotFound
from app.types import SessionKey

if TYPE_CHECKING:
    from app.attachments.service import AttachmentService
    from app.profiles.repository import ProfileRepository


class StaffFiles:
    """The files of all tenants' staff."""

    def __init__(self, attachments: AttachmentService, profiles: ProfileRepository) -> None:
        self._attachments, self._profiles = attachments, profiles

    async def read_file(self, key: SessionKey, id: str) -> OutgoingFile:
        """Reads a file. Raises PlatformRefused if it was deleted, AttachmentsUnavailable."""
        try:
            found, content = await self._attachments.read_file(key, id)
        except NotFound as error:
            raise PlatformRefused("the file was deleted before it was sent") from error
        return OutgoingFile(key.session_id, id, found.name, found.media_type, content)

    async def build_unsent_notice(self, tenant: str, said: str, name: str) -> str:
        """Builds the notice that a platform does not take a file.

        Args:
            tenant: The tenant.
            said: The text that was written with the file, which sets the language.
            name: The name of the file.
        """
        english = is_reply_english(Question(Utterance(said)), await self._profiles.get(tenant))
        return say("channel_file_unsent", english, name=name)
