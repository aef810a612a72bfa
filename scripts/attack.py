"""What strangers and customers can send to a server of one's own: `python scripts/attack.py [ADDRESS] [--only NAME]`.

Without an address it starts one with a key of each role, in a folder of its own. Prints a line a subject and the cases
that the server did not withstand; the exit code is 1 when there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.attacks import bodies, connections, limits, origins, sessions, sockets
from scripts.harness.checks import Report
from scripts.harness.servers import Target, run_product

# Only what comes over the network without the rights of staff, since that depends on how a server is set up; all else
# is tried by the tests alone. Each is bounded in requests, bytes and time, and leaves the server as it was, apart from
# what it sent.
ATTACKS: dict[str, Callable[[Target], Awaitable[Report]]] = {
    "bodies": bodies.run_attack,
    "connections": connections.run_attack,
    "limits": limits.run_attack,
    "origins": origins.run_attack,
    "sessions": sessions.run_attack,
    "sockets": sockets.run_attack,
}


async def run_attacks(target: Target, subjects: Sequence[str]) -> bool:
    """Runs the subjects one after the other, and prints a line for each. Returns whether everything held."""
    held = True
    print(f"{'对象':<16}{'用例':>6}{'未守住':>8}{'秒':>8}")
    for subject in subjects:
        started = perf_counter()
        report = await ATTACKS[subject](target)
        print(f"{subject:<16}{report.cases:>6}{len(report.broken):>8}{perf_counter() - started:>8.1f}", flush=True)
        for name in report.broken:
            print(f"    {name}")
        held = held and not report.broken
    return held


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns exit code 1 when the server did not withstand everything."""
    parser = argparse.ArgumentParser(prog="scripts/attack.py", description="对自己的服务重放已知的攻击")
    parser.add_argument("address", nargs="?", help="本机上的服务地址；不给则另起一个")
    parser.add_argument("--only", action="append", choices=sorted(ATTACKS), help="只跑这一项，可以重复")
    for role in ("admin", "server", "agent", "client", "other-client"):
        parser.add_argument(f"--{role}-key", default="", help=f"{role} 的密钥")
    options = parser.parse_args(arguments)
    subjects = options.only or sorted(ATTACKS)
    if options.address:
        keys = {name.removesuffix("_key"): key for name, key in vars(options).items() if name.endswith("_key")}
        return int(not asyncio.run(run_attacks(Target(options.address, **keys), subjects)))
    with (
        tempfile.TemporaryDirectory() as folder,
        run_product(Path(folder, "data"), EMBEDDER="auto", LOG_LEVEL="ERROR") as target,
    ):
        return int(not asyncio.run(run_attacks(target, subjects)))


if __name__ == "__main__":
    sys.exit(main())
