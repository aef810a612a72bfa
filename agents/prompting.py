"""Prompts: Chinese texts in `agents/prompts/*.md`, filled in from the tenant's profile and the request."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files

from agents.profile import ReplyLanguage, TenantProfile

UNANSWERED = "[无依据]"
"""What a model is told to write instead of what the fragments do not hold: typed, and never guessed from words."""
LANGUAGES: dict[ReplyLanguage, str] = {
    "auto": "与顾客使用的语言一致",
    "zh-Hans": "简体中文",
    "zh-Hant": "繁體中文",
    "en": "English",
}
_FOLDER = files("agents") / "prompts"
_SLOT = re.compile(r"\{\{(\w+)\}\}")


@cache
def template(name: str) -> str:
    """The text of a prompt, with its `{{slots}}`."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


@cache
def prompts_version() -> str:
    """Changes with any word of any prompt; part of every cache key."""
    prompts = (item for item in _FOLDER.iterdir() if item.name.endswith(".md"))
    texts = sorted((item.name, item.read_text(encoding="utf-8")) for item in prompts)
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


def fill(name: str, /, **values: str) -> str:
    """A prompt with its slots filled; a line that has an empty one is left out. Raises KeyError for a missing value.

    Values are put in as they are: a slot within a value stays text.
    """
    lines = template(name).split("\n")
    kept = (line for line in lines if all(values[slot] for slot in _SLOT.findall(line)))
    return "\n".join(_SLOT.sub(lambda match: values[match.group(1)], line) for line in kept)


def instructions(profile: TenantProfile, max_sources: int) -> str:
    """The system prompt of an answer: the rules, then what the tenant wishes within them."""
    wishes = fill(
        "profile",
        persona=one_line(profile.persona),
        tone=one_line(profile.tone),
        reply_language=LANGUAGES[profile.reply_language],
        avoid_topics=one_line("、".join(profile.avoid_topics)),
        system_prompt=profile.system_prompt.strip(),
        unanswered=UNANSWERED,
    )
    return fill(
        "answer", name=one_line(profile.name), max_sources=str(max_sources), unanswered=UNANSWERED, profile=wishes
    )


def one_line(text: str) -> str:
    """White space of any kind becomes one space: a value cannot begin a line of the prompt."""
    return " ".join(text.split())
