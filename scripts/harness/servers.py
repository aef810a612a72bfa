"""Servers of this project in processes of their own, for whoever attacks, measures or looks at one from outside."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import urlsplit

import httpx

from app.auth.principal import DEFAULT_TENANT, Role
from app.db.migrate import open_migrated
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.settings import Settings
from scripts.harness.processes import measure_memory

ROOT = Path(__file__).resolve().parents[2]
# The first start takes the samples in, a minute without embeddings kept from before.
START_SECONDS = 900.0
CHAT, STREAM, COMPLETIONS = "/api/v1/chat", "/api/v1/chat/stream", "/v1/chat/completions"
DOCUMENTS = "/api/v1/knowledge/documents"
# Nothing of the shell that runs this reaches the server: no model, no database, no key.
_OWN_ALONE = dict.fromkeys(("API_KEY", "LLM_API_KEY", "DATABASE_URL", "CHROMA_URL", "MILVUS_URI"), "")
# What starts soon and is the same everywhere: no model of vectors, no files of a store, no samples.
_PLAIN = {"EMBEDDER": "hash", "VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false", "HOST": "127.0.0.1", "PORT": "0"}
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
# Name of a field of Target -> tenant and role of its key.
_KEYS = {role.value: (DEFAULT_TENANT, role) for role in Role} | {
    "other_client": ("other", Role.CLIENT),
    "other_admin": ("other", Role.ADMIN),
}


@dataclass(frozen=True, slots=True)
class Target:
    """A running server of one's own, on this machine. Keys are of one tenant, those named `other_…` of another one.

    Without keys (keyless loopback) all of them are empty. `pid` is 0, and `data_dir` empty, where they
    are not known.
    """

    address: str
    admin: str = ""
    server: str = ""
    agent: str = ""
    lead: str = ""
    client: str = ""
    metrics: str = ""
    other_client: str = ""
    other_admin: str = ""
    pid: int = 0
    data_dir: Path = Path()

    def __post_init__(self) -> None:
        """Raises ValueError for any host but this machine."""
        host = urlsplit(self.address).hostname or ""
        if host != "localhost" and not ip_address(host).is_loopback:
            raise ValueError(f"只攻击本机上的服务，不是 {host}")

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 80

    def open_client(self, key: str = "", seconds: float = 60.0) -> httpx.AsyncClient:
        """A client that shows `key`."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # no proxy of the environment is for this machine
        return httpx.AsyncClient(base_url=self.address, headers=headers, timeout=seconds, trust_env=False)

    def measure_memory(self) -> float:
        """Resident memory of the server's process and those that it started, in MB; 0 where it is not known."""
        return measure_memory(self.pid) if self.pid else 0.0

    def is_alive(self) -> bool:
        """Whether the process that was started still answers."""
        return Path(f"/proc/{self.pid}/exe").exists() and (
            httpx.get(f"{self.address}/api/v1/health", timeout=30, trust_env=False).status_code == 200
        )


@contextmanager
def run_python(arguments: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> Iterator[Target]:
    """Runs Python with these arguments until the block is left.

    Args:
        arguments: of a program that prints its address in the first line, once it answers.
        folder: where it runs.
        variables: of its environment, besides those of this process.

    Raises: OSError where it did not start.
    """
    with subprocess.Popen(
        build_command([sys.executable, *arguments], variables or {}), cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = _ADDRESS.search(process.stdout.readline())
            if not found:
                raise OSError(f"{' '.join(arguments)} 没有启动")
            yield Target(found.group(), pid=process.pid)
        finally:
            process.terminate()


@contextmanager
def run_product(data_dir: Path, *, keys: bool = True, **settings: str) -> Iterator[Target]:
    """Runs `python -m app` on a free port, with the hash embedder and without samples unless `settings` says otherwise.

    Args:
        data_dir: its DATA_DIR, made where it is missing.
        keys: whether a key of each role is stored; without, every caller on loopback has every role.
        settings: environment variables.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    given = asyncio.run(_store_keys(data_dir)) if keys else {}
    own = {"DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)}
    with run_python(["-m", "app"], data_dir, _OWN_ALONE | _PLAIN | own | settings) as server:
        # until it has learnt its examples, so that nothing else is done behind the first requests
        wait_until("例句没有学完", lambda: not _ask_state(server.address).get("learning", True))
        yield Target(server.address, pid=server.pid, data_dir=data_dir, **given)


async def _store_keys(data_dir: Path) -> dict[str, str]:
    """Stores a new key for each of _KEYS where a server with this DATA_DIR looks for them. Returns: name -> key."""
    keys = {name: create_key() for name in _KEYS}
    async with open_migrated(Settings.model_construct(data_dir=data_dir).sql_url) as database:
        for name, (tenant, role) in _KEYS.items():
            await KeyRepository(database).create(tenant, role, name, hash_key(keys[name]), ())
    return keys


def build_command(command: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """A command that runs with more environment variables: by `env`, because only settings read the environment."""
    return ["env", *(f"{name}={value}" for name, value in variables.items()), *command]


def wait_until(complaint: str, is_done: Callable[[], object], step: float = 0.2) -> None:
    """Returns once it is done, which is asked every `step` seconds. Raises OSError after START_SECONDS."""
    deadline = monotonic() + START_SECONDS
    while not is_done():
        if monotonic() > deadline:
            raise OSError(complaint)
        sleep(step)


def _ask_state(address: str) -> dict[str, object]:
    state: dict[str, object] = httpx.get(f"{address}/api/v1/health/ready", timeout=30, trust_env=False).json()
    return state
