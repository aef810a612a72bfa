"""What the documents claim, read out of them: code blocks, commands, links and tables."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[1]
# Where the documents say that the server is.
ADDRESS = "http://127.0.0.1:8000"
# Also within an item of a list, by which it is indented.
_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# Titled ones, which are files of the how-to, among them.
_FENCED = re.compile(r"^( *)```\w.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
# In English pages; in Chinese ones they are in Chinese.
_NAMES = frozenset({"my-documents/", "north", "shop", "website", "Acme admin", "me", "Amy"})
_ROUTE = re.compile(r"^\| `([A-Z]+) (/[^`]*)` \|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Command:
    """One line of a shell block."""

    page: str
    line: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def pages() -> list[Path]:
    """All documents for people, relative to the root."""
    return sorted(path.relative_to(ROOT) for path in (*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md")))


def read_page(page: Path) -> str:
    """Its text."""
    return ROOT.joinpath(page).read_text("utf-8")


def read_without_blocks(page: Path) -> str:
    """Its text without code."""
    return _FENCED.sub("", read_page(page))


def blocks(page: Path, language: str) -> list[str]:
    """Code blocks of one language, in order."""
    return [dedent(code) for _, found, code in _BLOCK.findall(read_page(page)) if found == language]


def commands() -> list[Command]:
    """Every command of every shell block; one that several pages give is that of the first."""
    found: dict[str, Command] = {}
    for page in pages():
        for block in blocks(page, "bash"):
            for line in map(str.strip, block.splitlines()):
                if line and not line.startswith("#"):
                    found.setdefault(line, Command(page.as_posix(), line))
    return list(found.values())


def form(command: Command) -> tuple[str, ...]:
    """A command without the names that its readers choose themselves, which are those of its page's language."""
    return tuple("…" if word in _NAMES or not word.isascii() else word for word in command.words)


def relative_links(page: Path) -> list[str]:
    """Link targets inside the project."""
    return [target for target in _LINK.findall(read_without_blocks(page)) if "://" not in target]


def routes(page: Path) -> set[tuple[str, str]]:
    """Method and path of every endpoint in the page's tables."""
    return set(_ROUTE.findall(read_page(page)))
