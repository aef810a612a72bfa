"""The uvicorn server as the product runs it."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from app.http.connections import ServerConnections
from app.http.frames import MIN_FRAME_BYTES, BoundedSockets
from app.http.http1 import BoundedHttp
from app.settings import Settings

# Databases, indexes and connections to other services.
OWN_FILES = 256
MAX_FILES = 65_536
# A character outside the basic plane, as JSON escapes it.
_BYTES_PER_CHAR = 12


def build_server_config(app: FastAPI, settings: Settings, **options: Any) -> uvicorn.Config:
    """Builds the configuration of uvicorn, in which everything that a stranger can use up is bounded.

    options: of uvicorn.Config, beyond that.
    """
    door = ServerConnections(min(settings.max_connections, raise_file_limit() - OWN_FILES), settings.head_timeout)
    given: dict[str, Any] = {
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "http": cast(Any, partial(BoundedHttp, door)),
        "ws": BoundedSockets,
        "ws_max_size": max(MIN_FRAME_BYTES, settings.max_message_chars * _BYTES_PER_CHAR),
        "ws_per_message_deflate": False,
        "timeout_keep_alive": settings.keep_alive_timeout,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": settings.trusted_proxies,
    }
    return uvicorn.Config(app, **given | options)


def raise_file_limit() -> int:
    """Lets the process open as many files as it may, and gives how many that are."""
    if sys.platform == "win32":
        return MAX_FILES
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(MAX_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MAX_FILES if soft == resource.RLIM_INFINITY else min(MAX_FILES, soft)
