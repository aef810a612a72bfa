"""What the bot knows, for the person who answers in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.markup import clean_answer
from agents.registry import Roster
from agents.routing.types import Intent
from agents.types import NOTHING_FOUND, Answer, AnswerEvent, Evidence, Outcome, Question
from agents.understanding.followups import rewrite_by_rules
from agents.understanding.utterance import RewriteKind, Utterance
from agents.verifier import PERSON_TARGET
from agents.wording.catalogue import LANGUAGES, load_catalogue
from app.attachments.types import FILE_SENT, PICTURE_SENT
from app.conversations.rows import select_readable
from app.conversations.types import TurnRow
from app.errors import Conflict
from knowledge.types import Candidate

# Outcomes of which a person may make a reply.
USABLE = frozenset({Outcome.ANSWERED, Outcome.PARTIALLY_ANSWERED, Outcome.LOW_CONFIDENCE})
_HEDGES = "disclaimer", "part_not_found"
# The agent that reads the business database.
BUSINESS = "business"


@dataclass(frozen=True, slots=True)
class Advice:
    """What an agent would answer, and the fragments that were found for it."""

    question: str
    answer: Answer
    candidates: tuple[Candidate, ...]


def build_last_question(turns: Sequence[TurnRow], caller: str, text: str = "", *, rows_to_model: bool) -> Question:
    """Builds the question that the knowledge base is searched for while a person serves the customer.

    It is the customer's last message, completed from the messages before it; requests for a person are no topic.

    Args:
        turns: The turns of the conversation, oldest first.
        caller: The proved member; empty without one.
        text: Another question, asked by the person who serves; it then stands alone.
        rows_to_model: See `select_readable`.
    """
    asked = [turn for turn in turns if turn.question not in (PICTURE_SENT, FILE_SENT)]
    topics = [turn for turn in asked[:-1] if turn.response["data"]["intent"] != Intent.HUMAN_REQUEST]
    said = select_readable([*topics, *asked[-1:]], caller, to_model=rows_to_model)
    if text:
        return Question(Utterance(text), caller=caller)
    if not said:
        return Question(Utterance(""), caller=caller)
    *before, last = said
    original = last.utterance.original
    utterance = Utterance(original).add_rewrite(rewrite_by_rules(original, before), RewriteKind.RULES)
    return Question(utterance, history=tuple(before), caller=caller)


async def ask_knowledge(roster: Roster, question: Question) -> Advice:
    """Asks the knowledge agent, with the chat's own retrieval and gate. Raises KnowledgeError, AgentError."""
    return await _ask_agents(roster, Intent.KNOWLEDGE_QA, question)


async def ask_business(roster: Roster, question: Question, session_id: str) -> Advice:
    """Asks the business agent about the rows of this session's customer, never of anybody else. Raises Conflict where
    no business database is connected or the customer is not signed in.
    """
    if roster.list_agents([Intent.BUSINESS_QUERY])[0].name != BUSINESS:
        message = "没有接入业务数据库，请先设置 BUSINESS_DATABASE_URL 或 BUSINESS_DATABASES。"
        raise Conflict(message, code="business_not_configured")
    if not question.caller:
        raise Conflict("顾客没有登录，查不到本人的业务数据。", code="caller_unknown", session_id=session_id)
    return await _ask_agents(roster, Intent.BUSINESS_QUERY, replace(question, session=session_id))


def extract_draft(answer: Answer) -> str:
    """Returns the part of an answer that a person may send; empty where there is no answer.

    Lines in which the bot says how sure it is, that it did not find something, or that it can call a person are left
    out.
    """
    if answer.outcome not in USABLE:
        return ""
    hedges = {line for language in LANGUAGES for key in _HEDGES for line in load_catalogue(language)[key]}
    lines = [line for line in answer.reply.split("\n") if line.strip() not in hedges and PERSON_TARGET not in line]
    return "\n".join(lines).strip()


async def _ask_agents(roster: Roster, intent: Intent, question: Question) -> Advice:
    events: list[AnswerEvent] = []
    answer = await roster.run(question, NOTHING_FOUND, [intent], events.append)
    found = [event.retrieval.passing_candidates for event in events if isinstance(event, Evidence)]
    return Advice(question.utterance.complete_text, clean_answer(answer), tuple(found[-1]) if found else ())
