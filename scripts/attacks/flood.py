"""A flood of chat messages from a process of its own, so that it costs nothing where the answers are timed.

`python -m scripts.attacks.flood`, told by one line of JSON what to do, prints the counts of what came back as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Flood:
    """Each connection sends its next message as soon as the last one is answered; all messages differ."""

    address: str
    key: str
    connections: int
    seconds: float
    text: str = "运费险怎么赔付"


@asynccontextmanager
async def flooding(flood: Flood) -> AsyncIterator[Counter[str]]:
    """While it runs. The counts, by status, are there at the end; `untold` are refusals without Retry-After."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scripts.attacks.flood"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    counts: Counter[str] = Counter()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(asdict(flood)).encode() + b"\n")
    await process.stdout.readline()  # it has begun
    try:
        yield counts
    finally:
        out, _ = await process.communicate()
        counts.update(json.loads(out))


async def send(flood: Flood) -> Counter[str]:
    """Floods, and counts."""
    counts: Counter[str] = Counter()
    until = monotonic() + flood.seconds
    await asyncio.gather(*(_connection(flood, number, until, counts) for number in range(flood.connections)))
    return counts


async def _connection(flood: Flood, number: int, until: float, counts: Counter[str]) -> None:
    address = urlsplit(flood.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    sent = 0
    while monotonic() < until:
        sent += 1
        body = json.dumps({"message": f"{flood.text} {number} 之 {sent}"}).encode()
        head = (
            f"POST /api/v1/chat HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {flood.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = answer.split(b" ", 2)[1].decode()
        await reader.readexactly(int(answer.split(b"content-length: ")[1].split(b"\r\n")[0]))
        counts[status] += 1
        counts["untold"] += status in ("429", "503") and b"retry-after: " not in answer
    writer.close()


if __name__ == "__main__":
    told = json.loads(sys.stdin.readline())
    print(flush=True)
    print(json.dumps(asyncio.run(send(Flood(**told)))))
