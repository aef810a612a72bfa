"""Tunes a tenant's retrieval at a server: `python scripts/tune.py params --set similarity_threshold=0.65`.

`params` shows the parameters, or sets or resets them; `calibrate` and `sweep` take labelled questions from a JSONL file
(`{"question", "answerable", "documents"?}` a line) or an evaluation set, and say what they recommend: nothing changes
without `--apply`. The key of an administrator is read from API_KEY.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.settings import Settings

POLL_SECONDS = 1.0
PATH = "/api/v1/tuner"


def main() -> int:
    """Returns 1 where the server refuses, or the run failed."""
    arguments = _parse_arguments()
    key = Settings().api_key.get_secret_value()
    headers = {"X-API-Key": key} if key else {}
    with httpx.Client(base_url=arguments.server, headers=headers, timeout=120) as http:
        try:
            return _print_params(http, arguments) if arguments.command == "params" else _run_report(http, arguments)
        except httpx.HTTPStatusError as error:
            print(error.response.json()["error"]["message"], file=sys.stderr)
        except (httpx.TransportError, ValueError, OSError) as error:
            print(error, file=sys.stderr)
    return 1


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default="http://127.0.0.1:8000", help="address of the server")
    commands = parser.add_subparsers(dest="command", required=True)
    params = commands.add_parser("params", help="show, set or reset parameters")
    params.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE")
    params.add_argument("--reset", nargs="*", metavar="NAME", help="back to the defaults; no name: all")
    params.add_argument("--note", default="", help="why, for the history")
    for name in ("calibrate", "sweep"):
        command = commands.add_parser(name)
        source = command.add_mutually_exclusive_group(required=True)
        source.add_argument("--questions", type=Path, help="JSONL")
        source.add_argument("--set", default="", help="id of an evaluation set")
        command.add_argument("--apply", action="store_true", help="put in force what is recommended")
    commands.choices["calibrate"].add_argument("--refusal", type=float, help="share of unanswerable ones to refuse")
    grid = commands.choices["sweep"]
    grid.add_argument("--alphas", type=float, nargs="+", default=[0.3, 0.45, 0.6, 0.75])
    grid.add_argument("--ks", type=int, nargs="+", default=[20, 60])
    grid.add_argument("--widths", type=int, nargs="+", default=[25, 50])
    return parser.parse_args()


def _print_params(http: httpx.Client, arguments: argparse.Namespace) -> int:
    if arguments.reset is not None:
        found = _send_request(http, "POST", "/params/reset", {"names": arguments.reset, "note": arguments.note})
    elif arguments.set:
        pairs = (one.split("=", 1) for one in arguments.set)
        values = {name: float(value) for name, value in pairs}
        found = _send_request(http, "PUT", "/params", {"values": values, "note": arguments.note})
    else:
        found = _send_request(http, "GET", "/params")
    for one in found["params"]:
        changed = f"  (default {one['default']:g})" if one["tuned"] else ""
        print(f"{one['name']:<26} {one['value']:<8g} {one['low']:g}..{one['high']:g}{changed}")
    return 0


def _run_report(http: httpx.Client, arguments: argparse.Namespace) -> int:
    begun = _send_request(
        http, "POST", f"/{arguments.command}s".replace("calibrates", "calibrations"), _build_request(arguments)
    )
    started, report = time.monotonic(), begun
    while report["state"] in ("queued", "running"):
        time.sleep(POLL_SECONDS)
        report = _send_request(http, "GET", f"/reports/{begun['id']}")
        print(f"\r{report['done']} / {report['total']}", end="", file=sys.stderr)
    print(f"\r{time.monotonic() - started:.0f} s", file=sys.stderr)
    if report["result"] is None:
        print(f"the run ended: {report['state']}", file=sys.stderr)
        return 1
    shown = {name: value for name, value in report["result"].items() if name not in ("curve", "points")}
    print(json.dumps(shown, ensure_ascii=False, indent=2))
    for point in sorted(report["result"].get("points", []), key=lambda point: -point["right"]):
        print(json.dumps(point))
    if arguments.apply and report["result"]["values"]:
        applied = _send_request(http, "POST", f"/reports/{begun['id']}/apply", {})
        print(f"version {applied['version']} is in force")
    return 0


def _build_request(arguments: argparse.Namespace) -> dict[str, Any]:
    body: dict[str, Any] = {"set": arguments.set}
    if arguments.questions:
        # spreadsheets put a mark before the first character, which utf-8-sig takes away
        rows = (json.loads(line) for line in arguments.questions.read_text("utf-8-sig").splitlines() if line.strip())
        body = {"questions": list(rows), "title": arguments.questions.stem}
    if arguments.command == "calibrate":
        return body | {"refusal": arguments.refusal}
    return body | {"alphas": arguments.alphas, "ks": arguments.ks, "widths": arguments.widths}


def _send_request(http: httpx.Client, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    response = http.request(method, PATH + path, json=body)
    response.raise_for_status()
    found: dict[str, Any] = response.json()
    return found


if __name__ == "__main__":
    sys.exit(main())
