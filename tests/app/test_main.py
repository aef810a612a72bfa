"""What a start imports: a budget that needs no clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# None of them is needed to answer a question by the embedded default; each is imported where it is used.
HEAVY = {
    "FlagEmbedding",
    "aiohttp",
    "alembic",
    "chromadb",
    "cryptography",
    "docx",
    "httpx",
    "jwt",
    "onnxruntime",
    "openai",
    "openpyxl",
    "opentelemetry.exporter",
    "opentelemetry.sdk",
    "pandas",
    "pptx",
    "prometheus_client",
    "pymilvus",
    "pypdfium2",
    "redis",
    "rich",
    "selectolax",
    "sqlglot",
    "tinycss2",
    "torch",
    "transformers",
}
IMPORTED = f"""
import json, sys
import app.main
print(json.dumps([sorted({HEAVY | {"scipy", "jieba", "numpy.testing", "apscheduler"}!r} & sys.modules.keys()),
                  sorted(name for name in sys.modules if name.startswith(("app.", "agents.", "knowledge.")))]))
"""
STARTED = f"""
import asyncio, json, sys
from app.features import FEATURES
from app.main import create_app
from app.settings import Settings

async def start():
    settings = Settings(_env_file=None, data_dir=sys.argv[1], embedder="hash", samples_enabled=False)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        await app.state.container.startup.ready.wait()

asyncio.run(start())
print(json.dumps([sorted({HEAVY!r} & sys.modules.keys()),
                  sorted(name for _, name in FEATURES if name in sys.modules)]))
"""


def run(script: str, *arguments: str) -> tuple[list[str], list[str]]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    libraries, modules = json.loads(done.stdout.splitlines()[-1])
    return libraries, modules


def test_the_application_alone_imports_none_of_its_parts() -> None:
    libraries, modules = run(IMPORTED)
    assert libraries == []
    parts = "app.wiring.", "app.chat.", "agents.screening.", "knowledge.stores.", "knowledge.embeddings."
    assert [name for name in modules if name.startswith(parts)] == []
    assert len(modules) < 100


def test_a_start_imports_neither_heavy_libraries_nor_features_that_nobody_asked_for(tmp_path: Path) -> None:
    libraries, modules = run(STARTED, str(tmp_path))  # tmp_path has a database of this code's schema
    assert libraries == []
    assert modules == ["app.chat.api", "app.chat.stop_api", "app.health.api"]
