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

from scripts.harness.programs import HOST, Program, find_free_port, find_program
from scripts.harness.servers import ROOT

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


class Postgres(Program):
    """A cluster in `folder`, as Debian's initdb makes it: its commits wait for the disk. A stop is a fast shutdown:
    connections are ended, transactions rolled back.
    """

    def __init__(self, folder: Path) -> None:
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        server, self._initdb = find_program("postgres", *binaries[-1:]), find_program("initdb", *binaries[-1:])
        port, self._cluster = find_free_port(), folder / "postgres"
        self.url = f"postgresql+asyncpg://{_OWNER}@{HOST}:{port}/postgres"
        # no socket in a folder that belongs to the PostgreSQL of this machine
        options = ["-c", f"port={port}", "-c", f"listen_addresses={HOST}", "-c", "unix_socket_directories="]
        command = [server, "-D", str(self._cluster), *options, "-c", "max_connections=200"]
        super().__init__("postgres", command, folder, port, user=_OWNER, end=signal.SIGINT)

    async def start(self) -> None:
        """Makes the cluster where there is none, and returns once it listens. Raises OSError."""
        if not self._cluster.exists():
            self._cluster.mkdir(mode=0o700)
            user = None
            if os.geteuid() == 0:
                shutil.chown(self._cluster, _OWNER, _OWNER)
                user = _OWNER
            command = [self._initdb, "-D", str(self._cluster), "-U", _OWNER, "-A", "trust", "-E", "UTF8", "--no-locale"]
            run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, user=user, cwd="/")
            await asyncio.to_thread(run, command)
        await super().start()


class Redis(Program):
    """Redis without a file: what is lost with it is made again."""

    def __init__(self, folder: Path) -> None:
        port = find_free_port()
        self.url = f"redis://{HOST}:{port}/0"
        address, nothing_kept = ["--bind", HOST, "--port", str(port)], ["--save", "", "--appendonly", "no"]
        command = [find_program("redis-server"), *address, *nothing_kept]
        super().__init__("redis", command, folder, port, end=signal.SIGKILL)


class Chroma(Program):
    """`chroma run`, of the package."""

    def __init__(self, folder: Path) -> None:
        port, chroma = find_free_port(), find_program("chroma", Path(sys.executable).parent)
        command = [chroma, "run", "--host", HOST, "--port", str(port), "--path", str(folder / "chroma")]
        super().__init__("chroma", command, folder, port, end=signal.SIGKILL)


class Nginx(Program):
    """The site that is shipped, on a free port, before these ports; nothing else of it is changed."""

    def __init__(self, folder: Path, upstreams: Sequence[int]) -> None:
        own, port = folder / "nginx", find_free_port()
        own.mkdir(parents=True)
        own.joinpath("site.conf").write_text(move_site(SITE.read_text("utf-8"), port, upstreams), "utf-8")
        user = "user root;" if os.geteuid() == 0 else ""  # who may write into this folder
        own.joinpath("nginx.conf").write_text(_MAIN.format(folder=own, user=user), "utf-8")
        command = [find_program("nginx"), "-p", str(own), "-e", "stderr", "-c", str(own / "nginx.conf")]
        super().__init__("nginx", command, folder, port)

    def check_site(self) -> subprocess.CompletedProcess[str]:
        """Checks the configuration with `nginx -t`."""
        return subprocess.run([*self._command, "-t"], capture_output=True, text=True, check=False)


def move_site(text: str, port: int, upstreams: Sequence[int]) -> str:
    """The shipped site with another port and other processes. Raises ValueError where it has not one place for each."""
    servers = re.findall(r"^ *server app\d+:8000 (.+);\n", text, re.MULTILINE)
    if not servers or text.count("listen 80;") != 1:
        raise ValueError("deploy/nginx.conf 里没有 server app1:8000 或 listen 80")
    made = "".join(f"    server {HOST}:{number} {servers[0]};\n" for number in upstreams)
    text = re.sub(r"(?:^ *server app\d+:8000 .+;\n)+", made, text, flags=re.MULTILINE)
    return text.replace("listen 80;", f"listen {HOST}:{port};")
