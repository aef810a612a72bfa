"""A database that was restored from a backup, without vectors and index, while the embeddings service is slow."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic

import httpx

from knowledge.embeddings.hash import HashEmbedder
from scripts.harness.checks import Report
from scripts.harness.servers import Target, run_product
from scripts.harness.uploads import upload_files
from scripts.integration.base import Room

QUESTION, NEEDLE = "路由器整机保修几年", "保修三年"
LIVE_SECONDS, READY_SECONDS = 5.0, 120.0
# What a backup holds; all else in DATA_DIR is derived from it.
_KEPT = "yingda.sqlite3"
_DERIVED = {"embeddings.sqlite3", "index"}
_STEP = 0.2
_FILES = [
    ("保修.md", "# 保修\n\n路由器整机保修三年，耳机保修一年。".encode()),
    *((f"{city}.md", f"# {city}门店\n\n{city}门店每天九点开门。".encode()) for city in ("杭州", "宁波", "温州")),
]


def run_restored(room: Room, checks: Report) -> None:
    """Checks how a server starts after vectors and index were lost."""
    data_dir = room.folder / "restored"
    with _serve_embeddings() as (address, working):
        settings = {
            "EMBEDDER": "openai",
            "EMBEDDING_BASE_URL": address,
            "EMBEDDING_MODEL": "hash",
            "EMBEDDING_DIMENSION": str(HashEmbedder.dimension),
            "VECTOR_STORE": "chroma",
            "LOG_LEVEL": "ERROR",
        }
        with run_product(data_dir, keys=False, learnt=True, **settings) as target:
            stored = asyncio.run(_store_files(target))
        checks.check(stored == len(_FILES), "restored: documents were stored before", stored)
        lost = _delete_derived(data_dir)
        checks.check(set(lost) >= _DERIVED, "restored: vectors and index are gone", " ".join(lost))
        working.clear()
        with run_product(data_dir, keys=False, learnt=False, **settings) as target:
            asyncio.run(_check_recovery(target, working, checks))


async def _store_files(target: Target) -> int:
    async with target.open_client() as http:
        return sum(report["status"] == "ready" for report in await upload_files(http, _FILES))


def _delete_derived(data_dir: Path) -> list[str]:
    """Deletes what is derived from the database. Returns the names."""
    lost = [path for path in data_dir.iterdir() if not path.name.startswith(_KEPT)]
    for path in lost:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return sorted(path.name for path in lost)


async def _check_recovery(target: Target, working: threading.Event, checks: Report) -> None:
    """From the start with an embeddings service that hangs until all vectors are there again."""
    async with target.open_client() as http:
        started = monotonic()
        live = await http.get("/api/v1/health")
        took = monotonic() - started
        checks.check(live.status_code == 200 and took < LIVE_SECONDS, "restored: alive at once", live.status_code)
        response = await http.get("/api/v1/health/ready")
        told = response.json()
        indexing = told.get("indexing") or {"done": -1, "total": 0}
        unready = response.status_code == 503 and told.get("ready") is False
        checks.check(unready, "restored: not ready yet", response.status_code)
        behind = 0 <= indexing["done"] < indexing["total"]
        checks.check(behind, "restored: says how far it is", f"{indexing['done']}/{indexing['total']}")
        answer = (await http.post("/api/v1/chat", json={"message": QUESTION})).json()
        checks.check(NEEDLE in answer["reply"], "restored: keywords answer meanwhile", answer["outcome"])
        marks = answer["data"]["degraded"]
        checks.check("embedding" in marks, "restored: the answer is marked", " ".join(marks))
        working.set()
        checks.check(await _wait_until_ready(http), "restored: ready in the end", f"<{READY_SECONDS:.0f} s")
        answer = (await http.post("/api/v1/chat", json={"message": QUESTION})).json()
        unmarked = NEEDLE in answer["reply"] and not answer["data"]["degraded"]
        checks.check(unmarked, "restored: then it answers unmarked", answer["outcome"])


async def _wait_until_ready(http: httpx.AsyncClient) -> bool:
    deadline = monotonic() + READY_SECONDS
    while monotonic() < deadline:
        response = await http.get("/api/v1/health/ready")
        if response.status_code == 200 and response.json()["indexing"] is None:
            return True
        await asyncio.sleep(_STEP)
    return False


@contextmanager
def _serve_embeddings() -> Iterator[tuple[str, threading.Event]]:
    """An OpenAI-compatible endpoint with the vectors of the hash embedder: its address, and whether it answers."""
    working = threading.Event()
    working.set()

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            working.wait()
            vectors = asyncio.run(HashEmbedder().embed_passages(asked["input"])).tolist()
            data = [{"object": "embedding", "index": row, "embedding": vector} for row, vector in enumerate(vectors)]
            body = json.dumps({"object": "list", "model": asked["model"], "data": data}).encode()
            with suppress(ConnectionError):  # who asked has given up meanwhile
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", working
        finally:
            working.set()
            server.shutdown()
