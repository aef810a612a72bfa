"""What a conversation is about, and its earlier turns.

The state is kept with each turn. It holds the customer's own words and places in documents, never rows of the business
database. `agents.dialogue` takes it from turn to turn.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from agents.understanding.utterance import Utterance
from knowledge.types import Context


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier exchange of the conversation."""

    utterance: Utterance
    reply: str
    suggestions: tuple[str, ...] = ()
    # The action that the reply proposed, empty for none.
    proposed: str = ""
    # The reply held rows of the business database, is left out here, and models do not see the turn.
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """What one answer rested on: the title of the first article, documents by id, sections as document and heading."""

    subject: str
    documents: tuple[str, ...]
    sections: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DialogueState:
    """`questions`: the last messages that were about something, oldest first; `topics`: what the answers rested on,
    oldest first.

    `agent` and `outcome` are those of the last such turn; `offered`: the options of its reply; `member`: whose data a
    reply held, only they continue from here; `versions` of products that the customer named, the last first.
    """

    questions: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = ()
    agent: str = ""
    outcome: str = ""
    offered: tuple[str, ...] = ()
    member: str = ""
    versions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.questions)

    @property
    def context(self) -> Context:
        """The context for the search."""
        *before, last = self.topics or (Topic("", (), ()),)
        return Context(
            self.questions,
            last.subject,
            frozenset(last.documents),
            frozenset(last.sections),
            frozenset(document for topic in before for document in topic.documents),
            self.versions,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the state as it is kept with a turn."""
        topics = [[topic.subject, topic.documents, topic.sections] for topic in self.topics]
        return asdict(self) | {"topics": topics}

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Self:
        """Reads the state of a turn; an empty state where the turn was kept without."""
        if not kept:
            return cls()
        topics = (
            Topic(subject, tuple(documents), tuple((document, heading) for document, heading in sections))
            for subject, documents, sections in kept["topics"]
        )
        texts = {name: tuple(kept.get(name, ())) for name in ("questions", "offered", "versions")}
        return cls(topics=tuple(topics), agent=kept["agent"], outcome=kept["outcome"], member=kept["member"], **texts)


NOTHING_SAID = DialogueState()
