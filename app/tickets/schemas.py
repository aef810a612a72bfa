"""Bodies of the ticket endpoints."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from agents.ticketing.types import TicketState
from agents.understanding.tickets import Category, Priority
from app.db.base import now
from app.http.fields import CLEANED, WHOLE
from app.tickets.repository import TicketRow
from app.tickets.sla import Clock

Subject = Annotated[str, CLEANED, Field(min_length=1, max_length=100)]
Body = Annotated[str, CLEANED, Field(max_length=5000)]
Words = Annotated[str, CLEANED, Field(min_length=1, max_length=5000)]
Name = Annotated[str, CLEANED, Field(max_length=128)]
Author = Annotated[str, CLEANED, Field(min_length=1, max_length=128)]
Version = Annotated[StrictInt, WHOLE]
STAFF = "staff"


class TicketIn(BaseModel):
    """A new ticket."""

    model_config = ConfigDict(extra="forbid")

    subject: Subject = Field(description="一句话说明")
    description: Body = ""
    category: Category = Category.OTHER
    priority: Priority = Priority.NORMAL
    session_id: Name = Field("", description="所属会话；同一会话里主题相同且未办完的工单只有一个")
    user_id: Name = ""
    author: Author = Field(STAFF, description="谁登记的")


class TicketPatch(BaseModel):
    """What is to be changed; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    subject: Subject | None = None
    description: Body | None = None
    category: Category | None = None
    priority: Priority | None = None
    assignee: Name | None = None
    author: Author = STAFF
    version: Version | None = Field(None, description="读到的版本；给出时，工单已被别人改动则返回 409")


class CommentIn(BaseModel):
    """Staff's words."""

    model_config = ConfigDict(extra="forbid")

    text: Words
    public: StrictBool = Field(False, description="true 时顾客查询工单会看到")
    author: Author = STAFF


class TransitionIn(BaseModel):
    """Where the ticket goes."""

    model_config = ConfigDict(extra="forbid")

    to: TicketState
    note: Body = Field("", description="说明，顾客查询工单会看到")
    author: Author = STAFF
    version: Version | None = None


class SlaOut(BaseModel):
    """The clock of a ticket at this moment."""

    respond_by: datetime
    resolve_by: datetime
    responded_at: datetime | None
    paused: bool = Field(description="等待顾客时停表")
    remaining_s: int = Field(description="距解决时限的秒数，超时为负")
    response_breached: bool
    breached: bool


class TicketOut(BaseModel):
    """A ticket."""

    number: str
    session_id: str
    user_id: str
    verified: bool = Field(description="user_id 是否已证明；客服登记时写的编号为 false")
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str
    version: int
    sla: SlaOut
    resolved_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, ticket: TicketRow) -> Self:
        values = {name: getattr(ticket, name) for name in cls.model_fields if name not in ("sla", "history")}
        return cls(**values, sla=_sla(ticket))


class TicketEventOut(BaseModel):
    """What was done, and the state that the ticket had afterwards."""

    number: int
    kind: Literal["created", "updated", "comment", "transition", "urged", "erased"]
    actor: str
    text: str
    state: TicketState
    public: bool
    created_at: datetime


class TicketDetail(TicketOut):
    """A ticket with its history, the oldest first."""

    history: list[TicketEventOut]


class TicketPage(BaseModel):
    """`total` counts all that match."""

    tickets: list[TicketOut]
    total: int


def _sla(ticket: TicketRow) -> SlaOut:
    clock = Clock(ticket.respond_by, ticket.resolve_by, ticket.responded_at, ticket.waiting_since, ticket.resolved_at)
    moment = now()
    return SlaOut(
        respond_by=clock.respond_by,
        resolve_by=clock.resolve_by,
        responded_at=clock.responded_at,
        paused=clock.paused,
        remaining_s=round(clock.remaining(moment).total_seconds()),
        response_breached=clock.response_breached(moment),
        breached=clock.breached(moment),
    )
