"""Bodies of the ticket endpoints."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StrictBool, StrictInt, model_validator

from agents.ticketing.types import TicketState
from agents.understanding.tickets import Category, Priority
from app.db.base import now
from app.http.fields import CLEANED, WHOLE
from app.http.schemas import RequestBody, ResponseBody
from app.tickets.repository import TicketOrigin, TicketRow

Subject = Annotated[str, CLEANED, Field(min_length=1, max_length=100)]
Body = Annotated[str, CLEANED, Field(max_length=5000)]
Words = Annotated[str, CLEANED, Field(min_length=1, max_length=5000)]
Name = Annotated[str, CLEANED, Field(max_length=128)]
Version = Annotated[StrictInt, WHOLE]
MaybeAuthor = Annotated[str, CLEANED, Field(max_length=128)]
TeamId = Annotated[str, CLEANED, Field(max_length=32)]
Number = Annotated[str, CLEANED, Field(min_length=1, max_length=32, description="工单编号，如 TK260301482913")]
STAFF = "staff"
MAX_AT_ONCE = 100
_AUTHOR = "谁做的；登录账号时就是本人，用密钥时留空为密钥的名称"
_ASSIGNEE = "负责人的账号，见 GET /api/v1/tickets/assignees；空文字为没有"
_TEAM = "客服组编号；空文字为没有"


class TicketIn(RequestBody):
    """A new ticket."""

    subject: Subject = Field(description="一句话说明")
    description: Body = ""
    category: Category = Category.OTHER
    priority: Priority = Priority.NORMAL
    session_id: Name = Field("", description="所属会话；同一会话里主题相同且未办完的工单只有一个")
    user_id: Name = ""
    author: MaybeAuthor = Field("", description=_AUTHOR)


class TicketPatch(RequestBody):
    """What is to be changed; what is left out stays."""

    subject: Subject | None = None
    description: Body | None = None
    category: Category | None = None
    priority: Priority | None = None
    assignee: Name | None = Field(None, description=_ASSIGNEE)
    team: TeamId | None = Field(None, description=_TEAM)
    author: MaybeAuthor = Field("", description=_AUTHOR)
    version: Version | None = Field(None, description="读到的版本；给出时，工单已被别人改动则返回 409")


class CommentIn(RequestBody):
    """Staff's words."""

    text: Words
    public: StrictBool = Field(False, description="true 时顾客查询工单会看到")
    author: MaybeAuthor = Field("", description=_AUTHOR)


class TransitionIn(RequestBody):
    """Where the ticket goes."""

    to: TicketState
    note: Body = Field("", description="说明，顾客查询工单会看到")
    author: MaybeAuthor = Field("", description=_AUTHOR)
    version: Version | None = None


class TicketBulkIn(RequestBody):
    """What is to be done to several tickets: fields to be set, or another state."""

    numbers: list[Number] = Field(min_length=1, max_length=MAX_AT_ONCE, description="工单编号，重复的只算一次")
    priority: Priority | None = None
    category: Category | None = None
    assignee: Name | None = Field(None, description=_ASSIGNEE)
    team: TeamId | None = Field(None, description=_TEAM)
    to: TicketState | None = Field(None, description="改成的状态；不能与其他改动同时给出")
    note: Body = Field("", description="改变状态时的说明，顾客查询工单会看到")
    author: MaybeAuthor = Field("", description=_AUTHOR)

    @property
    def fields(self) -> dict[str, Any]:
        """What is set."""
        return self.model_dump(exclude_none=True, include={"priority", "category", "assignee", "team"})

    @model_validator(mode="after")
    def _require_one_change(self) -> Self:
        if bool(self.fields) == (self.to is not None):
            raise ValueError("to 与其他改动须给出其一，且只给其一")
        return self


class SlaOut(ResponseBody):
    """The clock of a ticket at this moment."""

    respond_by: datetime
    resolve_by: datetime
    responded_at: datetime | None
    paused: bool = Field(description="等待顾客时停表")
    remaining_s: int = Field(description="距解决时限的秒数，超时为负")
    response_breached: bool
    breached: bool


class TicketOut(ResponseBody):
    """A ticket."""

    number: str
    origin: TicketOrigin = Field(description="从哪来：conversation 顾客在对话里登记，desk 没有客服在线，staff 客服登记")
    session_id: str
    user_id: str
    verified: bool = Field(description="user_id 是否已证明；客服登记时写的编号为 false")
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str = Field(description="负责人的账号；没有为空")
    team: str = Field(description="客服组编号；没有为空")
    version: int
    sla: SlaOut
    resolved_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def from_row(cls, ticket: TicketRow) -> Self:
        moment = now()
        sla = SlaOut.build_from(
            ticket,
            paused=ticket.is_paused,
            remaining_s=round(ticket.compute_remaining(moment).total_seconds()),
            response_breached=ticket.is_response_breached(moment),
            breached=ticket.is_breached(moment),
        )
        return cls.build_from(ticket, sla=sla)


class TicketEventOut(ResponseBody):
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


class TicketOutcome(BaseModel):
    """What became of one of several tickets: the ticket as it is now, or why it stays as it was."""

    number: str
    ticket: TicketOut | None
    code: str = Field(description="没有改成的原因，如 ticket_not_found、invalid_transition；改成了为空")
    message: str = Field(description="同上，给人看的")


class TicketOutcomes(BaseModel):
    """One for each number, in their order."""

    outcomes: list[TicketOutcome]
    changed: int = Field(description="改成了几张")


class AssigneeOut(ResponseBody):
    """A colleague or a team."""

    id: str
    name: str


class AssigneeList(BaseModel):
    """Whom a ticket may be given to."""

    people: list[AssigneeOut]
    teams: list[AssigneeOut]
