"""Faults of a fleet of its own: `python scripts/drill.py [--only kill,redis]`.

Three replicas behind the shipped deploy/nginx.conf, on a PostgreSQL, a Redis, a Chroma server and a scripted model of
their own, all on this machine and on free ports; nothing else is touched. The exit code is 1 where something is lost,
doubled, refused in another form than it should be, or takes too long to recover.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.commands import add_json_option, write_report
from scripts.drills.fault_drill import run_drill
from scripts.drills.faults import FAULTS
from scripts.harness.programs import ProgramMissing


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the drill. Returns the exit code: 1 where there are problems, 2 where a program is not installed."""
    parser = argparse.ArgumentParser(
        prog="scripts/drill.py", description="依次制造故障，核对有没有丢、有没有重、多久恢复"
    )
    parser.add_argument("--only", default=",".join(FAULTS), help=f"逗号分隔：{'、'.join(FAULTS)}")
    parser.add_argument("--embedder", default="auto", help="向量模型，同 EMBEDDER")
    parser.add_argument("--keep", action="store_true", help="留下临时目录，里面有各个进程的日志")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="yingda-drill-"))
    folder.chmod(0o711)  # PostgreSQL runs as another user where this is root
    try:
        report = asyncio.run(run_drill(folder, options.only.split(","), {"EMBEDDER": options.embedder}))
    except ProgramMissing as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if options.keep:
            print(f"日志在 {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    write_report(report.build_json(), options.json)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
