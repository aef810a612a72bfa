"""Programs in processes of their own, on free ports of this machine."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

HOST = "127.0.0.1"
START_SECONDS = 180.0
STOP_SECONDS = 60.0
_STEP = 0.05


class NotHere(Exception):
    """A program that a drill needs is not installed; the message says which."""


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def program(name: str, *folders: Path) -> str:
    """Where it is: in PATH, in one of the folders, or where Debian keeps servers. Raises NotHere."""
    own = os.pathsep.join([*map(str, folders), "/usr/sbin"])
    found = shutil.which(name, path=own) or shutil.which(name)
    if found is None:
        raise NotHere(f"没有安装 {name}")
    return found


class Program:
    """A command that may be killed and started again. user: who runs it where this is root; variables: besides those of
    this process; what it says goes to `log`.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        log: Path,
        *,
        user: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> None:
        # `env`, because only settings read the environment
        self._command = ["env", *(f"{name}={value}" for name, value in (variables or {}).items()), *command]
        self._name, self._folder, self.log = command[0], folder, log
        self._user = user if os.geteuid() == 0 else ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the process that runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Begins; see `answers`."""
        owner = {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid} if self._user else {}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **owner,  # type: ignore[call-overload]
            )

    async def answers(self, port: int, seconds: float = START_SECONDS) -> None:
        """Returns once somebody listens there. Raises OSError where the program ended, or it takes too long."""
        until = monotonic() + seconds
        while monotonic() < until:
            if not self.runs:
                raise OSError(f"{self._name} 没有启动：{self._tail()}")
            with suppress(OSError):
                _, writer = await asyncio.open_connection(HOST, port)
                writer.close()
                return
            await asyncio.sleep(_STEP)
        raise OSError(f"{self._name} 在 {seconds:.0f} 秒里没有应答：{self._tail()}")

    async def end(self, signal: int) -> None:
        """Sends a signal, and returns once the process is gone."""
        if self._process is None or not self.runs:
            return
        self._process.send_signal(signal)
        try:
            await asyncio.to_thread(self._process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def _tail(self) -> str:
        return self.log.read_text("utf-8", "replace")[-1000:]
