"""The desk in a turn: what goes to a person, when the bot is silent, and when a person is called."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from agents.joint_answer import BETWEEN
from agents.types import Answer, HandoffRequest, Outcome, Question
from agents.understanding.utterance import Utterance
from agents.wording.catalogue import say
from app.desk.feed import Feed
from app.desk.openings import Openings
from app.desk.queue import Queue
from app.desk.queue_notices import (
    build_again_notice,
    build_held_notice,
    build_offer_notice,
    build_queue_notice,
    is_leaving,
)
from app.desk.repository_sessions import DeskSessionRepository
from app.desk.service import Desk
from app.desk.states import is_silent
from app.desk.triggers import get_priority, get_request, has_failed_twice, is_helpless, read_urgency
from app.desk.types import ACTIVE, WAITING, DeskSession, QueueState, State
from app.errors import Conflict, NotFound, RateLimited
from app.turns.types import Opening
from app.types import SessionKey

if TYPE_CHECKING:
    from app.turns.types import Message


# Who acknowledges what a customer writes to a person.
AGENT = "desk"


@dataclass(frozen=True, slots=True)
class DeskReply:
    """The session is with the desk: what the customer is told."""

    answer: Answer
    queue: QueueState
    # The message goes there with its turn.
    forward: bool = True


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The answer as it is given. `added` is what the reply has besides the agent's; `opening` goes into the turn."""

    answer: Answer
    added: str = ""
    queue: QueueState | None = None
    opening: Opening | None = None


class DeskGate:
    """Costs nothing but a look-up for sessions that are not with the desk; shared: other processes write the same
    database, so that a session this process knows nothing of is read once a turn. threshold: of emotion, from which
    who waits is served sooner; answering: see `states.is_silent`.
    """

    def __init__(
        self,
        desk: Desk,
        feed: Feed,
        sessions: DeskSessionRepository,
        queue: Queue,
        openings: Openings,
        *,
        shared: bool,
        threshold: float,
        answering: bool,
    ) -> None:
        self._desk = desk
        self._feed = feed
        self._sessions = sessions
        self._queue = queue
        self._openings = openings
        self._shared = shared
        self._threshold = threshold
        self._answering = answering

    def is_silent(self, message: Message) -> bool:
        """Whether the bot must not say another word; asked before each piece of an answer."""
        return self._feed.is_held(_get_key(message))

    def is_at_desk(self, message: Message) -> bool:
        """Whether the session is with the desk: a person has it, or the customer waits for one."""
        return self._feed.get_standing(_get_key(message)) is not None

    async def decide_before_answer(
        self, message: Message, utterance: Utterance, *, again: bool = False
    ) -> DeskReply | None:
        """Returns what is replied in place of an answer while the bot is silent, or to a customer who leaves the queue.

        None where the bot answers. again: the session changed hands within this turn, so it is read whatever is known
        of it; a new session too, whose id the stream has told by then.
        """
        key = _get_key(message)
        if not (again or self._feed.get_standing(key) or (self._shared and not message.new_session)):
            return None
        session = await self._sessions.find(key)
        leaving = session is not None and session.state in WAITING and is_leaving(utterance.original)
        if session is None or not (leaving or is_silent(session.state, answering=self._answering)):
            self._feed.correct_standing(key, session)
            return None
        english = await self._queue.is_english(key.tenant, Question(utterance))
        if leaving:
            with suppress(Conflict):  # somebody accepted meanwhile, and reads this
                queue = await self._queue.get_state(await self._desk.leave_queue(key))
                return DeskReply(_build_answer(say("queue_left", english), Outcome.ANSWERED), queue, forward=False)
            return await self.decide_before_answer(message, Utterance(""), again=True)
        queue = await self._queue.get_state(await self._raise_priority(session, self._read_urgency(utterance)))
        return DeskReply(
            _build_answer(build_held_notice(queue, english=english), Outcome.HANDOFF, escalate=True), queue
        )

    async def decide_after_answer(self, message: Message, question: Question, answer: Answer) -> GateDecision:
        """Calls a person if an answer asks for one, and offers one if the bot failed twice in a row.

        A customer who is in the queue already keeps the answer, and is told their place.
        """
        session, request = await self._find_active_session(message), get_request(answer)
        if session is not None:
            return await self._answer_waiting_customer(session, question, answer, request)
        if request is None:
            return await self._offer_person(message, question, answer)
        started = not message.new_session
        try:
            opening, queue, notice = await self._openings.prepare(
                _get_key(message), request, question, answer, started=started, sender=message.sender
            )
        except RateLimited as error:
            minutes = ceil(error.details["retry_after"] / 60)
            english = await self._queue.is_english(message.tenant, question)
            added = BETWEEN + say("queue_limited", english, minutes=minutes)
            return GateDecision(replace(answer, reply=answer.reply + added, handoff=None), added)
        added = BETWEEN + notice
        reply = answer.reply + added
        return GateDecision(
            replace(answer, reply=reply, handoff=request, escalate_to_human=True), added, queue, opening
        )

    async def get_waiting_state(self, message: Message, utterance: Utterance) -> QueueState | None:
        """Returns the place in the queue of a customer whose message no agent reads; None for one who does not wait.

        A message that shows more urgency than the ones before moves the customer forward first.
        """
        session = await self._find_active_session(message)
        return (
            None
            if session is None
            else await self._queue.get_state(await self._raise_priority(session, self._read_urgency(utterance)))
        )

    async def _find_active_session(self, message: Message) -> DeskSession | None:
        """Finds the session while it is with the desk. A person may have it by now; then the turn is not stored."""
        if not self.is_at_desk(message):
            return None
        session = await self._sessions.find(_get_key(message))
        self._feed.correct_standing(_get_key(message), session)
        return session if session is not None and session.state in ACTIVE else None

    async def _answer_waiting_customer(
        self, session: DeskSession, question: Question, answer: Answer, request: HandoffRequest | None
    ) -> GateDecision:
        """Answers a customer who waits: with the answer and the place in the queue. Asking again does not
        queue again.
        """
        asked = [*([request] if request else []), self._read_urgency(question.utterance)]
        session = await self._raise_priority(session, max(asked, key=get_priority))
        queue = await self._queue.get_state(session)
        if request is None:
            return GateDecision(answer, queue=queue)
        added = BETWEEN + await self._build_notice(queue, question, session.tenant) if answer.handoff else ""
        answer = replace(answer, reply=answer.reply + added, handoff=request, escalate_to_human=True)
        return GateDecision(answer, added, queue)

    async def _offer_person(self, message: Message, question: Question, answer: Answer) -> GateDecision:
        if message.new_session or not is_helpless(answer):
            return GateDecision(answer)
        before = await self._sessions.find_last_outcome(_get_key(message))
        if before is None or not has_failed_twice(answer, *before):
            return GateDecision(answer)
        english = await self._queue.is_english(message.tenant, question)
        added = BETWEEN + build_offer_notice(english=english)
        suggestions = tuple(dict.fromkeys((*answer.suggestions, say("need_person", english))))
        reply = answer.reply + added
        return GateDecision(replace(answer, reply=reply, suggestions=suggestions, escalate_to_human=True), added)

    def _read_urgency(self, utterance: Utterance) -> HandoffRequest:
        return read_urgency(utterance.reading, self._threshold)

    async def _raise_priority(self, session: DeskSession, request: HandoffRequest) -> DeskSession:
        """Moves a waiting session forward when it became more urgent, and never back."""
        urgency = get_priority(request)
        if session.state in WAITING and urgency > session.priority:
            with suppress(Conflict, NotFound):  # somebody accepted meanwhile, or it was deleted
                return await self._desk.raise_priority(session.key, urgency, request.emotion)
        return session

    async def _build_notice(self, queue: QueueState, question: Question, tenant: str) -> str:
        english = await self._queue.is_english(tenant, question)
        if queue.state is State.QUEUED:
            return build_again_notice(queue, english=english)
        return build_queue_notice(queue, await self._queue.find_next_opening(tenant), english=english)


def _get_key(message: Message) -> SessionKey:
    return SessionKey(message.tenant, message.session_id)


def _build_answer(reply: str, outcome: Outcome, *, escalate: bool = False) -> Answer:
    return Answer(reply, outcome, "human_handoff", AGENT, escalate_to_human=escalate)
