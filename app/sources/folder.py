"""A folder of the server, looked through: nothing outside it is read, and nothing that is being written."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from app.errors import FetchFailed, FetchUnavailable, Forbidden
from app.jobs.types import JobContext
from app.sources.document_keeper import DocumentKeeper
from app.sources.types import MAX_FILES, FolderConfig, FoundContent, ItemState, SourceItem
from knowledge.errors import DocumentTooLarge
from knowledge.parsing.registry import LEGACY, PARSERS

# A file that changed since may still be written.
SETTLE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file of the folder. path: from there, with slashes; age: seconds since its last change; clocks may be wrong."""

    path: str
    signature: str
    age: float
    size: int


class FolderSync:
    """max_bytes: of a file."""

    def __init__(self, max_bytes: int, settle: float = SETTLE_SECONDS) -> None:
        self._max_bytes = max_bytes
        self._settle = settle

    async def run(
        self, config: FolderConfig, roots: tuple[Path, ...], keeper: DocumentKeeper, context: JobContext
    ) -> bool:
        """Takes in what is there, and lets expire what is not; True: nothing was left out. Raises FetchFailed,
        FetchUnavailable, Forbidden, Unavailable.
        """
        root = await asyncio.to_thread(check_folder, config.path, roots)
        seen = await self._list_files(root)
        known = {path for path, item in keeper.items.items() if item.state is ItemState.CURRENT}
        if known and not seen:
            raise FetchUnavailable("目录是空的，可能没有挂载，已有的文档都不动", code="source_empty")
        there = {file.path for file in seen}
        for path in sorted(known - there):
            await keeper.retire_item(keeper.items[path], ItemState.GONE, "deleted")
        for number, file in enumerate(seen):
            await context.report_progress(number, len(seen))
            await self._sync_file(root, file, keeper)
        return True

    async def _list_files(self, root: Path) -> list[_Seen]:
        """Lists the files of a folder; waits once if some seem to be being written."""
        seen = await asyncio.to_thread(_scan_folder, root)
        young = [file for file in seen if self._is_being_written(file)]
        if young:
            await asyncio.sleep(self._settle - min(file.age for file in young))
            seen = await asyncio.to_thread(_scan_folder, root)
        return seen

    def _is_being_written(self, file: _Seen) -> bool:
        return 0 <= file.age < self._settle

    async def _sync_file(self, root: Path, file: _Seen, keeper: DocumentKeeper) -> None:
        item = keeper.items.get(file.path) or SourceItem(file.path)
        if item.state is ItemState.CURRENT and item.signature == file.signature:
            await keeper.record_unchanged(item)
        elif file.size > self._max_bytes:
            reason = f"超过 {self._max_bytes / 2**20:.3g} MB 的大小上限"
            await keeper.record_failure(item, DocumentTooLarge(file.path.rpartition("/")[2], reason))
        else:
            await self._read(root, file, item, keeper)

    async def _read(self, root: Path, file: _Seen, item: SourceItem, keeper: DocumentKeeper) -> None:
        try:
            content = (
                None
                if self._is_being_written(file)
                else await asyncio.to_thread(_read_content, root, file, self._max_bytes)
            )
        except OSError as error:
            unreadable = FetchUnavailable(f"读不出来：{error.strerror or error}", code="source_unreadable")
            await keeper.record_failure(item, unreadable)
            return
        if content is None:
            await keeper.wait(item)
        else:
            await keeper.keep_item(item, FoundContent(file.path, content, signature=file.signature))


def check_folder(path: str, roots: tuple[Path, ...]) -> Path:
    """Returns the folder itself, with links on the way resolved.

    Raises Forbidden if it is not below a root, FetchUnavailable if it does not exist.
    """
    if not roots:
        raise Forbidden("这个租户不能使用文件夹来源，由管理员设置 SOURCE_ROOTS", code="folders_not_allowed")
    if not Path(path).is_absolute() or "\0" in path:
        raise Forbidden("path 要写服务器上的绝对路径", code="folder_outside_roots")
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(os.path.realpath(root)) for root in roots):
        raise Forbidden("这个目录不在 SOURCE_ROOTS 允许的目录之下", code="folder_outside_roots")
    if not real.is_dir():
        raise FetchUnavailable(f"没有目录 {path}，或没有权限", code="source_unreadable")
    return real


def _scan_folder(root: Path) -> list[_Seen]:
    """All files of types that are read; links are not followed. A folder that cannot be listed fails the whole: its
    files would seem to be deleted.
    """
    moment, found = time.time(), []
    try:
        for seen in _walk_folder(root, moment):
            found.append(seen)
            if len(found) > MAX_FILES:
                raise FetchFailed(f"目录里超过 {MAX_FILES} 个文件，请分成几个来源", code="source_too_large")
    except OSError as error:
        message = f"目录读不出来：{error.strerror or error}"
        raise FetchUnavailable(message, code="source_unreadable") from error
    return sorted(found, key=lambda file: file.path)


def _walk_folder(root: Path, moment: float) -> Iterator[_Seen]:
    def raise_error(error: OSError) -> None:
        raise error

    for folder, folders, names, descriptor in os.fwalk(root, onerror=raise_error, follow_symlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith((".", "~$")) or PurePath(name).suffix.lower() not in PARSERS | LEGACY:
                continue
            if not (name.isprintable() and folder.isprintable()):  # no document can have that name
                continue
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:  # deleted since it was listed
                continue
            if stat.S_ISREG(status.st_mode):
                path = (Path(folder) / name).relative_to(root).as_posix()
                yield _Seen(path, _build_signature(status), moment - status.st_mtime, status.st_size)


def _build_signature(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


def _read_content(root: Path, file: _Seen, most: int) -> bytes | None:
    """Its bytes; None where it changes meanwhile. No part of the path may have become a link since it was listed."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        *folders, name = file.path.split("/")
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return None
            content = stream.read(most + 1)
            return content if _build_signature(os.fstat(stream.fileno())) == file.signature else None
    finally:
        os.close(descriptor)
