"""Whether a server of this machine works on another database than a command that is about to write."""

from __future__ import annotations

import httpx

from app.db.fingerprint import compute_fingerprint
from app.settings import Settings

# No import waits longer than this for a server that is perhaps not there.
_SECONDS = 1.0
# Addresses to listen at that nobody can call.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


def warn_of_other_database(settings: Settings) -> str:
    """A warning where the server at HOST and PORT says that it works on another database; empty where none answers
    there, where it is no server of this product, and where the two are the same.
    """
    address = build_server_address(settings)
    try:
        response = httpx.get(f"{address}/api/v1/health", timeout=_SECONDS, trust_env=False)
        told = response.json() if response.status_code == httpx.codes.OK else {}
    except (httpx.HTTPError, ValueError):  # nobody there, or somebody else
        return ""
    theirs = told.get("database") if isinstance(told, dict) else None
    if not isinstance(theirs, str) or not theirs or theirs == compute_fingerprint(settings.sql_url):
        return ""
    return (
        f"注意：{address} 上正在运行的服务用的是另一个数据库，这次导入的内容它看不到。\n"
        f"      这个命令的 DATA_DIR 是 {settings.data_dir.resolve()}；"
        "要导入到那个服务，请用它的 DATA_DIR、DATABASE_URL 再运行"
    )


def build_server_address(settings: Settings) -> str:
    """Where a server with these settings listens, as this machine reaches it."""
    host = _EVERYWHERE.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
