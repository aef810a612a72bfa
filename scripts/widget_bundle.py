"""Writes app/web/widget/bundle.js and bundle.css: the widget as other sites load it, in two files instead of twenty.

    .venv/bin/python scripts/widget_bundle.py

The sources run in browsers as they are, and the chat page uses them so. The bundle is kept in the repository, so that
nobody who runs the product needs Node; its first line is a digest of what it was made of, which a test compares.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

WEB = Path(__file__).resolve().parents[1] / "app" / "web"
WIDGET = WEB / "widget"
STYLES = WEB / "shared" / "tokens.css", WEB / "shared" / "base.css", WIDGET / "widget.css"
# One version, so that the same sources give the same bytes everywhere.
ESBUILD = "esbuild@0.28.2"
_IMPORT = re.compile(r'^(?:import|export)\b.*?"(\.[^"]+)"', re.MULTILINE)
_NOTICE = "Preact and htm, marked: see /web/vendor/*.LICENSE"


def list_modules(entry: Path = WIDGET / "main.js") -> list[Path]:
    """The module and all that it imports, in a fixed order."""
    found: set[Path] = set()
    waiting = [entry.resolve()]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += [(module.parent / name).resolve() for name in _IMPORT.findall(module.read_text("utf-8"))]
    return sorted(found)


def compute_digest() -> str:
    """The digest of everything that the bundle is made of."""
    parts = [f"{path.relative_to(WEB)}\0{path.read_text('utf-8')}" for path in (*list_modules(), *STYLES)]
    return hashlib.sha256("\0".join([ESBUILD, *parts]).encode()).hexdigest()


def build_banner() -> str:
    """The first line of both files."""
    return f"/* {_NOTICE}. Made of {compute_digest()} */"


def main() -> None:
    """Runs esbuild, which npm fetches at the first time."""
    command = ["npx", "--yes", ESBUILD, "--minify", "--target=es2022", "--charset=utf8"]
    code = subprocess.run(
        [*command, "--bundle", "--format=esm", "--legal-comments=none", str(WIDGET / "main.js")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    text = "\n".join(path.read_text("utf-8") for path in STYLES)
    style = subprocess.run([*command, "--loader=css"], input=text, check=True, capture_output=True, text=True).stdout
    (WIDGET / "bundle.js").write_text(f"{build_banner()}\n{code}", "utf-8")
    (WIDGET / "bundle.css").write_text(f"{build_banner()}\n{style}", "utf-8")


if __name__ == "__main__":
    main()
