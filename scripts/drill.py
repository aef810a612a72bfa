"""Drills on a fleet of its own: `python scripts/drill.py faults [--only kill,redis]`, `greedy`, `throughput`.

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
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.commands import add_json_option, write_report
from scripts.drills.fault_drill import run_drill
from scripts.drills.faults import FAULTS
from scripts.drills.greedy_tenant import measure_greedy
from scripts.drills.throughput import measure_throughput
from scripts.harness.programs import ProgramMissing


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a drill. Returns the exit code: 1 where there are problems, 2 where a program is not installed."""
    parser = argparse.ArgumentParser(prog="scripts/drill.py", description="故障演练")
    commands = parser.add_subparsers(dest="command", required=True)
    faults = commands.add_parser("faults", help="依次制造故障，核对有没有丢、有没有重、多久恢复")
    faults.add_argument("--only", default=",".join(FAULTS), help=f"逗号分隔：{'、'.join(FAULTS)}")
    greedy_one = commands.add_parser("greedy", help="一个租户按上限的 50 倍来问，看别的租户慢了多少")
    turns = commands.add_parser("throughput", help="一到三个副本每秒几轮，一个副本多少内存")
    for command in (greedy_one, turns):
        command.add_argument("--replicas", type=int, default=3)
    for command in (faults, greedy_one, turns):
        command.add_argument("--embedder", default="auto", help="向量模型，同 EMBEDDER")
        command.add_argument("--keep", action="store_true", help="留下临时目录，里面有各个进程的日志")
        add_json_option(command)
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="yingda-drill-"))
    folder.chmod(0o711)  # PostgreSQL runs as another user where this is root
    try:
        report = asyncio.run(_run_command(options, folder))
    except ProgramMissing as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        if options.keep:
            print(f"日志在 {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    write_report(report, options.json)
    return 1 if report["problems"] else 0


async def _run_command(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    settings = {"EMBEDDER": options.embedder}
    if options.command == "faults":
        return (await run_drill(folder, options.only.split(","), settings)).build_json()
    measure = measure_greedy if options.command == "greedy" else measure_throughput
    return await measure(folder, settings, replicas=options.replicas)


if __name__ == "__main__":
    sys.exit(main())
