"""The Chinese of questions about one's own data, in any trade: `language.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from knowledge.text import fold
from knowledge.yaml_files import load_shipped_yaml


@dataclass(frozen=True, slots=True)
class Language:
    """See the comments of the file."""

    spoken: Mapping[str, str]
    # What is wanted of rows -> phrases; the others are lists of words.
    asks: Mapping[str, tuple[str, ...]]
    own: tuple[str, ...]
    rules: tuple[str, ...]
    refuses: tuple[str, ...]
    besides: tuple[str, ...]
    asked: tuple[str, ...]
    which: tuple[str, ...]
    weighty: tuple[str, ...]
    joins: tuple[str, ...]
    compares: tuple[str, ...]
    slots: tuple[str, ...]
    tails: tuple[str, ...]
    filler: tuple[str, ...]

    def fold_text(self, text: str) -> str:
        """Returns a text folded, with colloquial words in their common form: 啥时候 -> 什么时候."""
        text = fold(text)
        for word, common in self.spoken.items():
            text = text.replace(word, common)
        return text


@cache
def load_shipped_language() -> Language:
    """Returns the language that comes with the project."""
    data = load_shipped_yaml("agents.business.offline", "language.yaml")
    words = {name: tuple(map(str, given)) for name, given in data.items() if name not in ("spoken", "asks")}
    spoken = {str(other): str(common) for common, others in data["spoken"].items() for other in others}
    asks = {give: tuple(phrases) for give, phrases in data["asks"].items()}
    return Language(spoken=spoken, asks=asks, **words)
