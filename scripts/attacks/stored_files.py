"""Another user of the same machine, who looks at the files of the server."""

from __future__ import annotations

import stat
from pathlib import Path

from scripts.harness.checks import Report
from scripts.harness.servers import Target

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


async def run_attack(target: Target) -> Report:
    """Looks at what the process has open for writing, and at all that lies beside its lock."""
    report = Report()
    for path in list_private_files(target.pid) if target.pid else ():
        mode = stat.S_IMODE(path.stat().st_mode)
        report.check(not mode & _OTHERS, f"{path.name} 的权限是 {mode:o}")
    return report


def list_private_files(pid: int) -> list[Path]:
    """DATA_DIR, found by the lock that the server holds, with all files and folders in it."""
    opened = [link.resolve() for link in Path(f"/proc/{pid}/fd").iterdir()]
    folder = next(path.parent for path in opened if path.name == "writer.lock")
    return [folder, *folder.rglob("*")]
