"""Takes the state of a conversation from turn to turn.

The state after a turn is a pure function of the state before it, the question and the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agents.types import Answer
from agents.understanding.named_versions import merge_named_versions
from agents.understanding.state import NOTHING_SAID, DialogueState, Topic, Turn

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


def add_turn(state: DialogueState, question: str, answer: Answer, member: str = "") -> DialogueState:
    """Returns the state after a question and its answer. member: whose data the answer holds; the state stays
    theirs.
    """
    if answer.agent in OFF_TOPIC_AGENTS:
        return state
    sources = [source for source in answer.fragments if source.document_id]
    topics = state.topics
    if sources:
        documents = tuple(dict.fromkeys(source.document_id for source in sources))
        sections = tuple(dict.fromkeys((source.document_id, source.heading) for source in sources))
        subject = next((source.title for source in sources if not source.curated), "")
        topics = (*topics, Topic(subject, documents, sections))[-MAX_TOPICS:]
    return DialogueState(
        (*state.questions, question[-MAX_QUESTION_CHARS:])[-MAX_QUESTIONS:],
        topics,
        answer.agent,
        answer.outcome.value,
        answer.suggestions,
        member or state.member,
        merge_named_versions(question, state.versions),
    )


def build_state(turns: Iterable[Turn]) -> DialogueState:
    """Returns the state of a conversation that a client sends, which knows no documents."""
    state = NOTHING_SAID
    for turn in turns:
        question = turn.utterance.original
        questions = (*state.questions, question[-MAX_QUESTION_CHARS:])[-MAX_QUESTIONS:]
        state = replace(state, questions=questions, versions=merge_named_versions(question, state.versions))
    return state
