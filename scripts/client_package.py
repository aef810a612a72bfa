"""Writes the generated files of app/client: types.py from the OpenAPI document, sync_client.py from async_client.py.

    .venv/bin/python scripts/client_package.py

A test compares both with what is there.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Set
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.main import create_app
from app.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "app" / "client" / "yingda_client"
_MADE = frozenset({"types.py", "sync_client.py"})
_HEADER = '"""{}. Made by scripts/client_package.py."""\n\n'
# What makes the client that waits of the one for asyncio, in this order.
_SYNC = (
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(Client|Conversation|BaseTransport|Iterator)\b", r"\1"),
    (r"\basyncio\b", "time"),
    (r"\ba(close|read|iter_lines)\b", r"\1"),
    (r"__a(enter|exit)__", r"__\1__"),
)


def main() -> None:
    """Writes both files."""
    (PACKAGE / "types.py").write_text(build_types(), "utf-8")
    (PACKAGE / "sync_client.py").write_text(build_sync_client(), "utf-8")


def build_sync_client() -> str:
    """The text of the client that waits, made from that of the client for asyncio."""
    text = (PACKAGE / "async_client.py").read_text("utf-8").partition('"""\n\n')[2]
    for pattern, replacement in _SYNC:
        text = re.sub(pattern, replacement, text)
    return _format_code(_HEADER.format("The client that waits, made of `async_client.py`") + text)


def build_types() -> str:
    """A typed dictionary for each schema that a module of the package names, and for those that it refers to."""
    document = _select_schemas(_build_document(), list_named_types())
    with TemporaryDirectory() as folder:
        source, made = Path(folder, "openapi.json"), Path(folder, "types.py")
        source.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
        options = ["--input", str(source), "--input-file-type", "openapi", "--output", str(made)]
        style = ["--output-model-type", "typing.TypedDict", "--formatters", "builtin", "--target-python-version"]
        subprocess.run([sys.executable, "-m", "datamodel_code_generator", *options, *style, "3.11"], check=True)
        text = made.read_text("utf-8")
    # without the head, which names the time, and without what needs typing_extensions, which the package does not
    text = re.sub(r"\A(#.*\n)+", "", text).replace(", closed=True", "")
    text = re.sub(r"^from typing_extensions import TypedDict\n", "", text, flags=re.MULTILINE)
    text = text.replace("NotRequired, TypeAlias", "NotRequired, TypeAlias, TypedDict")
    return _format_code(_HEADER.format("What the server takes and sends, by its OpenAPI document") + text.lstrip())


def list_named_types() -> set[str]:
    """What the modules of the package that people write import of `types.py`."""
    trees = [ast.parse(path.read_text("utf-8")) for path in PACKAGE.glob("*.py") if path.name not in _MADE]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.name for node in imports if node.module == "types" and node.level == 1 for name in node.names}


def extract_schemas(tags: Set[str]) -> dict[str, Any]:
    """The OpenAPI document's schemas that operations with one of these tags have to do with, directly or by another."""
    document = _build_document()
    operations = (told for methods in document["paths"].values() for told in methods.values())
    wanted = [told for told in operations if not tags.isdisjoint(told.get("tags", ()))]
    return _select_schemas(document, {"ChatEvent", *_find_references(wanted)})


def _build_document() -> dict[str, Any]:
    return create_app(Settings(_env_file=None, embedder="hash")).openapi()


def _select_schemas(document: dict[str, Any], names: Set[str]) -> dict[str, Any]:
    """The document with these schemas and those that they refer to, and with nothing else."""
    schemas, waiting, kept = document["components"]["schemas"], list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += _find_references(schemas[name])
    wanted = {name: schema for name, schema in schemas.items() if name in kept}
    return {**document, "paths": {}, "webhooks": {}, "components": {"schemas": wanted}}


def _find_references(value: Any) -> Iterator[str]:
    """The names of the schemas that a part of the document refers to."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name == "$ref" and item.startswith("#/components/schemas/"):
                yield item.rsplit("/", 1)[1]
            else:
                yield from _find_references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _find_references(item)


def _format_code(text: str) -> str:
    """The code as `make format` leaves it."""
    for command in (["check", "--fix", "--exit-zero", "--quiet"], ["format"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PACKAGE / "made.py"), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


if __name__ == "__main__":
    main()
