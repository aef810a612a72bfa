"""The bytes of attachments: in a folder beside the database, or any file system of fsspec such as S3.

A path consists of the digest of the tenant and the id of the file: it contains nothing that customers wrote.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from app.errors import AttachmentsUnavailable
from knowledge.errors import MissingDependency
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import fsspec
else:
    fsspec = LazyModule("fsspec")

T = TypeVar("T")
TIMEOUT_SECONDS = 30.0
# In DATA_DIR, unless another place is set.
FOLDER = "attachments"
# Protocols without folders: creating one would create a bucket.
OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "oss"})


class AttachmentStore:
    """Stores bytes by tenant and id, in a file system of fsspec.

    address: as `s3://bucket/folder`, or the path of a folder; options: of the file system. Raises MissingDependency if
    the package for its protocol is not installed.
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

    async def write_file(self, tenant: str, id: str, content: bytes) -> None:
        """Writes a file. Raises AttachmentsUnavailable."""
        place = self._build_path(tenant, id)

        def write_content() -> None:
            if self._has_folders:
                self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(place, content)

        await self._run_in_thread(write_content)

    async def read_file(self, tenant: str, id: str) -> bytes | None:
        """Returns a file's bytes, None if it does not exist. Raises AttachmentsUnavailable."""

        def read_content() -> bytes | None:
            try:
                content: bytes = self._files.cat_file(self._build_path(tenant, id))
            except FileNotFoundError:
                return None
            return content

        return await self._run_in_thread(read_content)

    async def delete_file(self, tenant: str, id: str) -> None:
        """Deletes a file; a missing file is no error. Raises AttachmentsUnavailable."""

        def delete_content() -> None:
            with suppress(FileNotFoundError):
                self._files.rm_file(self._build_path(tenant, id))

        await self._run_in_thread(delete_content)

    def _build_path(self, tenant: str, id: str) -> str:
        return f"{self._root}/{hashlib.sha256(tenant.encode()).hexdigest()[:32]}/{id}"

    @staticmethod
    async def _run_in_thread(work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await asyncio.to_thread(work)
        except Exception as error:  # every protocol of fsspec has errors of its own
            raise AttachmentsUnavailable("暂时存取不了图片和文件，请稍后再试。") from error


def open_store(address: str, options: Mapping[str, Any], data_dir: Path) -> AttachmentStore:
    """Opens the store of the settings.

    Args:
        address: The root as fsspec reads it, such as `s3://bucket/folder`; empty for a folder beside the database.
        options: Options of the file system.
        data_dir: The folder of the database.

    Returns:
        The store.

    Raises:
        MissingDependency: The package for the protocol is not installed.
    """
    return AttachmentStore(address or str((data_dir / FOLDER).absolute()), options)
