"""Attacks on a server of one's own, on this machine: `python scripts/attack.py [http://127.0.0.1:8000] [--only NAME]`.

Without an address it starts one with a key of each role, in a folder of its own. Prints a line a subject and the cases
that the server did not withstand; the exit code is 1 when there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.attacks.base import Target
from scripts.attacks.process import process
from scripts.attacks.registry import ATTACKS


async def attack(target: Target, subjects: Sequence[str]) -> bool:
    """Runs the subjects one after the other. True when everything held."""
    held = True
    print(f"{'对象':<16}{'用例':>6}{'未守住':>8}{'秒':>8}")
    for subject in subjects:
        started = perf_counter()
        report = await ATTACKS[subject](target)
        print(f"{subject:<16}{report.cases:>6}{len(report.broken):>8}{perf_counter() - started:>8.1f}", flush=True)
        for line in report.broken:
            print(f"    {line}")
        held = held and not report.broken
    return held


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when the server did not withstand everything."""
    parser = argparse.ArgumentParser(prog="scripts/attack.py", description="对自己的服务重放已知的攻击")
    parser.add_argument("address", nargs="?", help="本机上的服务地址；不给则另起一个")
    parser.add_argument("--only", action="append", choices=sorted(ATTACKS), help="只跑这一项，可以重复")
    for role in ("admin", "server", "agent", "client", "other-client"):
        parser.add_argument(f"--{role}-key", default="", help=f"{role} 的密钥")
    options = parser.parse_args(arguments)
    subjects = options.only or sorted(ATTACKS)
    if options.address:
        keys = options.admin_key, options.server_key, options.agent_key, options.client_key, options.other_client_key
        return int(not asyncio.run(attack(Target(options.address, *keys), subjects)))
    with (
        tempfile.TemporaryDirectory() as folder,
        process(Path(folder, "data"), keys=True, EMBEDDER="auto", LOG_LEVEL="ERROR") as target,
    ):
        return int(not asyncio.run(attack(target, subjects)))


if __name__ == "__main__":
    sys.exit(main())
