"""Bodies of the human desk."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StrictBool, StrictInt, model_validator

from agents.types import Outcome
from app.attachments.schemas import AttachmentIds, AttachmentOut
from app.contacts.schemas import CustomerOut
from app.conversations.schemas import RowSourceOut, SourceOut
from app.desk.types import Actor, Duty, Event, Sender, State
from app.http.fields import CLEANED, WHOLE, Moment
from app.http.schemas import RequestBody, ResponseBody
from app.profiles.hours import SPAN

AgentId = Annotated[str, CLEANED, Field(min_length=1, max_length=64)]
MaybeAgentId = Annotated[str, CLEANED, Field(max_length=64)]
Label = Annotated[str, CLEANED, Field(min_length=1, max_length=64)]
Note = Annotated[str, CLEANED, Field(max_length=2000)]
Content = Annotated[str, CLEANED, Field(min_length=1, max_length=4000)]
Span = Annotated[str, Field(pattern=f"^{SPAN}$", max_length=64)]
_ACCOUNT = "用密钥时必填，登录账号时就是本人"


class HandoffOut(ResponseBody):
    """Where the session stands at the human desk."""

    state: State
    position: int = Field(description="排在第几位，从 1 起；不在队列中为 0")
    estimated_wait_s: int | None = Field(description="预计等待秒数；没有客服在线时为 null")
    agent: str = Field(description="接待的客服")
    ticket: str = Field(description="没有客服在线时登记的工单编号")


class AcceptIn(BaseModel):
    """Who takes the session."""

    agent_id: MaybeAgentId = Field("", description=f"接入的客服；{_ACCOUNT}")


class MessageIn(BaseModel):
    """A message to the customer."""

    content: Annotated[str, CLEANED, Field(max_length=4000, description="说的话；带图片或文件时可以为空")] = ""
    attachments: AttachmentIds = []
    agent_id: MaybeAgentId = Field("", description="谁发的；填了就须是接待这个会话的客服")
    id: MaybeAgentId = Field("", description="发送方自己的消息编号；重发时带同一个编号，只会保留一条")

    @model_validator(mode="after")
    def _check_content(self) -> Self:
        if not self.content and not self.attachments:
            raise ValueError("content 与 attachments 不能都为空")
        return self


class TransferIn(BaseModel):
    """To a colleague, or back into the queue."""

    agent_id: MaybeAgentId = Field("", description="转给哪位客服；留空则退回队列")
    team: MaybeAgentId = Field("", description="转给哪个客服组：退回队列，只有组里的人能接")
    skill: MaybeAgentId = Field("", description="退回队列时所需的技能")
    note: Note = Field("", description="给同事的说明，顾客看不到")
    by: MaybeAgentId = Field("", description="谁转的；填了就须是接待这个会话的客服")


class ResolveIn(BaseModel):
    """The end of a person's part."""

    note: Note = Field("", description="处理结果，顾客看不到")
    agent_id: MaybeAgentId = Field("", description="谁结束的；填了就须是接待这个会话的客服")


class SolutionIn(BaseModel):
    """What the knowledge base should learn; what is left out is taken from the session."""

    question: Note = Field("", description="问题；留空取转人工时的问题")
    answer: Note = Field("", description="答案；留空取客服的回复")
    agent_id: MaybeAgentId = Field("", description="审核人；留空为接待的客服")


class DutyFields(BaseModel):
    """What somebody serves at the desk."""

    skills: list[Label] = Field(default=[], max_length=50, description="技能；留空表示什么都能接")
    teams: list[Label] = Field(default=[], max_length=50, description="客服组的编号")
    hours: list[Span] = Field(default=[], max_length=50, description="班次，如 1-5 09:00-18:00；留空为任何时候")
    capacity: Annotated[StrictInt, Field(ge=0, le=1000), WHOLE] = Field(5, description="同时接待几个会话；0 为不限")

    def build_duty(self, name: str) -> Duty:
        """Builds the duty of somebody whom customers and colleagues know by that name."""
        return Duty(name, tuple(self.skills), tuple(self.teams), tuple(self.hours), self.capacity)


class StaffIn(DutyFields):
    """A member of staff."""

    name: Label


class PresenceIn(BaseModel):
    """Whether somebody is there."""

    online: StrictBool
    name: MaybeAgentId = Field("", description="显示给顾客和同事的名字；留空不改")


class StaffOut(ResponseBody):
    """A member of staff, and how much this person has to do."""

    agent_id: str
    name: str
    skills: list[str]
    teams: list[str]
    hours: list[str]
    capacity: int
    assigned: int = Field(description="正在接待的会话数")
    last_seen: datetime | None


class TeamIn(RequestBody):
    """People who serve the same customers."""

    name: Label


class TeamOut(ResponseBody):
    """A team, and who is in it."""

    id: str
    name: str
    members: list[str] = Field(description="组员，agent_id")


class TeamList(BaseModel):
    """All teams of the tenant, by name."""

    teams: list[TeamOut]


class StaffList(BaseModel):
    """Everybody."""

    staff: list[StaffOut]


class LastMessageOut(ResponseBody):
    """The beginning of what was said last."""

    seq: int
    sender: Sender
    content: str
    created_at: datetime


class ViewerOut(ResponseBody):
    """Somebody who has the session open."""

    agent_id: str
    name: str


class ReadIn(RequestBody):
    """How far somebody has read."""

    agent_id: AgentId
    seq: Annotated[StrictInt, Field(ge=0, le=2**31 - 1), WHOLE] = Field(description="读到的最后一条消息的序号")
    viewing: StrictBool = Field(False, description="正开着这个会话；同事会看到，45 秒内有效")


class ReadOut(BaseModel):
    """What is left to read, and who else has the session open."""

    unread: int
    viewers: list[ViewerOut]


class SessionPatch(RequestBody):
    """What staff change of a session that is with the desk; what is left out stays."""

    priority: Annotated[StrictInt, Field(ge=0, le=2), WHOLE] | None = Field(
        None, description="0 一般，1 优先，2 紧急；排队按它先后"
    )
    snoozed_until: Moment | None = Field(
        None, description="稍后处理到这时，要带时区，最长 30 天；写 null 取消。顾客一说话就自动取消"
    )
    agent_id: MaybeAgentId = Field("", description="谁改的；稍后处理时填了就须是接待这个会话的客服")


class SessionOut(ResponseBody):
    """A session at the desk."""

    session_id: str
    state: State
    version: int
    messages: int = Field(description="最后一条消息的序号")
    agent_id: str
    user_id: str
    verified: bool = Field(description="user_id 是否已证明：由 user_token，或由 server、admin 密钥写明")
    channel: str
    reason: str
    priority: int
    emotion: float
    skill: str
    team: str = Field(description="转给了哪个客服组；空为谁都可以接")
    ticket: str
    card: dict[str, Any] = Field(description="转接卡片，已去除个人信息")
    queued_at: datetime | None
    assigned_at: datetime | None
    resolved_at: datetime | None
    customer_seen: int = Field(0, description="顾客已读到的最后一条消息的序号")
    staff_seen: int = Field(0, description="客服已读到的最后一条消息的序号")
    snoozed_until: datetime | None = Field(description="接待的客服留到这时再处理")
    customer: CustomerOut | None = Field(None, description="顾客是谁")
    labels: list[str] = Field([], description="会话的标签")
    unread: int = Field(0, description="问的那位客服还没读的顾客消息数")
    last_message: LastMessageOut | None = Field(None, description="最后一句话的开头，最多 200 字")


class SessionList(BaseModel):
    """Those to be served first stand first."""

    sessions: list[SessionOut]


class DeskMessageOut(ResponseBody):
    """A message; `seq` counts from 1 without gaps."""

    seq: int
    sender: Sender
    agent_id: str
    content: str
    created_at: datetime
    attachments: list[AttachmentOut] = Field([])


class MessageList(BaseModel):
    """Messages in order; `last` continues them as `after`."""

    messages: list[DeskMessageOut]
    last: int


class NoteIn(BaseModel):
    """A note for colleagues."""

    content: Annotated[str, CLEANED, Field(min_length=1, max_length=2000, description="备注，顾客看不到")]
    agent_id: MaybeAgentId = Field("", description=f"谁写的；{_ACCOUNT}")


class NoteOut(ResponseBody):
    """What a member of staff wrote down about a session."""

    id: str
    agent_id: str
    content: str
    created_at: datetime


class HistoryOut(ResponseBody):
    """One transition; `note` is for staff."""

    version: int
    event: Event
    source: State
    target: State
    actor: Actor
    agent_id: str
    note: str
    created_at: datetime


class DeskExchangeOut(ResponseBody):
    """What was said with the bot."""

    question: str
    reply: str
    outcome: Outcome
    created_at: datetime


class SessionDetail(SessionOut):
    """All that a person needs to take over."""

    conversation: list[DeskExchangeOut] = Field(description="最近的对话，先后有序")
    history: list[HistoryOut] = Field(description="状态变化")
    notes: list[NoteOut] = Field(description="客服的备注，顾客看不到")
    recent_messages: list[DeskMessageOut] = Field(description="与客服之间的消息，从第一条起")
    viewers: list[ViewerOut] = Field(description="此刻开着这个会话的其他客服")


class CandidateBrief(BaseModel):
    """A fragment that passed the gate."""

    document_id: str
    title: str
    heading: str
    text: str
    probability: float


class AdviceOut(BaseModel):
    """What the bot would say, to be taken over, changed or dropped."""

    question: str
    outcome: Outcome
    draft: str
    confidence: float
    sources: list[SourceOut | RowSourceOut]
    candidates: list[CandidateBrief]
    degraded: list[str]


class SolutionOut(ResponseBody):
    """A reviewed question and answer; `gap` is the knowledge gap of the question."""

    id: str
    session_id: str
    gap: str
    question: str
    answer: str
    agent_id: str
    state: Literal["reviewed"]
    created_at: datetime
    updated_at: datetime


class SolutionKept(SolutionOut):
    """A solution that was just written."""

    gap_id: str = Field(description="成了哪个知识缺口的草稿，等审核；没有问题时为空")


class SolutionList(BaseModel):
    """The latest first."""

    solutions: list[SolutionOut]
    total: int
