"""A real server in a process of its own, with a key of each role."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from app.auth.principal import DEFAULT_TENANT, Role
from app.db.engine import Database
from app.db.migrate import upgrade_schema
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from scripts.attacks.base import Target
from scripts.server_process import ROOT, run_server, wait_until_learnt

START_SECONDS = 300.0
_OWN = {role.value: role for role in Role}
_OTHERS = {"other_client": Role.CLIENT, "other_admin": Role.ADMIN}


@contextmanager
def process(data_dir: Path, *, keys: bool = True, learnt: bool = True, **settings: str) -> Iterator[Target]:
    """`python -m app` with the hash embedder and no samples unless told.

    keys: a key of each role is stored, one of them of tenant `other`; without, every caller on loopback has every role.
    learnt: asks nothing before it is ready; without, it is given as soon as it says where it answers.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    given = asyncio.run(_keys(data_dir)) if keys else {}
    defaults = {"EMBEDDER": "hash", "VECTOR_STORE": "memory", "SAMPLES_ENABLED": "false", "API_KEY": ""}
    own = {"HOST": "127.0.0.1", "PORT": "0", "DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)}
    with run_server(["-m", "app"], data_dir, defaults | own | settings) as (pid, address):
        if learnt:
            wait_until_learnt(address, START_SECONDS)
        yield Target(address, pid=pid, **given)


def rss_mb(target: Target) -> float:
    """Resident memory of the server's process and its children, in MB."""
    pids = [target.pid, *children(target.pid)]
    return sum(_rss_mb(pid) for pid in pids)


def children(pid: int) -> list[int]:
    """Processes that a process has started, and theirs."""
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # it has just ended
            for child in map(int, listed.read_text().split()):
                found += [child, *children(child)]
    return found


def alive(target: Target) -> bool:
    """Whether the process that was started still answers."""
    return Path(f"/proc/{target.pid}/exe").exists() and (
        httpx.get(f"{target.address}/api/v1/health", timeout=30, trust_env=False).status_code == 200
    )


async def _keys(data_dir: Path) -> dict[str, str]:
    database = Database(f"sqlite+aiosqlite:///{(data_dir / 'yingda.sqlite3').as_posix()}")
    await upgrade_schema(database)
    repository, given = KeyRepository(database), {}
    for name, role in _OWN.items() | _OTHERS.items():
        given[name] = key = create_key()
        tenant = "other" if name in _OTHERS else DEFAULT_TENANT
        await repository.create(tenant, role, name, hash_key(key))
    await database.close()
    return given


def _rss_mb(pid: int) -> float:
    with suppress(OSError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6
    return 0.0
