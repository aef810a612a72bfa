"""What a conversation is about: a fold over its turns, kept with each of them.

The state after a turn is a pure function of the state before it, the question and the answer. It holds the customer's
own words and places in documents, never rows of the business database.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from agents.understanding.named_versions import merge_named_versions
from knowledge.types import Context

if TYPE_CHECKING:
    from agents.types import Answer, Turn

MAX_QUESTIONS = 3
MAX_TOPICS = 4
# Of a long story the end is kept: there it asks.
MAX_QUESTION_CHARS = 100
# Who acknowledges a picture or a file that came without a question.
ATTACHMENT = "attachment"
# Agents whose turns leave the conversation where it was.
OFF_TOPIC_AGENTS = frozenset(
    {"chitchat", "escalation", "deflection", "guard", "screening", "desk", "limits", ATTACHMENT}
)


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

    def add_turn(self, question: str, answer: Answer, member: str = "") -> DialogueState:
        """Returns the state after a question and its answer. member: whose data the answer holds; the state
        stays theirs.
        """
        if answer.agent in OFF_TOPIC_AGENTS:
            return self
        sources = [source for source in answer.fragments if source.document_id]
        topics = self.topics
        if sources:
            documents = tuple(dict.fromkeys(source.document_id for source in sources))
            sections = tuple(dict.fromkeys((source.document_id, source.heading) for source in sources))
            subject = next((source.title for source in sources if not source.curated), "")
            topics = (*topics, Topic(subject, documents, sections))[-MAX_TOPICS:]
        return DialogueState(
            (*self.questions, question[-MAX_QUESTION_CHARS:])[-MAX_QUESTIONS:],
            topics,
            answer.agent,
            answer.outcome.value,
            answer.suggestions,
            member or self.member,
            merge_named_versions(question, self.versions),
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the state as it is kept with a turn."""
        return {
            "questions": self.questions,
            "topics": [[topic.subject, topic.documents, topic.sections] for topic in self.topics],
            "agent": self.agent,
            "outcome": self.outcome,
            "offered": self.offered,
            "member": self.member,
            "versions": self.versions,
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Self:
        """Reads the state of a turn; an empty state where the turn was kept without."""
        if not kept:
            return cls()
        topics = (
            Topic(subject, tuple(documents), tuple((document, heading) for document, heading in sections))
            for subject, documents, sections in kept["topics"]
        )
        return cls(
            tuple(kept["questions"]),
            tuple(topics),
            kept["agent"],
            kept["outcome"],
            tuple(kept["offered"]),
            kept["member"],
            tuple(kept.get("versions", ())),
        )


NOTHING_SAID = DialogueState()


def build_state(turns: Iterable[Turn]) -> DialogueState:
    """Returns the state of a conversation that a client sends, which knows no documents."""
    state = NOTHING_SAID
    for turn in turns:
        asked = turn.utterance.original
        questions = (*state.questions, asked[-MAX_QUESTION_CHARS:])[-MAX_QUESTIONS:]
        state = replace(state, questions=questions, versions=merge_named_versions(asked, state.versions))
    return state
