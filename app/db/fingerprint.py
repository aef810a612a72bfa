"""Which database a process works on, so that two of them can find out whether it is the same one."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from sqlalchemy import make_url

_CHARS = 12


def compute_fingerprint(sql_url: str) -> str:
    """Opaque, and the same for all that work on one database: of SQLite it is the file, whatever path or mount leads
    there, of a server where it listens and what the database is called. Empty for a file that is not there yet.
    """
    url = make_url(sql_url)
    if url.get_backend_name() == "sqlite":
        path = Path(url.database or "")
        if not path.is_file():
            return ""
        found = path.stat()
        what = f"sqlite {found.st_dev} {found.st_ino}"
    else:
        what = f"{url.get_backend_name()} {url.host or ''}:{url.port or ''} {url.database or ''}"
    return sha256(what.encode()).hexdigest()[:_CHARS]
