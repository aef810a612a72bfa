"""What a customer says in one message: as it was written, as it was read, and in other words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from agents.understanding.reading import Reading, read


class RewriteKind(StrEnum):
    """Who put an utterance in other words."""

    # What it leaves out, completed from the conversation: 那运费呢.
    RULES = "rules"
    # What it chooses of the last reply: 第二个.
    CHOICE = "choice"
    # Its typos put right.
    SPELLING = "spelling"
    # 这个 replaced by the subject of the page in view.
    PAGE = "page"
    # What a language model read in it.
    MODEL = "model"
    # The one that an earlier turn was stored with, by whatever it was made.
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An utterance in other words."""

    text: str
    kind: RewriteKind
    # Beside the original; what rules guess only helps to read it.
    searched: bool = True


@dataclass(frozen=True)
class Utterance:
    """What a customer says in one message. `original` is the text as it was written, which is shown and kept.

    Three texts say what is asked, since none fits all uses; they differ unless the message is written plainly and
    nothing is left out. `searched_text` is compared with documents: without a rewrite it stands in one spelling (咋退货
    as 怎么退货). `complete_text` is shown to people and models: without a rewrite it stands as it was written.
    `expanded_text` decides about intents and business rows, so it takes what rules guess from the conversation, too
    (那运费呢 as 退货 运费): a wrong guess does no harm there, where a search would find other documents by it.
    """

    original: str
    # In the order in which they were made, each counts more than those before it.
    rewrites: tuple[Rewrite, ...] = ()
    # Kinds and words that a model found named in it.
    slots: tuple[tuple[str, str], ...] = ()
    # zh or en, as a model says; empty where none does.
    language: str = ""

    @cached_property
    def reading(self) -> Reading:
        """The reading of the original."""
        return read(self.original)

    @property
    def normalized(self) -> str:
        """The original in one spelling; it is embedded, searched and routed."""
        return self.reading.normalized_text

    @property
    def rewrite(self) -> str | None:
        """The rewrite that is searched beside the original; None without one."""
        return next((one.text for one in reversed(self.rewrites) if one.searched), None)

    @property
    def searched_text(self) -> str:
        """The rewrite that is searched, else the normalized text: what documents and answers have to fit."""
        return self.rewrite or self.normalized

    @property
    def complete_text(self) -> str:
        """The rewrite that is searched, else the original: what is shown."""
        return self.rewrite or self.original

    @property
    def expanded_text(self) -> str:
        """The last rewrite, else the original: intents and business rows go by the last word, so that rules may fill in
        what is left out.
        """
        return self.rewrites[-1].text if self.rewrites else self.original

    @cached_property
    def expanded(self) -> Reading:
        """The reading of `expanded_text`."""
        return read(self.expanded_text) if self.rewrites else self.reading

    @property
    def is_english(self) -> bool | None:
        """Whether it is English, by its words, else by a model; None where neither tells."""
        own = self.reading.is_english
        return self.language == "en" if own is None and self.language else own

    def get_rewrite(self, kind: RewriteKind) -> str | None:
        """Returns the rewrite of a kind; None without one."""
        return next((one.text for one in self.rewrites if one.kind is kind), None)

    def convert(self, change: Callable[[str], str]) -> Utterance:
        """Returns the utterance with all of its wordings changed."""
        rewrites = tuple(replace(one, text=change(one.text)) for one in self.rewrites)
        return replace(self, original=change(self.original), rewrites=rewrites)

    def add_rewrite(self, text: str | None, kind: RewriteKind, *, searched: bool = True) -> Utterance:
        """Returns the utterance with one more rewrite; without a text, as it is."""
        return replace(self, rewrites=(*self.rewrites, Rewrite(text, kind, searched))) if text else self
