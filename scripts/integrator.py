"""An integrator's first day, against real servers: `python scripts/integrator.py [--only PART]`.

Starts the servers that it needs on this machine, in a folder of its own. Prints a line a check: its name, ok or failed,
and a figure; below it the cases that did not hold. The exit code is 1 when there are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.harness.checks import Report
from scripts.integration import browser, clients, pages, replicas, restoration, retries, uploads
from scripts.integration.base import Part, Room

PARTS: dict[str, Part] = {
    "uploads": uploads.run_uploads,
    "clients": clients.run_clients,
    "browser": browser.run_browser,
    "retries": retries.run_retries,
    "restored": restoration.run_restored,
    "replicas": replicas.run_replicas,
    "pages": pages.run_pages,
}
# Where the databases for two processes are made, and dropped afterwards.
POSTGRES = "postgresql://postgres@127.0.0.1:5432/postgres"


def run_parts(parts: Sequence[str], postgres: str) -> bool:
    """Runs the parts one after the other, and prints a line for each check. Returns whether everything held.

    Args:
        postgres: see Room.
    """
    cases = failed = 0
    for part in parts:
        report = Report()
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Room(Path(folder), postgres), report)
        for line in report.lines:
            print(f"{line.name:<64} {'ok' if line.held else 'failed':<8}{line.figure}", flush=True)
            for detail in line.details:
                print(f"    {detail}")
        for name, why in report.skipped.items():
            print(f"{name:<64} skipped {why}", flush=True)
        cases += report.cases
        failed += len(report.broken)
    print(f"{cases} checks, {failed} failed")
    return not failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns exit code 1 when something did not hold."""
    parser = argparse.ArgumentParser(prog="scripts/integrator.py", description="像接入方一样使用自己的服务，逐项核对")
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="只跑这一项，可以重复")
    parser.add_argument("--postgres", default=POSTGRES, help=f"PostgreSQL 的地址，默认 {POSTGRES}；连不上则略过这一项")
    options = parser.parse_args(arguments)
    return int(not run_parts(options.only or list(PARTS), options.postgres))


if __name__ == "__main__":
    sys.exit(main())
