"""A backup: a folder of files with a manifest that lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

MANIFEST = "manifest.json"
FORMAT = 1
Kind = Literal["sqlite", "postgresql"]


class BackupFailed(Exception):
    """No backup was made, or nothing was restored; the message says why."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A file of the backup: its path in the folder, its size in bytes, and the SHA-256 of its content."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """created_at: ISO time in UTC; product: the version that made it; kind: of the database; revision: its last
    migration; database: version of SQLite, or of pg_dump; settings: file in the backup -> the variable that names it.
    """

    created_at: str
    product: str
    kind: Kind
    revision: str
    database: str
    files: Sequence[BackupFile]
    settings: Mapping[str, str]
    format: int = FORMAT

    def write_to(self, folder: Path) -> None:
        """Writes the manifest into a folder."""
        folder.joinpath(MANIFEST).write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n", "utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Returns the manifest of a backup. Raises BackupFailed for an incomplete backup or a later format."""
    try:
        fields = json.loads(folder.joinpath(MANIFEST).read_text("utf-8"))
        if fields["format"] != FORMAT:
            raise BackupFailed(f"{folder} 的格式是 {fields['format']}，这份代码只认识 {FORMAT}：请用做备份的那一版恢复")
        return Manifest(**fields | {"files": [BackupFile(**file) for file in fields["files"]]})
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BackupFailed(f"{folder} 不是完整的备份：{MANIFEST} 没有或读不了") from error
