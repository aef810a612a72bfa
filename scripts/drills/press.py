"""A cheap client that presses: `python -m scripts.drills.press PORT KEY PREFIX --rate 200 --seconds 20`.

Over keep-alive connections from many addresses of this machine, as nginx tells customers apart by these. In a process
of its own it does not slow down who measures beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter

from scripts.drills.processes import HOST

CONNECTIONS = 32
_HEAD = re.compile(rb"HTTP/1\.1 (\d{3}).*?\r\ncontent-length: *(\d+)", re.IGNORECASE | re.DOTALL)
_ID = re.compile(rb'"message_id": ?"([^"]+)"')


@dataclass(slots=True)
class Pressed:
    """statuses: how often each; milliseconds and ids: of the turns that were answered."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


async def press(
    port: int, key: str, texts: Iterator[str], *, seconds: float, rate: float = 0.0, connections: int = CONNECTIONS
) -> Pressed:
    """Asks for so long, `rate` times a second at most, 0 for as fast as answers come. Raises OSError where a connection
    ends.
    """
    found, started = Pressed(), perf_counter()
    pause = connections / rate if rate else 0.0
    until = started + seconds
    await asyncio.gather(*(_one(port, key, texts, until, pause, n, found) for n in range(connections)))
    found.seconds = perf_counter() - started
    return found


async def _one(port: int, key: str, texts: Iterator[str], until: float, pause: float, n: int, found: Pressed) -> None:
    source = f"127.1.{n // 200}.{n % 200 + 1}"
    reader, writer = await asyncio.open_connection(HOST, port, local_addr=(source, 0))
    head = f"POST /api/v1/chat HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {key}\r\n"
    head += "Content-Type: application/json\r\n"
    await asyncio.sleep(pause * n / CONNECTIONS)
    while (began := perf_counter()) < until:
        body = json.dumps({"message": next(texts)}, ensure_ascii=False).encode()
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        told = _HEAD.search(answer)
        if told is None:
            raise OSError(answer[:200].decode("utf-8", "replace"))
        content = await reader.readexactly(int(told[2]))
        found.statuses[int(told[1])] += 1
        if told[1] == b"200":
            found.milliseconds.append((perf_counter() - began) * 1000)
            found.ids += [name.decode() for name in _ID.findall(content)[:1]]
        await asyncio.sleep(max(0.0, began + pause - perf_counter()))
    writer.close()


def main() -> int:
    """Prints how often each status came."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("key")
    parser.add_argument("prefix")
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    texts = (f"{options.prefix}{number}" for number in count())
    connections = max(CONNECTIONS, int(options.rate))  # a refusal takes half a second
    done = asyncio.run(
        press(options.port, options.key, texts, seconds=options.seconds, rate=options.rate, connections=connections)
    )
    print(json.dumps({"statuses": done.statuses}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
