"""The desk in a turn: what goes to a person, when the bot is silent, and when a person is called."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil

from agents.merging import BETWEEN
from agents.types import Answer, HandoffRequest, Outcome, Question
from app.chat.session import Message
from app.db.desk_sessions import DeskSessionRepository
from app.desk.feed import Feed
from app.desk.openings import Openings
from app.desk.queue import Queue
from app.desk.service import Desk
from app.desk.states import silent
from app.desk.triggers import counts, heard, priority, repeated, requested
from app.desk.types import ACTIVE, WAITING, DeskSession, Opening, QueueState, SessionKey
from app.desk.waiting import held_notice, leaves, left_notice, limited_notice, queue_notice
from app.errors import Conflict, NotFound, RateLimited

AGENT = "desk"
"""Who acknowledges what a customer writes to a person."""


@dataclass(frozen=True, slots=True)
class Held:
    """The session is with the desk: what the customer is told. `forward`: the message goes there with its turn."""

    answer: Answer
    queue: QueueState
    forward: bool = True


@dataclass(frozen=True, slots=True)
class Decided:
    """The answer as it is given. `added` is what the reply has besides the agent's; `opening` goes into the turn."""

    answer: Answer
    added: str = ""
    queue: QueueState | None = None
    opening: Opening | None = None


class Gate:
    """Costs nothing but a look-up for sessions that are not with the desk; shared: other processes write the same
    database, so that a session this process knows nothing of is read once a turn. threshold: of emotion, from which
    who waits is served sooner.
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
    ) -> None:
        self._desk = desk
        self._feed = feed
        self._sessions = sessions
        self._queue = queue
        self._openings = openings
        self._shared = shared
        self._threshold = threshold

    def silent(self, message: Message) -> bool:
        """Whether the bot must not say another word; to be asked before each piece of an answer."""
        return self._feed.held(_key(message))

    async def before(self, message: Message, text: str, *, again: bool = False) -> Held | None:
        """What to say instead of an answer while a person has the session, or is waited for; None: the bot answers.

        again: the session changed hands within this turn, a new one too, whose id the stream had told.
        """
        key = _key(message)
        if not (again or self._feed.standing(key) or (self._shared and not message.new_session)):
            return None
        session = await self._sessions.find(key)
        leaving = session is not None and session.state in WAITING and leaves(text)
        if session is None or not (leaving or silent(session.state)):
            self._feed.correct(key, session)
            return None
        english = await self._queue.english(key.tenant, Question(text))
        if leaving:
            with suppress(Conflict):  # somebody accepted meanwhile, and reads this
                queue = await self._queue.state(await self._desk.leave(key))
                return Held(_answer(left_notice(english=english), Outcome.ANSWERED), queue, forward=False)
            return await self.before(message, "", again=True)
        queue = await self._queue.state(await self._raised(session, heard(text, self._threshold)))
        return Held(_answer(held_notice(queue, english=english), Outcome.HANDOFF, escalate=True), queue)

    async def after(self, message: Message, question: Question, answer: Answer) -> Decided:
        """Calls a person where the answer asks for one, or the session shows that the bot does not help."""
        key = _key(message)
        request = requested(answer) or await self._repeated(message, answer)
        if request is None:
            return Decided(answer)
        standing = self._feed.standing(key)
        if standing is not None and standing.state in ACTIVE:  # waits already, outside business hours
            session = await self._sessions.find(key)
            queue = await self._queue.state(await self._raised(session, request) if session else None)
            added = BETWEEN + await self._notice(queue, question, key.tenant) if answer.handoff else ""
            answer = replace(answer, reply=answer.reply + added, handoff=request, escalate_to_human=True)
            return Decided(answer, added, queue)
        started = not message.new_session
        try:
            opening, queue, notice = await self._openings.prepare(
                key, request, question, answer, started=started, sender=message.sender
            )
        except RateLimited as error:
            minutes = ceil(error.details["retry_after"] / 60)
            added = BETWEEN + limited_notice(minutes, english=await self._queue.english(key.tenant, question))
            return Decided(replace(answer, reply=answer.reply + added, handoff=None), added)
        added = BETWEEN + notice
        reply = answer.reply + added
        return Decided(replace(answer, reply=reply, handoff=request, escalate_to_human=True), added, queue, opening)

    async def _raised(self, session: DeskSession, request: HandoffRequest) -> DeskSession:
        """Who waits moves forward when it became more urgent, and never back."""
        urgency = priority(request)
        if session.state in WAITING and urgency > session.priority:
            with suppress(Conflict, NotFound):  # somebody accepted meanwhile, or it was deleted
                return await self._desk.raised(session.key, urgency, request.emotion)
        return session

    async def _notice(self, queue: QueueState, question: Question, tenant: str) -> str:
        english = await self._queue.english(tenant, question)
        return queue_notice(queue, await self._queue.opening(tenant), english=english)

    async def _repeated(self, message: Message, answer: Answer) -> HandoffRequest | None:
        if message.new_session or not counts(answer):
            return None
        before = await self._sessions.last_outcome(_key(message))
        return repeated(answer, *before) if before else None


def _key(message: Message) -> SessionKey:
    return SessionKey(message.tenant, message.session_id)


def _answer(reply: str, outcome: Outcome, *, escalate: bool = False) -> Answer:
    return Answer(reply, outcome, "human_handoff", AGENT, escalate_to_human=escalate)
