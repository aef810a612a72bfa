"""Where the bytes of attachments are: a folder beside the database, or whatever fsspec reaches, as S3.

A file is named by the digest of its tenant and its own id: nothing of what customers write is part of a path.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from app.errors import AttachmentsUnavailable
from knowledge.errors import MissingDependency
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import fsspec
else:
    fsspec = LazyModule("fsspec")

T = TypeVar("T")
SECONDS = 30.0
FOLDER = "attachments"
"""In DATA_DIR, where no other place is set."""
OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "oss"})
"""Protocols without folders, where to make one is to make a bucket."""


class AttachmentStore(Protocol):
    """Keeps bytes by tenant and id."""

    async def write(self, tenant: str, id: str, content: bytes) -> None:
        """Raises AttachmentsUnavailable."""

    async def read(self, tenant: str, id: str) -> bytes | None:
        """None where it is gone. Raises AttachmentsUnavailable."""

    async def delete(self, tenant: str, id: str) -> None:
        """Also what is not there. Raises AttachmentsUnavailable."""


class FsspecStore:
    """A file system of fsspec. address: as `s3://bucket/folder`, or the path of a folder; options: of the file system.

    Raises MissingDependency where the package for its protocol is not installed.
    """

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        try:
            self._files, self._root = fsspec.core.url_to_fs(address, skip_instance_cache=True, **options)
        except (ImportError, ValueError) as error:
            protocol = address.partition("://")[0]
            raise MissingDependency(
                f"ATTACHMENT_STORE={protocol}://… 打不开：{error}；S3 需要 .venv/bin/python -m pip install s3fs"
            ) from error
        protocol = self._files.protocol
        self._has_folders = OBJECT_STORES.isdisjoint([protocol] if isinstance(protocol, str) else protocol)

    async def write(self, tenant: str, id: str, content: bytes) -> None:
        """See `AttachmentStore`."""
        place = self._place(tenant, id)

        def work() -> None:
            if self._has_folders:
                self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(place, content)

        await self._ask(work)

    async def read(self, tenant: str, id: str) -> bytes | None:
        """See `AttachmentStore`."""

        def work() -> bytes | None:
            try:
                content: bytes = self._files.cat_file(self._place(tenant, id))
            except FileNotFoundError:
                return None
            return content

        return await self._ask(work)

    async def delete(self, tenant: str, id: str) -> None:
        """See `AttachmentStore`."""

        def work() -> None:
            try:
                self._files.rm_file(self._place(tenant, id))
            except FileNotFoundError:
                return

        await self._ask(work)

    def _place(self, tenant: str, id: str) -> str:
        return f"{self._root}/{hashlib.sha256(tenant.encode()).hexdigest()[:32]}/{id}"

    @staticmethod
    async def _ask(work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(SECONDS):
                return await asyncio.to_thread(work)
        except Exception as error:  # every protocol of fsspec has errors of its own
            raise AttachmentsUnavailable("暂时存取不了图片和文件，请稍后再试。") from error


def open_store(address: str, options: Mapping[str, Any], data_dir: Path) -> FsspecStore:
    """address: empty for a folder beside the database."""
    return FsspecStore(address or str((data_dir / FOLDER).absolute()), options)
