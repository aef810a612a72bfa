"""A Chroma server of the tests' own: `chroma run`, from the package, on a free port."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import httpx
from chromadb.api import ServerAPI
from chromadb.api.shared_system_client import SharedSystemClient

START_SECONDS = 120.0


@contextmanager
def chroma_server(folder: Path, port: int | None = None) -> Iterator[str]:
    """Its address. port: None takes a free one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = port or probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1", "--port", str(port)]
    folder.mkdir(parents=True, exist_ok=True)
    address = f"http://127.0.0.1:{port}"
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen([*command, "--path", str(folder / "data")], stdout=log, stderr=log, cwd=folder)
        try:
            _wait(process, address, folder / "server.log")
            yield address
        finally:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    until = monotonic() + START_SECONDS
    while monotonic() < until:
        if process.poll() is not None:
            raise AssertionError(f"chroma run ended: {log.read_text('utf-8', 'replace')}")
        try:
            if httpx.get(f"{address}/api/v2/heartbeat", timeout=START_SECONDS).is_success:
                return
        except httpx.TransportError:
            sleep(0.05)
    raise AssertionError(f"no Chroma server at {address} after {START_SECONDS:.0f} s")


def forget_clients() -> None:
    """Chroma keeps clients per process, and every run of a script is a process; those of servers have sockets open."""
    for system in SharedSystemClient._identifier_to_system.values():
        session = getattr(system.instance(ServerAPI), "_session", None)
        if session is not None:
            session.close()
    SharedSystemClient.clear_system_cache()
