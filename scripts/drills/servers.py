"""The servers that a fleet stands on, all of the drill's own: PostgreSQL, Redis, Chroma, nginx."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scripts.drills.processes import HOST, Program, free_port, program

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "deploy" / "nginx.conf"
_OWNER = "postgres"
_MAIN = """daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
worker_processes 1;
{user}
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


class Postgres:
    """A cluster in `folder`, as Debian's initdb makes it: its commits wait for the disk."""

    def __init__(self, folder: Path) -> None:
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        server, self._initdb = program("postgres", *binaries[-1:]), program("initdb", *binaries[-1:])
        self.port, self._folder = free_port(), folder / "postgres"
        self.url = f"postgresql+asyncpg://{_OWNER}@{HOST}:{self.port}/postgres"
        options = ["-c", f"port={self.port}", "-c", f"listen_addresses={HOST}", "-c", "unix_socket_directories="]
        command = [server, "-D", str(self._folder), *options, "-c", "max_connections=200"]
        self.program = Program(command, folder, folder / "postgres.log", user=_OWNER)

    async def start(self) -> None:
        """Makes the cluster where there is none, and returns once it takes connections."""
        if not self._folder.exists():
            self._folder.mkdir(mode=0o700)
            user = None
            if os.geteuid() == 0:
                shutil.chown(self._folder, _OWNER, _OWNER)
                user = _OWNER
            command = [self._initdb, "-D", str(self._folder), "-U", _OWNER, "-A", "trust", "-E", "UTF8", "--no-locale"]
            run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, user=user, cwd="/")
            await asyncio.to_thread(run, command)
        self.program.start()
        await self.program.answers(self.port)

    async def stop(self) -> None:
        """A fast shutdown: connections are ended, transactions rolled back."""
        await self.program.end(signal.SIGINT)


class Redis:
    """Without a file: what is lost with it is made again."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://{HOST}:{self.port}/0"
        command = [
            program("redis-server"),
            "--bind",
            HOST,
            "--port",
            str(self.port),
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        self.program = Program(command, folder, folder / "redis.log")

    async def start(self) -> None:
        """Returns once it listens."""
        self.program.start()
        await self.program.answers(self.port)

    async def stop(self) -> None:
        """At once."""
        await self.program.end(signal.SIGKILL)


class Chroma:
    """`chroma run`, of the package."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://{HOST}:{self.port}"
        command = [program("chroma", Path(sys.executable).parent), "run", "--host", HOST, "--port", str(self.port)]
        self.program = Program([*command, "--path", str(folder / "chroma")], folder, folder / "chroma.log")

    async def start(self) -> None:
        """Returns once it listens."""
        self.program.start()
        await self.program.answers(self.port)

    async def stop(self) -> None:
        """At once."""
        await self.program.end(signal.SIGKILL)


class Nginx:
    """The site that is shipped, on a free port, before these ports; nothing else of it is changed."""

    def __init__(self, folder: Path, upstreams: Sequence[int]) -> None:
        self.port = free_port()
        self.address = f"http://{HOST}:{self.port}"
        own = folder / "nginx"
        own.mkdir()
        own.joinpath("site.conf").write_text(site(SITE.read_text("utf-8"), self.port, upstreams), "utf-8")
        user = "user root;" if os.geteuid() == 0 else ""  # who may write into this folder
        own.joinpath("nginx.conf").write_text(_MAIN.format(folder=own, user=user), "utf-8")
        self._command = [program("nginx"), "-p", str(own), "-e", "stderr", "-c", str(own / "nginx.conf")]
        self.program = Program(self._command, folder, folder / "nginx.log")

    def check(self) -> subprocess.CompletedProcess[str]:
        """`nginx -t`."""
        return subprocess.run([*self._command, "-t"], capture_output=True, text=True, check=False)

    async def start(self) -> None:
        """Returns once it listens."""
        self.program.start()
        await self.program.answers(self.port)

    async def stop(self) -> None:
        """At once."""
        await self.program.end(signal.SIGTERM)


def site(text: str, port: int, upstreams: Sequence[int]) -> str:
    """The shipped site with another port and other processes. Raises ValueError where it has not one place for each."""
    servers = re.findall(r"^ *server app\d+:8000 (.+);\n", text, re.MULTILINE)
    if not servers or text.count("listen 80;") != 1:
        raise ValueError("deploy/nginx.conf 里没有 server app1:8000 或 listen 80")
    made = "".join(f"    server {HOST}:{number} {servers[0]};\n" for number in upstreams)
    text = re.sub(r"(?:^ *server app\d+:8000 .+;\n)+", made, text, flags=re.MULTILINE)
    return text.replace("listen 80;", f"listen {HOST}:{port};")
