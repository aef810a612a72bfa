"""Prompts: Chinese texts in `agents/prompts/*.md`, filled in from the tenant's profile and the request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files
from itertools import chain
from pathlib import Path

from agents.profile import ReplyLanguage, TenantProfile
from agents.shapes import Shape
from knowledge.text import fold

# What a model is told to write instead of what the fragments do not hold: typed, and never guessed from words.
UNANSWERED = "[无依据]"
LANGUAGES: dict[ReplyLanguage, str] = {
    "auto": "与顾客使用的语言一致",
    "zh-Hans": "简体中文",
    "zh-Hant": "繁體中文",
    "en": "English",
}
SHIPPED = Path(str(files("agents") / "prompts"))
SLOT = re.compile(r"\{\{(\w+)\}\}")
_OBJECT = re.compile(r'\{\s*"')


class PromptedMessages(list[dict[str, str]]):
    """Messages that were written from prompts.

    `prompts`: name -> version, the prompt with the task first; `shape`: of the wanted reply, None for a text.
    """

    def __init__(
        self, messages: Iterable[dict[str, str]], prompts: Mapping[str, str], shape: Shape | None = None
    ) -> None:
        super().__init__(messages)
        self.prompts = prompts
        self.shape = shape


class Prompts:
    """All prompts at one moment. It never changes, so texts made by one instance belong together."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """texts: by name, with their `{{slots}}`."""
        self._texts = dict(texts)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._texts))

    @cached_property
    def version(self) -> str:
        """Changes with any word of any prompt; part of every cache key."""
        return hash_text(repr(sorted(self._texts.items())))

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """Of each prompt by name."""
        return {name: hash_text(text) for name, text in self._texts.items()}

    def get_template(self, name: str) -> str:
        """Returns the text of a prompt, with its slots."""
        return self._texts[name]

    def fill(self, name: str, /, **values: str) -> str:
        """Fills the slots of a prompt; a line with an empty slot is left out. Raises KeyError for a missing value.

        Values are inserted as they are: a slot within a value stays text.
        """
        lines = self._texts[name].split("\n")
        kept = (line for line in lines if all(values[slot] for slot in SLOT.findall(line)))
        return "\n".join(SLOT.sub(lambda match: values[match.group(1)], line) for line in kept)

    def build_messages(
        self, *names: str, messages: list[dict[str, str]], shape: Shape | None = None
    ) -> PromptedMessages:
        """Wraps messages that were written from the named prompts, the one with the task first."""
        return PromptedMessages(messages, {name: self.versions[name] for name in names}, shape)

    def extract_examples(self, name: str) -> frozenset[str]:
        """Returns the sentences of the example replies in a prompt, folded. A reply that repeats one says nothing of
        its own.
        """
        text, found = self._texts[name], set[str]()
        for position in (match.start() for match in _OBJECT.finditer(text)):
            try:
                shown, _ = json.JSONDecoder().raw_decode(text, position)
            except ValueError:
                continue
            lists = (value for value in shown.values() if isinstance(value, list))
            found.update(fold(each) for each in chain(shown.values(), *lists) if isinstance(each, str))
        return frozenset(example for example in found if not example.isascii())

    def build_instructions(self, profile: TenantProfile, max_sources: int) -> str:
        """Returns the system prompt of an answer: the rules, then the tenant's wishes within them."""
        wishes = self.fill(
            "profile",
            persona=join_lines(profile.persona),
            tone=join_lines(profile.tone),
            reply_language=LANGUAGES[profile.reply_language],
            avoid_topics=join_lines("、".join(profile.avoid_topics)),
            system_prompt=profile.system_prompt.strip(),
            unanswered=UNANSWERED,
        )
        name, most = join_lines(profile.name), str(max_sources)
        return self.fill("answer", name=name, max_sources=most, unanswered=UNANSWERED, profile=wishes)


@cache
def load_shipped_prompts() -> Prompts:
    """Returns the prompts that come with the code."""
    return Prompts({path.stem: read_prompt(path) for path in sorted(SHIPPED.glob("*.md"))})


def read_prompt(path: Path) -> str:
    """Returns the text of a prompt file. Raises OSError, UnicodeDecodeError."""
    return path.read_text(encoding="utf-8-sig").rstrip("\n")


def hash_text(text: str) -> str:
    """Returns the version of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def join_lines(text: str) -> str:
    """Replaces white space of any kind by one blank: a value cannot begin a line of the prompt."""
    return " ".join(text.split())
