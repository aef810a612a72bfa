"""Stores pictures and files of conversations, returns them, and reads the text in pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loguru import logger

from app.attachments.repository import AttachmentRepository
from app.attachments.scanner import Scanner
from app.attachments.store import AttachmentStore
from app.attachments.types import MAX_NAME_CHARS, MAX_PER_MESSAGE, Attachment, TextState
from app.db.base import now
from app.errors import AttachmentsUnavailable, Conflict, InvalidRequest, NotFound
from app.ids import create_id
from app.tasks import stop_tasks
from app.types import SessionKey, Side
from knowledge.chunking import ChunkOptions
from knowledge.errors import InvalidDocument, ParsingUnavailable
from knowledge.file_inspection import PICTURES
from knowledge.text import clean

if TYPE_CHECKING:
    from knowledge.sandbox.pool import Sandbox

# Maximum characters of a picture's text.
MAX_TEXT_CHARS = 2000
# Maximum files deleted in one round.
FILES_PER_ROUND = 200
_SEPARATORS = str.maketrans({"/": "_", "\\": "_", "\r": " ", "\n": " ", "\t": " "})


@dataclass(frozen=True, slots=True)
class AttachmentLimits:
    """max_count, max_bytes: per conversation; wait_seconds: how long a turn waits for the text of a picture."""

    max_count: int
    max_bytes: int
    wait_seconds: float = 10.0


class AttachmentService:
    """The attachments of all conversations. inspector, text_reader: isolated processes that open untrusted files; the
    second is None if the text in pictures is not read.
    """

    def __init__(
        self,
        repository: AttachmentRepository,
        store: AttachmentStore,
        scanner: Scanner,
        inspector: Sandbox,
        text_reader: Sandbox | None,
        limits: AttachmentLimits,
    ) -> None:
        self._repository = repository
        self._store = store
        self._scanner = scanner
        self._inspector = inspector
        self._text_reader = text_reader
        self._limits = limits
        self._reading: dict[tuple[SessionKey, str], asyncio.Task[str]] = {}

    async def store_file(self, key: SessionKey, name: str, content: bytes, sender: Side) -> Attachment:
        """Stores a file that a message will refer to: it is scanned and inspected, and a picture is encoded again.

        Args:
            key: The conversation.
            name: The file's name as the sender gave it.
            content: The file's bytes.
            sender: Whether the customer or staff sent it.

        Returns:
            The stored attachment.

        Raises:
            Conflict: The conversation has too many attachments.
            InvalidDocument: The file cannot be accepted; subclasses say why.
            AttachmentInfected: The scanner found something.
            AttachmentsUnavailable: The scanner or the store does not answer.
            ParsingUnavailable: The file cannot be inspected now.
        """
        count, size = await self._repository.measure_conversation(key)
        if count >= self._limits.max_count or size + len(content) > self._limits.max_bytes:
            raise Conflict("这个会话里的图片和文件已经太多，不能再发。", code="too_many_attachments", count=count)
        name = clean_file_name(name)
        await self._scanner.scan_file(name, content)
        inspected = await self._inspector.inspect(key.tenant, name, content)
        kept = inspected.picture or content
        attachment = Attachment(
            tenant=key.tenant,
            session_id=key.session_id,
            id=create_id(),
            sender=sender,
            name=_replace_extension(name, inspected.media_type),
            media_type=inspected.media_type,
            bytes=len(kept),
            width=inspected.width,
            height=inspected.height,
            text="",
            text_state=TextState.UNREAD if inspected.picture and self._text_reader else TextState.NONE,
            created_at=now(),
        )
        # The plan to delete the file is stored first and dropped with the row: a process that is killed in between
        # leaves no file that nobody knows of.
        await self._repository.begin_upload(key.tenant, attachment.id)
        await self._store.write_file(key.tenant, attachment.id, kept)
        await self._repository.add_attachment(attachment)
        if attachment.text_state is TextState.UNREAD:
            self._start_reading(attachment)
        return attachment

    async def attach_to_message(self, key: SessionKey, ids: Sequence[str], sender: Side) -> tuple[Attachment, ...]:
        """Marks attachments as sent with a message, and returns them in the order of `ids`.

        Args:
            key: The conversation.
            ids: The attachments of the message.
            sender: The side that sends the message.

        Returns:
            The attachments, each once.

        Raises:
            NotFound: This side did not upload one of them into this conversation.
            InvalidRequest: There are too many for one message.
        """
        if not ids:
            return ()
        if len(ids) > MAX_PER_MESSAGE:
            raise InvalidRequest(f"一条消息最多带 {MAX_PER_MESSAGE} 个图片或文件。", code="too_many_attachments")
        found = {one.id: one for one in await self._repository.list_by_id(key, ids) if one.sender is sender}
        if missing := next((id for id in ids if id not in found), None):
            raise _build_not_found_error(missing)
        await self._repository.mark_sent(key, list(found))
        return tuple(found[id] for id in dict.fromkeys(ids))

    async def require_attachment(self, key: SessionKey, id: str) -> Attachment:
        """Returns an attachment of a conversation. Raises NotFound."""
        found = await self._repository.find_attachment(key, id)
        if found is None:
            raise _build_not_found_error(id)
        return found

    async def read_file(self, key: SessionKey, id: str) -> tuple[Attachment, bytes]:
        """Returns an attachment and its bytes. Raises NotFound, AttachmentsUnavailable."""
        found = await self.require_attachment(key, id)
        content = await self._store.read_file(key.tenant, id)
        if content is None:
            raise _build_not_found_error(id)
        return found, content

    async def delete_attachment(self, key: SessionKey, id: str) -> None:
        """Deletes an attachment permanently. Raises NotFound."""
        if not await self._repository.delete_attachment(key, id):
            raise _build_not_found_error(id)
        await self.delete_removed_files()

    async def read_picture_texts(self, key: SessionKey, ids: Sequence[str]) -> tuple[str, ...]:
        """Returns the texts of the pictures among these ids; waits for reading at most `wait_seconds`."""
        pictures = [one for one in await self._repository.list_by_id(key, ids) if one.is_picture]
        waiting = [self.read_picture_text(one) for one in pictures]
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                read = await asyncio.gather(*waiting)
        except TimeoutError:
            logger.bind(tenant=key.tenant).warning("a turn goes on without the text of its pictures")
            read = [one.text for one in pictures]
        return tuple(text for text in read if text)

    async def read_picture_text(self, attachment: Attachment) -> str:
        """Returns the text in a picture, which is read on first use; empty if there is none."""
        if attachment.text_state is not TextState.UNREAD or self._text_reader is None:
            return attachment.text
        return await asyncio.shield(self._start_reading(attachment))

    async def delete_removed_files(self) -> None:
        """Deletes attachments that were never sent, and the files of deleted attachments (one round)."""
        await self._repository.delete_unsent()
        for tenant, id in await self._repository.find_due_files(FILES_PER_ROUND):
            try:
                await self._store.delete_file(tenant, id)
            except AttachmentsUnavailable as error:  # the next round comes
                logger.bind(tenant=tenant).opt(exception=error).warning("a file of an attachment cannot be deleted")
                return
            await self._repository.finish_removal(tenant, id)

    async def close(self) -> None:
        """Stops reading pictures; unread ones are read on next use."""
        await stop_tasks(*self._reading.values())
        await self._inspector.close()
        if self._text_reader is not None:
            await self._text_reader.close()

    def _start_reading(self, attachment: Attachment) -> asyncio.Task[str]:
        key = SessionKey(attachment.tenant, attachment.session_id)
        name = (key, attachment.id)
        if name not in self._reading:
            task = asyncio.create_task(self._read_picture(key, attachment), name="picture-text")
            self._reading[name] = task
            task.add_done_callback(lambda _: self._reading.pop(name, None))
        return self._reading[name]

    async def _read_picture(self, key: SessionKey, attachment: Attachment) -> str:
        assert self._text_reader is not None
        try:
            content = await self._store.read_file(key.tenant, attachment.id)
            if content is None:
                return ""
            name = f"picture.{PICTURES[attachment.media_type]}"
            found = await self._text_reader.read(key.tenant, name, content, ChunkOptions())
            text = "\n".join(chunk.text for chunk in found.chunks)[:MAX_TEXT_CHARS]
        except InvalidDocument:  # nothing is written in it, or it takes too long
            text = ""
        except (AttachmentsUnavailable, ParsingUnavailable) as error:
            logger.bind(tenant=key.tenant).opt(exception=error).warning("a picture cannot be read now")
            return ""
        await self._repository.set_text(key, attachment.id, text, TextState.READ if text else TextState.NONE)
        return text


def clean_file_name(name: str) -> str:
    """Returns the sender's file name without folders and invisible characters."""
    last = clean(name).replace("\\", "/").rpartition("/")[2].translate(_SEPARATORS).strip(" .")
    stem, dot, extension = last.rpartition(".")
    if dot and len(last) > MAX_NAME_CHARS:
        last = f"{stem[: MAX_NAME_CHARS - len(extension) - 1]}.{extension}"
    return last[:MAX_NAME_CHARS] or "file"


def _replace_extension(name: str, media_type: str) -> str:
    """Gives a picture's name the extension of the format that it was encoded in."""
    if media_type not in PICTURES:
        return name
    stem, dot, _ = name.rpartition(".")
    return f"{(stem if dot else name)[: MAX_NAME_CHARS - 4]}.{PICTURES[media_type]}"


def _build_not_found_error(id: str) -> NotFound:
    return NotFound("没有找到这个图片或文件，可能已被删除。", code="attachment_not_found", attachment_id=id)
