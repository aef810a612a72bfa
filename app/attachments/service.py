"""Takes pictures and files in, gives them out again, and tells what is written in pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from loguru import logger

from app.attachments.repository import AttachmentRepository
from app.attachments.scanner import Scanner
from app.attachments.store import AttachmentStore
from app.attachments.types import MAX_NAME_CHARS, MAX_PER_MESSAGE, Attachment, TextState
from app.db.base import now
from app.errors import AttachmentsUnavailable, Conflict, InvalidRequest, NotFound
from app.ids import create_id
from app.types import SessionKey, Side
from knowledge.chunking import ChunkOptions
from knowledge.errors import InvalidDocument, ParsingUnavailable
from knowledge.extraction import ReadDocument
from knowledge.file_inspection import PICTURES, InspectedFile
from knowledge.text import clean
from knowledge.types import FaqColumns

MAX_TEXT = 2000
"""Characters of a picture's text that are kept."""
ROUND = 200
"""Files that are deleted in one round."""
_SEPARATORS = str.maketrans({"/": "_", "\\": "_", "\r": " ", "\n": " ", "\t": " "})


class Inspector(Protocol):
    """Looks at strangers' files where that can do no harm; see `Sandbox`."""

    async def inspect(self, tenant: str, name: str, content: bytes) -> InspectedFile: ...

    async def close(self) -> None: ...


class TextReader(Protocol):
    """Reads what is written in a picture; see `Sandbox`."""

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class AttachmentLimits:
    """max_count, max_bytes: of one conversation; wait_seconds: that a turn waits for the text of a picture."""

    max_count: int
    max_bytes: int
    wait_seconds: float = 10.0


class AttachmentService:
    """text_reader: None where pictures are not read."""

    def __init__(
        self,
        repository: AttachmentRepository,
        store: AttachmentStore,
        scanner: Scanner,
        inspector: Inspector,
        text_reader: TextReader | None,
        limits: AttachmentLimits,
    ) -> None:
        self._repository = repository
        self._store = store
        self._scanner = scanner
        self._inspector = inspector
        self._text_reader = text_reader
        self._limits = limits
        self._reading: dict[tuple[SessionKey, str], asyncio.Task[str]] = {}

    async def take(self, key: SessionKey, name: str, content: bytes, sender: Side) -> Attachment:
        """Keeps a file that is to go out with a message: scanned, looked at, a picture written anew.

        Raises Conflict where the conversation has too many, InvalidDocument by its subclasses, AttachmentInfected,
        AttachmentsUnavailable, ParsingUnavailable.
        """
        count, size = await self._repository.count(key)
        if count >= self._limits.max_count or size + len(content) > self._limits.max_bytes:
            raise Conflict("这个会话里的图片和文件已经太多，不能再发。", code="too_many_attachments", count=count)
        name = readable_name(name)
        await self._scanner.scan(name, content)
        inspected = await self._inspector.inspect(key.tenant, name, content)
        kept = inspected.picture or content
        attachment = Attachment(
            tenant=key.tenant,
            session_id=key.session_id,
            id=create_id(),
            sender=sender,
            name=_named(name, inspected.media_type),
            media_type=inspected.media_type,
            bytes=len(kept),
            width=inspected.width,
            height=inspected.height,
            text="",
            text_state=TextState.UNREAD if inspected.picture and self._text_reader else TextState.NONE,
            created_at=now(),
        )
        await self._repository.begin(key.tenant, attachment.id)
        await self._store.write(key.tenant, attachment.id, kept)
        await self._repository.keep(attachment)
        if attachment.text_state is TextState.UNREAD:
            self._read_behind(attachment)
        return attachment

    async def use(self, key: SessionKey, ids: Sequence[str], sender: Side) -> tuple[Attachment, ...]:
        """Those that go out with a message now, in the order of `ids`. Raises NotFound for one that this side did not
        upload into this conversation, InvalidRequest for too many.
        """
        if not ids:
            return ()
        if len(ids) > MAX_PER_MESSAGE:
            raise InvalidRequest(f"一条消息最多带 {MAX_PER_MESSAGE} 个图片或文件。", code="too_many_attachments")
        found = {one.id: one for one in await self._repository.list_by_id(key, ids) if one.sender is sender}
        if missing := next((id for id in ids if id not in found), None):
            raise _unknown(missing)
        await self._repository.mark_sent(key, list(found))
        return tuple(found[id] for id in dict.fromkeys(ids))

    async def require(self, key: SessionKey, id: str) -> Attachment:
        """Raises NotFound."""
        found = await self._repository.find(key, id)
        if found is None:
            raise _unknown(id)
        return found

    async def open(self, key: SessionKey, id: str) -> tuple[Attachment, bytes]:
        """With its bytes. Raises NotFound, AttachmentsUnavailable."""
        found = await self.require(key, id)
        content = await self._store.read(key.tenant, id)
        if content is None:
            raise _unknown(id)
        return found, content

    async def delete(self, key: SessionKey, id: str) -> None:
        """For good. Raises NotFound."""
        if not await self._repository.remove(key, id):
            raise _unknown(id)
        await self.remove_files()

    async def texts(self, key: SessionKey, ids: Sequence[str]) -> tuple[str, ...]:
        """What is written in pictures, of those that have any; reading is waited for, but not for long."""
        pictures = [one for one in await self._repository.list_by_id(key, ids) if one.is_picture]
        waiting = [self.read_text(one) for one in pictures]
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                read = await asyncio.gather(*waiting)
        except TimeoutError:
            logger.bind(tenant=key.tenant).warning("a turn goes on without the text of its pictures")
            read = [one.text for one in pictures]
        return tuple(text for text in read if text)

    async def read_text(self, attachment: Attachment) -> str:
        """What is written in a picture, read at the first need; empty for nothing."""
        if attachment.text_state is not TextState.UNREAD or self._text_reader is None:
            return attachment.text
        return await asyncio.shield(self._read_behind(attachment))

    async def remove_files(self) -> None:
        """A round: what was never sent goes, and the files of all that is gone."""
        await self._repository.remove_unsent()
        for tenant, id in await self._repository.due(ROUND):
            try:
                await self._store.delete(tenant, id)
            except AttachmentsUnavailable as error:  # the next round comes
                logger.bind(tenant=tenant).opt(exception=error).warning("a file of an attachment cannot be deleted")
                return
            await self._repository.removed(tenant, id)

    async def close(self) -> None:
        """Stops reading; what was not read is read at the next need."""
        for task in self._reading.values():
            task.cancel()
        await asyncio.gather(*self._reading.values(), return_exceptions=True)
        await self._inspector.close()
        if self._text_reader is not None:
            await self._text_reader.close()

    def _read_behind(self, attachment: Attachment) -> asyncio.Task[str]:
        key = SessionKey(attachment.tenant, attachment.session_id)
        name = (key, attachment.id)
        if name not in self._reading:
            task = asyncio.create_task(self._read(key, attachment), name="picture-text")
            self._reading[name] = task
            task.add_done_callback(lambda _: self._reading.pop(name, None))
        return self._reading[name]

    async def _read(self, key: SessionKey, attachment: Attachment) -> str:
        assert self._text_reader is not None
        try:
            content = await self._store.read(key.tenant, attachment.id)
            if content is None:
                return ""
            name = f"picture.{PICTURES[attachment.media_type]}"
            found = await self._text_reader.read(key.tenant, name, content, ChunkOptions())
            text = "\n".join(chunk.text for chunk in found.chunks)[:MAX_TEXT]
        except InvalidDocument:  # nothing is written in it, or it takes too long
            text = ""
        except (AttachmentsUnavailable, ParsingUnavailable) as error:
            logger.bind(tenant=key.tenant).opt(exception=error).warning("a picture cannot be read now")
            return ""
        await self._repository.set_text(key, attachment.id, text, TextState.READ if text else TextState.NONE)
        return text


def readable_name(name: str) -> str:
    """What a file is called on the sender's side, without folders, or anything that nobody sees."""
    last = clean(name).replace("\\", "/").rpartition("/")[2].translate(_SEPARATORS).strip(" .")
    stem, dot, extension = last.rpartition(".")
    if dot and len(last) > MAX_NAME_CHARS:
        last = f"{stem[: MAX_NAME_CHARS - len(extension) - 1]}.{extension}"
    return last[:MAX_NAME_CHARS] or "file"


def _named(name: str, media_type: str) -> str:
    """With the extension of what a picture was written as."""
    if media_type not in PICTURES:
        return name
    stem, dot, _ = name.rpartition(".")
    return f"{(stem if dot else name)[: MAX_NAME_CHARS - 4]}.{PICTURES[media_type]}"


def _unknown(id: str) -> NotFound:
    return NotFound("没有找到这个图片或文件，可能已被删除。", code="attachment_not_found", attachment_id=id)
