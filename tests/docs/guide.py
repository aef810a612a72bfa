"""The how-tos of the guide as something that can be followed: code blocks with a title are files and changes of files.

A block of `diff` shows lines of its file: those with `-` go, those with `+` come, the others only show where; `@@` is
between places.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

GUIDES = Path("docs/development.md"), Path("docs/development.en.md")
_SECTION = re.compile(r"^### [^\n]+ \{ #add-([\w-]+) \}$(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """title: the file that it is about, of a block of commands anything."""

    language: str
    title: str
    code: str

    @property
    def file(self) -> str:
        return "" if self.language == "bash" else self.title

    @property
    def commands(self) -> list[list[str]]:
        return [shlex.split(line) for line in self.code.splitlines()] if self.language == "bash" else []


@dataclass(frozen=True, slots=True)
class HowTo:
    """One section of the guide."""

    name: str
    blocks: tuple[Block, ...]

    @property
    def tests(self) -> list[list[str]]:
        """The arguments of pytest, a list a command."""
        found = (words for block in self.blocks for words in block.commands)
        return [words[3:] for words in found if words[:3] == [".venv/bin/python", "-m", "pytest"]]


def how_tos(text: str) -> list[HowTo]:
    """Those of a page, in order."""
    return [
        HowTo(name, tuple(Block(*found) for found in _BLOCK.findall(section)))
        for name, section in _SECTION.findall(text)
    ]


def made(text: str) -> set[str]:
    """The files that a page has its readers write."""
    blocks = [block for how_to in how_tos(text) for block in how_to.blocks]
    touched = {name for block in blocks for words in block.commands if words[0] == "touch" for name in words[1:]}
    return {block.file for block in blocks} | touched


def changed(before: str, diff: str) -> str:
    """A text after the changes of a block, of which `@@` parts the places. Raises ValueError where the lines of one are
    not there, or not once.
    """
    for place in diff.split("@@\n"):
        lines = [(line[:1], line[1:]) for line in place.splitlines()]
        old = "\n".join(text for sign, text in lines if sign != "+")
        if before.count(old) != 1:
            raise ValueError(f"these lines stand {before.count(old)} times in the file, not once:\n{old}")
        before = before.replace(old, "\n".join(text for sign, text in lines if sign != "-"))
    return before
