"""Bodies of the history of conversations and customers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt

from agents.types import Outcome
from app.contacts.schemas import CustomerOut, VisitOut
from app.desk.schemas import AgentId, Label, MaybeAgentId
from app.desk.types import State
from app.history.types import Standing
from app.http.fields import CLEANED, WHOLE, Moment
from app.http.schemas import RequestBody, ResponseBody
from app.transcripts.types import Rating


class FoundOut(ResponseBody):
    """A conversation that was found."""

    session_id: str
    channel: str
    state: State = Field(description="现在由谁接待；没有转过人工的为 bot")
    priority: int
    agent: str = Field(description="最后接待的客服；没有为空")
    turns: int
    first_question: str = Field(description="首条消息，便于辨认")
    last_outcome: str = Field(description="智能客服最后一轮的结论；没有一轮时为空")
    ticket: str = Field(description="最近一张工单的编号；没有为空")
    created_at: datetime
    updated_at: datetime
    snippet: str = Field(description="找到的那句话，前后各一点；不是按话找到的为空")
    customer: CustomerOut | None = None
    labels: list[str] = Field([])


class HistoryPage(BaseModel):
    """The latest first."""

    conversations: list[FoundOut]
    total: int = Field(description="共有几个；超过 1000 个时为 1000")


class ViewFilter(RequestBody):
    """Which conversations a view shows; the same as the search takes, the customer left out. days: as far back."""

    q: Annotated[str, CLEANED, Field(max_length=200)] = ""
    label: Annotated[str, CLEANED, Field(max_length=32)] = ""
    agent_id: MaybeAgentId = ""
    standing: Standing | None = None
    outcome: Outcome | None = None
    priority: Annotated[StrictInt, Field(ge=0, le=2), WHOLE] | None = None
    since: Moment | None = None
    until: Moment | None = None
    days: Annotated[StrictInt, Field(ge=1, le=3650), WHOLE] | None = Field(None, description="最近几天的")


class ViewIn(RequestBody):
    """A search to be kept."""

    name: Label
    filter: ViewFilter
    agent_id: AgentId = Field(description="谁存的")
    shared: StrictBool = Field(False, description="所有客服都能看到")


class ViewOut(BaseModel):
    """A search that was kept."""

    id: str
    name: str
    filter: ViewFilter
    shared: bool
    created_at: datetime


class ViewList(BaseModel):
    """By their names."""

    views: list[ViewOut]


class ContactTicketOut(ResponseBody):
    """A ticket of a customer."""

    number: str
    subject: str
    state: str
    priority: str
    updated_at: datetime


class ContactNoteOut(ResponseBody):
    """What a colleague wrote down."""

    session_id: str
    name: str
    content: str
    created_at: datetime


class ContactVoteOut(ResponseBody):
    """A vote on a reply."""

    session_id: str
    question: str
    rating: Rating
    reason: str
    created_at: datetime


class ContactOut(BaseModel):
    """A customer with all that there is: each list the latest first, at most 50, pages at most 20."""

    customer: CustomerOut
    language: Literal["zh", "en"] | None = Field(description="最近用哪种语言说话；看不出来为 null")
    channel: str = Field(description="这个会话的来源渠道")
    first_seen: datetime
    last_seen: datetime
    visits: list[VisitOut] = Field(description="看过的网页，最近的在前")
    conversations: list[FoundOut]
    total: int = Field(description="共有几个会话")
    tickets: list[ContactTicketOut]
    notes: list[ContactNoteOut] = Field(description="客服的备注，顾客看不到")
    votes: list[ContactVoteOut] = Field(description="顾客的赞与踩")
