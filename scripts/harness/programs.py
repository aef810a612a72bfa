"""Programs in processes of their own, on free ports of this machine, that may be stopped and started again."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from scripts.harness.servers import build_command

HOST = "127.0.0.1"
START_SECONDS = 180.0
STOP_SECONDS = 60.0
_STEP = 0.05


class ProgramMissing(Exception):
    """A program that a drill needs is not installed; the message says which."""


def find_free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def find_program(name: str, *folders: Path) -> str:
    """Where it is: in PATH, in one of the folders, or where Debian keeps servers. Raises ProgramMissing."""
    # a PATH without the folder of administrators has no nginx
    own = os.pathsep.join([*map(str, folders), "/usr/sbin"])
    found = shutil.which(name, path=own) or shutil.which(name)
    if found is None:
        raise ProgramMissing(f"没有安装 {name}")
    return found


class Program:
    """A command that listens on a port.

    Args:
        name: of the program, and of the file in `folder` to which it writes what it says.
        port: where it listens.
        user: who runs it where this is root.
        variables: of its environment, besides those of this process.
        end: the signal by which it is stopped.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        port: int,
        *,
        user: str = "",
        variables: Mapping[str, str] | None = None,
        end: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.port, self.log, self.address = port, folder / f"{name}.log", f"http://{HOST}:{port}"
        self._command, self._name, self._folder = build_command(command, variables or {}), name, folder
        self._user, self._end = user if os.geteuid() == 0 else "", end
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Returns once it listens. Raises OSError where the program ended, or it takes too long."""
        self._process = self._open_process()
        until = monotonic() + START_SECONDS
        while monotonic() < until:
            if not self.is_running:
                raise OSError(f"{self._name} 没有启动：{self._read_log_end()}")
            # all of them listen, while what they print differs
            with suppress(OSError):
                _, writer = await asyncio.open_connection(HOST, self.port)
                writer.close()
                return
            await asyncio.sleep(_STEP)
        raise OSError(f"{self._name} 在 {START_SECONDS:.0f} 秒里没有应答：{self._read_log_end()}")

    async def stop(self, end: signal.Signals | None = None) -> None:
        """Sends a signal, its own one unless another is given, and returns once the process is gone."""
        if self._process is None or not self.is_running:
            return
        self._process.send_signal(end or self._end)
        try:
            await asyncio.to_thread(self._process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:  # one program that hangs must not keep the drill from its end
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def _open_process(self) -> subprocess.Popen[bytes]:
        # PostgreSQL does not run as root
        owner = {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid} if self._user else {}
        with self.log.open("ab") as log:
            process: subprocess.Popen[bytes] = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **owner,  # type: ignore[call-overload]
            )
            return process

    def _read_log_end(self) -> str:
        return self.log.read_text("utf-8", "replace")[-1000:]
