"""What staff and customers do at the desk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVarTuple

from agents.types import HandoffReason, HandoffRequest, Question
from agents.understanding.utterance import Utterance
from app.attachments.types import build_display_text
from app.db.engine import Database
from app.desk import moves, steps
from app.desk.feed import Feed
from app.desk.moves import Step
from app.desk.openings import Openings
from app.desk.partners import Partners
from app.desk.repository_sessions import DeskSessionRepository
from app.desk.types import ACTIVE, Actor, DeskMessage, DeskNote, DeskSession, Event
from app.limits.types import NOBODY as UNCOUNTED
from app.limits.types import Requester
from app.turns.types import NOBODY, Claim
from app.types import SessionKey

if TYPE_CHECKING:
    from sqlalchemy import Connection

Given = TypeVarTuple("Given")
_RESOLVED = "本次人工服务已结束，后续由智能客服为您服务；如需人工，请随时告诉我。"
_LEFT = "顾客已退出排队。"
_CLOSED = "会话已结束。"
_REQUEUED = "正在为您转接更合适的客服，请稍候。"


class Desk:
    """Every step is one transaction that holds the session, so of those who come at once one wins; on_commit: called
    after those that other parts of the product are told of.
    """

    def __init__(
        self,
        database: Database,
        feed: Feed,
        openings: Openings,
        partners: Partners,
        on_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._database = database
        self._sessions = DeskSessionRepository(database)
        self._feed = feed
        self._openings = openings
        self._partners = partners
        self._on_commit = on_commit

    async def request_person(
        self,
        key: SessionKey,
        *,
        user_id: str = "",
        channel: str = "",
        skill: str = "",
        claim: Claim = NOBODY,
        sender: Requester = UNCOUNTED,
    ) -> DeskSession:
        """Puts a session into the queue because the customer asks for a person, for example by a button.

        A session that is in the queue already, or with a person, stays as it is.

        Args:
            key: The session.
            user_id: The customer as the caller of the API names them; not proved.
            channel: Where the customer writes.
            skill: What the person must be able to do; empty for anybody.
            claim: By what right the caller acts for this session.
            sender: Whose requests are counted.

        Raises:
            RateLimited: The customer has asked for a person too often.
            Forbidden: The claim does not hold any more.
        """
        session = await self._sessions.find(key)
        if session is not None and session.state in ACTIVE:  # nor is a ticket made
            if claim.is_settled:
                return session
            return await self._run_transaction(moves.get_claimed_session, key, self._partners, claim)
        opening, _, _ = await self._openings.prepare(
            key,
            HandoffRequest(HandoffReason.ASKED),
            Question(Utterance(""), caller=claim.caller),
            None,
            skill=skill,
            sender=sender,
        )
        about = {"user_id": user_id, "channel": channel}
        return await self._run_transaction(moves.request_person, key, opening, about, self._partners, claim)

    async def accept_session(self, key: SessionKey, agent_id: str) -> DeskSession:
        """See `steps.accept_session`."""
        return await self._run_transaction(steps.accept_session, key, agent_id)

    async def transfer_session(
        self, key: SessionKey, *, by: str = "", to: str = "", team: str = "", skill: str = "", note: str = ""
    ) -> DeskSession:
        """Transfers a session to a colleague (`to`), or back into the queue for a team or for anybody with a skill.

        In the queue the session keeps its age. by: the person who has the session, if the caller says so; another one's
        session is not transferred. Raises NotFound, Conflict.
        """
        if to:
            await self._openings.require_working(key.tenant, to)
            return await self._run_transaction(steps.transfer_to_colleague, key, to, by, note)
        if team:
            return await self._run_transaction(steps.return_to_team_queue, key, team, skill, by, note)
        values = {"agent_id": "", "assigned_at": None, "skill": skill, "team": ""}
        return await self.apply_step(Step(key, Event.REQUEUE, Actor.STAFF, by, by, note, _REQUEUED, values))

    async def resolve(self, key: SessionKey, *, by: str = "", note: str = "") -> DeskSession:
        """Resolves a session, which returns it to the bot. by: the person who has it, if the caller says so."""
        return await self._run_transaction(steps.resolve, key, by, note, _RESOLVED, self._partners)

    async def send_message(
        self,
        key: SessionKey,
        content: str,
        *,
        by: str = "",
        client_id: str = "",
        attachments: Sequence[dict[str, Any]] = (),
    ) -> DeskMessage:
        """Sends a message of the person who has the session; sent twice under one `client_id` it is stored once.
        attachments: see `Attachment.build_brief`.
        """
        words = build_display_text(content, attachments)
        message, session = await self._database.transact(
            lambda connection: steps.send_message(connection, key, words, by, client_id, self._partners, attachments)
        )
        self._feed.record_changes([session])
        self._on_commit()
        return message

    async def add_note(self, key: SessionKey, content: str, by: str) -> DeskNote:
        """See `steps.add_note`."""
        written, session = await self._database.transact(
            lambda connection: steps.add_note(connection, key, content, by, self._partners)
        )
        self._feed.record_changes([session])
        return written

    async def set_priority(self, key: SessionKey, priority: int) -> DeskSession:
        """See `steps.set_priority`."""
        return await self._run_transaction(steps.set_priority, key, priority)

    async def snooze_session(self, key: SessionKey, until: datetime | None, by: str = "") -> DeskSession:
        """See `steps.snooze_session`."""
        return await self._run_transaction(steps.snooze_session, key, until, by)

    async def raise_priority(self, key: SessionKey, priority: int, emotion: float) -> DeskSession:
        """See `moves.raise_priority`."""
        return await self._run_transaction(moves.raise_priority, key, priority, emotion)

    async def open_ticket(self, session: DeskSession, notice: str) -> DeskSession:
        """Opens a ticket for a customer who waits. See `moves.open_ticket`."""
        opener = self._openings.build_opener(session)
        return await self._run_transaction(moves.open_ticket, session.key, opener, notice)

    async def leave_queue(self, key: SessionKey) -> DeskSession:
        """Takes the customer out of the queue and back to the bot."""
        return await self.apply_step(Step(key, Event.LEAVE, Actor.CUSTOMER, notice=_LEFT))

    async def close(self, key: SessionKey, actor: Actor, *, by: str = "", note: str = "") -> DeskSession:
        """Closes a session; should the customer write again, the bot answers."""
        return await self.apply_step(Step(key, Event.CLOSE, actor, by, note=note, notice=_CLOSED))

    async def apply_step(self, step: Step) -> DeskSession:
        """Applies one step of a session in a transaction. Raises NotFound, Conflict."""
        return await self._run_transaction(moves.apply_step, step)

    async def _run_transaction(self, work: Callable[[Connection, *Given], DeskSession], *given: *Given) -> DeskSession:
        """Runs a step in a transaction, and tells everybody of the session after it. given: what `work` gets besides
        the connection.
        """
        session = await self._database.transact(lambda connection: work(connection, *given))
        self._feed.record_changes([session])
        self._on_commit()
        return session
