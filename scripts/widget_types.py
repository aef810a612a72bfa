"""Writes app/web/core/schemas.d.ts: what the server takes and sends, for the npm package of the widget's core.

    .venv/bin/python scripts/widget_types.py

It is kept in the repository, so that nobody who runs the product needs Node; its first line is a digest of what it was
made of, which a test compares. What is written by hand beside it, index.d.ts, is checked with it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.client_package import extract_schemas

CORE = Path(__file__).resolve().parents[1] / "app" / "web" / "core"
TYPES = CORE / "schemas.d.ts"
GENERATOR, COMPILER = "openapi-typescript@7.13.0", "typescript@5.9.3"
# Of the operations that a customer's side calls.
TAGS = frozenset(("chat", "conversations", "profile"))


def build_document() -> str:
    """The part of the OpenAPI document that the types are made of."""
    return json.dumps(extract_schemas(TAGS), ensure_ascii=False, sort_keys=True)


def build_banner(document: str) -> str:
    """The first line of the file."""
    return f"// By {GENERATOR} of {hashlib.sha256(document.encode()).hexdigest()}: scripts/widget_types.py"


def main() -> None:
    """Runs the generator and the compiler, which npm fetches at the first time."""
    document = build_document()
    with TemporaryDirectory() as folder:
        source, made = Path(folder, "openapi.json"), Path(folder, "schemas.d.ts")
        source.write_text(document, "utf-8")
        _run_npm(GENERATOR, "openapi-typescript", str(source), "--output", str(made), "--default-non-nullable", "false")
        TYPES.write_text(f"{build_banner(document)}\n{made.read_text('utf-8')}", "utf-8")
    options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"]
    _run_npm(COMPILER, "tsc", *options, str(CORE / "index.d.ts"))


def _run_npm(package: str, program: str, *arguments: str) -> None:
    subprocess.run(["npx", "--yes", f"--package={package}", "--", program, *arguments], check=True)


if __name__ == "__main__":
    main()
