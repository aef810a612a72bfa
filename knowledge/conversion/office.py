"""Runs LibreOffice in a process of its own: one file in, one file out, and nothing of it stays behind."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from contextlib import suppress
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from knowledge.errors import BrokenDocument, CostlyDocument, DocumentTooLarge, ParsingUnavailable
from knowledge.sandbox.slots import TenantSlots

_ROOT = Path(__file__).resolve().parents[2]
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from knowledge.conversion.launch import main; main()"
_OPTIONS = ("--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo")
# By name, or LibreOffice takes a damaged file for a text and its bytes for letters.
_FILTERS = {".doc": "MS Word 97", ".xls": "MS Excel 97", ".ppt": "MS PowerPoint 97"}
_SECURITY = "/org.openoffice.Office.Common/Security/Scripting"
# No macro runs, nothing that a file names elsewhere is loaded.
_PROFILE = (
    '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
    + "".join(
        f'<item oor:path="{_SECURITY}"><prop oor:name="{name}" oor:op="fuse"><value>true</value></prop></item>'
        for name in ("DisableMacrosExecution", "DisableActiveContent", "BlockUntrustedRefererLinks")
    )
    + "</oor:items>"
)


_PREFIX = "yingda-convert-"
# No conversion takes so long: a folder of that age is nobody's.
_LEFT_SECONDS = 24 * 3600


class OfficeConverter:
    """Converts one file at a time; tenants take turns.

    Args:
        program: `soffice`, by name or path.
        seconds: Wall time that a file may take; CPU time may be twice that.
        max_bytes: Largest result.
    """

    def __init__(self, program: str, seconds: float, max_bytes: int) -> None:
        self._program = program
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._slots = TenantSlots(1, 1)
        self._work: set[asyncio.Task[bytes]] = set()
        self._closed = False

    @property
    def is_installed(self) -> bool:
        """Whether LibreOffice is installed."""
        return shutil.which(self._program) is not None

    async def convert(self, tenant: str, name: str, content: bytes, before: str, after: str) -> bytes:
        """Converts a file.

        Args:
            tenant: Whose file it is; tenants take turns.
            name: Name of the file, for messages.
            content: The file.
            before: Suffix of the file, with its dot.
            after: Suffix of the wanted format.

        Raises:
            BrokenDocument, CostlyDocument, DocumentTooLarge: If it cannot be converted within the limits.
            ParsingUnavailable: If the program cannot be started, or `close` is called meanwhile.
        """
        async with self._slots.hold_slot(tenant):
            if self._closed:
                raise ParsingUnavailable("files are no longer converted: the server stops")
            task = asyncio.create_task(self._convert_in_folder(name, content, before, after))
            self._work.add(task)
            task.add_done_callback(self._work.discard)
            try:
                return await task
            except asyncio.CancelledError:
                if not self._closed:
                    task.cancel()
                    raise
                raise ParsingUnavailable("files are no longer converted: the server stops") from None

    async def close(self) -> None:
        """Kills the running conversion with its child processes, and waits for their end."""
        self._closed = True
        work = list(self._work)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)

    async def _convert_in_folder(self, name: str, content: bytes, before: str, after: str) -> bytes:
        workplace = await asyncio.to_thread(_create_workplace, content, before)
        folder = Path(workplace.name)
        try:
            await self._run_process(name, folder, before, after)
            return await asyncio.to_thread(self._read_result, name, folder / "out" / f"document{after}")
        finally:
            await asyncio.shield(asyncio.to_thread(workplace.cleanup))

    async def _run_process(self, name: str, folder: Path, before: str, after: str) -> None:
        process = await self._start_process(folder, before, after)
        try:
            async with asyncio.timeout(self._seconds):
                await process.wait()
        except TimeoutError as error:
            raise CostlyDocument(name, f"转换用时超过 {self._seconds:g} 秒，已停止") from error
        finally:
            _kill_group(process)
            await asyncio.shield(process.wait())

    async def _start_process(self, folder: Path, before: str, after: str) -> Process:
        program = shutil.which(self._program)
        if program is None:
            raise ParsingUnavailable(f"{self._program} is gone")
        bounds = json.dumps([ceil(2 * self._seconds), os.getpid()])
        try:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-X", "utf8", "-c", _BOOT, str(_ROOT), bounds, program, *_OPTIONS),
                *(f"-env:UserInstallation={(folder / 'profile').as_uri()}", *_build_filter_option(before)),
                *("--convert-to", after.removeprefix(".")),
                *("--outdir", str(folder / "out"), str(folder / f"document{before}")),
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=DEVNULL,
                cwd=folder,
                env=_build_environment(folder)
                if os.name == "posix"
                else None,  # Windows starts nothing without its own
                close_fds=True,
                start_new_session=True,
            )
        except OSError as error:
            raise ParsingUnavailable("no process to convert files in") from error

    def _read_result(self, name: str, path: Path) -> bytes:
        if path.is_symlink() or not path.is_file():
            raise BrokenDocument(name, "无法转换，文件可能已损坏、有密码保护，或内容与扩展名不符")
        with path.open("rb") as file:
            content = file.read(self._max_bytes + 1)
        if len(content) > self._max_bytes:
            raise DocumentTooLarge(name, f"转换后超过 {self._max_bytes / 2**20:.3g} MB 的大小上限")
        return content


def _create_workplace(content: bytes, suffix: str) -> TemporaryDirectory[str]:
    """Creates a folder with the file under a fixed name, a profile, and a place for the result."""
    _remove_leftovers()
    made = TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
    folder = Path(made.name)
    (folder / "profile" / "user").mkdir(parents=True)
    (folder / "profile" / "user" / "registrymodifications.xcu").write_text(_PROFILE, encoding="utf-8")
    (folder / "out").mkdir()
    (folder / f"document{suffix}").write_bytes(content)
    return made


def _remove_leftovers() -> None:
    """Deletes what a server that was killed left of a customer's file."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another server was first
            if folder.stat().st_mtime < time.time() - _LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _build_filter_option(suffix: str) -> tuple[str, ...]:
    return (f"--infilter={_FILTERS[suffix]}",) if suffix in _FILTERS else ()


def _build_environment(folder: Path) -> dict[str, str]:
    """Returns the complete environment of the program: nothing of the server's is handed on."""
    home = str(folder)
    return {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "OSL_SOCKET_PATH": home, "LANG": "C.UTF-8"}


def _kill_group(process: Process) -> None:
    """Kills a process and everything that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
