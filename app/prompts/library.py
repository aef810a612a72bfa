"""The prompts in force: those that come with the code, or what a company's folder has in their place, read anew while
the process runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from agents.prompt_library import SHIPPED, SLOT, Prompts, load_shipped_prompts, read_prompt
from knowledge.errors import InvalidConfiguration

# Of a prompt: longer than any that a model should be given for rules.
MAX_CHARS = 20_000
_TAG = "{{tag}}"


@dataclass(frozen=True, slots=True)
class PromptState:
    """One prompt now. own: it stands in the company's folder; problem: why an edit of it is not in force, empty
    without.
    """

    name: str
    text: str
    version: str
    own: bool
    problem: str


class PromptLibrary:
    """A file that is not as it has to be is refused, and the last text that was stays in force."""

    def __init__(
        self,
        folder: Path | None = None,
        seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        own: Path = SHIPPED,
    ) -> None:
        """folder: of files in the place of `own`, the ones that come with the code; seconds: for so long files are not
        looked at again. Raises InvalidConfiguration.
        """
        self._folder, self._own = folder, own
        self._seconds, self._clock = seconds, clock
        self._needed = load_shipped_prompts()
        self._texts = {name: self._needed.get_template(name) for name in self._needed}
        self._places = dict.fromkeys(self._texts, own)
        self._problems: dict[str, str] = {}
        self._taken: dict[str, tuple[Path, tuple[int, int]]] = {}
        self._lost = False
        if folder is not None and not folder.is_dir():
            raise InvalidConfiguration(f"PROMPTS_DIR={folder} 不是文件夹：请建好它，或留空用自带的提示词")
        self._current = self._needed
        self._looked = float("-inf")
        self._known: dict[tuple[str, str], str] = {}
        self._remember()

    def get_current(self) -> Prompts:
        """Returns the prompts in force, the same object until a text changes."""
        if self._clock() - self._looked >= self._seconds:
            self._looked = self._clock()
            self._look_for_changes()
        return self._current

    def get_text(self, name: str, version: str) -> str:
        """Returns the text of a version that was in force here at any time. Raises KeyError."""
        return self._known[name, version]

    def list_states(self) -> list[PromptState]:
        """Lists every prompt by name, then the files that are none."""
        versions = self.get_current().versions
        known = [
            PromptState(name, text, versions[name], self._places[name] == self._folder, self._problems.get(name, ""))
            for name, text in sorted(self._texts.items())
        ]
        strange = sorted(self._problems.keys() - self._texts.keys())
        return [*known, *(PromptState(name, "", "", own=True, problem=self._problems[name]) for name in strange)]

    def _look_for_changes(self) -> None:
        if self._folder is not None and not self._folder.is_dir():
            if not self._lost:
                logger.error("PROMPTS_DIR is gone, its prompts stay in force")
            self._lost = True
            return
        self._lost = False
        files = {path.stem: path for folder in (self._own, self._folder) if folder for path in folder.glob("*.md")}
        for name in self._problems.keys() - files.keys():
            del self._problems[name], self._taken[name]
        changed = False
        for name, path in files.items():
            mark = _mark(path)
            if mark is not None and self._taken.get(name) != (path, mark):
                self._taken[name] = path, mark
                changed = self._load_file(name, path) or changed
        if changed:
            self._current = Prompts(self._texts)
            self._remember()
            logger.bind(revision=self._current.version).info("prompts changed")

    def _remember(self) -> None:
        self._known |= {(name, version): self._texts[name] for name, version in self._current.versions.items()}

    def _load_file(self, name: str, path: Path) -> bool:
        """Whether the file says something else than what is in force, and may."""
        problem, text = self._check_file(name, path)
        if problem:
            self._problems[name] = problem
            logger.bind(path=path.name).error("a prompt is refused, the one before stays in force: {}", problem)
            return False
        self._problems.pop(name, None)
        changed = self._texts[name] != text
        self._texts[name], self._places[name] = text, path.parent
        return changed

    def _check_file(self, name: str, path: Path) -> tuple[str, str]:
        if name not in self._needed:
            return f"没有叫 {name} 的提示词，可用的名字：{'、'.join(self._needed)}", ""
        try:
            text = read_prompt(path)
        except (OSError, UnicodeDecodeError) as error:
            return f"读不出来（{type(error).__name__}），应是 UTF-8 的文本", ""
        return find_problem(text, self._needed.get_template(name)), text


def find_problem(text: str, needed: str) -> str:
    """Returns why a text cannot replace the prompt that comes with the code; empty if it can.

    It must have the same slots. Slots on lines of their own stay on such lines, since a line with an empty slot is left
    out; and the lines with a tag, which enclose what customers and documents say, stay around the same slots.
    """
    if not text.strip():
        return "是空的"
    if len(text) > MAX_CHARS:
        return f"太长：{len(text)} 个字符，最多 {MAX_CHARS} 个"
    slots, wanted = set(SLOT.findall(text)), set(SLOT.findall(needed))
    if missing := sorted(wanted - slots):
        return f"缺少 {_join_slots(missing)}"
    if strange := sorted(slots - wanted):
        return f"多了 {_join_slots(strange)}"
    together = [set(SLOT.findall(line)) for line in needed.split("\n")]
    for line in text.split("\n"):
        here = set(SLOT.findall(line))
        if len(here) > 1 and not any(here <= there for there in together):
            return f"{_join_slots(sorted(here))} 不能在同一行：没有值的那一行会整行省去"
    return "" if _split_frames(text) == _split_frames(needed) else f"带 {_TAG} 的几行须原样保留，其间的占位符也不能挪动"


def _split_frames(text: str) -> tuple[list[str], list[set[str]]]:
    """Returns the lines with a tag, and the slots before, between and after them."""
    tags: list[str] = []
    slots: list[set[str]] = [set()]
    for line in text.split("\n"):
        if _TAG in line:
            tags.append(line.strip())
            slots.append(set())
        else:
            slots[-1] |= set(SLOT.findall(line))
    return tags, slots


def _join_slots(slots: list[str]) -> str:
    return "、".join(f"{{{{{slot}}}}}" for slot in slots)


def _mark(path: Path) -> tuple[int, int] | None:
    """Changes with the file; None once it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
