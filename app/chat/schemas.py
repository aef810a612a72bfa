"""Bodies of the chat resource."""

from __future__ import annotations

from pydantic import BaseModel, Field

from agents.types import Outcome
from app.attachments.schemas import AttachmentIds
from app.chat.page_schemas import PageIn
from app.conversations.schemas import ButtonOut, DecisionOut, RelatedOut, RowSourceOut, SourceOut, VerificationOut
from app.desk.schemas import HandoffOut
from app.http.fields import MAX_TOKEN_CHARS, SessionId
from app.search.filter_requests import FilterIn

FILTER = "只根据这些文档回答；密钥限定了文档时，只能在其中再收窄。没有对应的文档时返回 404"
# Beyond this a message is not even looked at; the limit on what is answered is MAX_MESSAGE_CHARS.
MAX_BODY_CHARS = 100_000


class ChatRequest(BaseModel):
    """One message of a customer."""

    message: str = Field(max_length=MAX_BODY_CHARS, description="用户消息；带图片或文件时可以为空")
    attachments: AttachmentIds = []
    session_id: SessionId | None = Field(None, description="会话编号；留空则新建会话并在响应中返回")
    user_id: str = Field("", max_length=128, description="业务侧的用户编号；只有 server、admin 密钥带来的才作为身份")
    user_token: str = Field("", max_length=4096, description="用户身份：商家服务器签发的 JWT；也可放在 X-User-Token")
    session_token: str = Field(
        "", max_length=MAX_TOKEN_CHARS, description="会话凭据，首次响应中返回；也可放在 X-Session-Token"
    )
    channel: str = Field("", max_length=32, description="来源渠道")
    client_id: str = Field(
        "",
        pattern=r"^[\x21-\x7e]{0,255}$",
        description="发送方自己的消息编号，与请求头 Idempotency-Key 相同：重发时带同一个，返回首次的结果",
    )
    page: PageIn | None = Field(None, description="用户正在看的网页；作为来源 [0] 参与回答")
    filter: FilterIn | None = Field(None, description=FILTER)


class ProposalOut(BaseModel):
    """What is done once the customer confirms it."""

    action: str
    fields: dict[str, str]
    expires: float = Field(description="失效时刻，Unix 秒")


class ChatData(BaseModel):
    """What stands beside the reply."""

    intent: str
    agent: str
    confidence: float = Field(ge=0, le=1, description="所用片段中最高的校准概率；没有用到片段时为 0")
    sources: list[SourceOut | RowSourceOut]
    suggestions: list[str]
    escalate_to_human: bool
    degraded: list[str]
    cached: bool
    timings_ms: dict[str, float]
    trace_id: str
    related: list[RelatedOut] = Field(
        default_factory=list, description="资料没有直接写到时最接近的几处，最多三处；reply 不转述其中内容，没有时不出现"
    )
    buttons: list[ButtonOut] = Field(default_factory=list, description="回答下面的按钮；没有时不出现")
    verification: VerificationOut | None = Field(None, description="大模型所写回答的核对结果；其他回答不出现")
    proposal: ProposalOut | None = Field(None, description="等用户确认后办理的事；没有时不出现")
    stopped: bool = Field(False, description="true：顾客让它停下，reply 是停下之前说的；没有停下时不出现")
    handoff: HandoffOut | None = Field(None, description="会话在人工服务中的状态；由智能客服接待时不出现")
    decision: DecisionOut | None = Field(None, description="为什么由这些智能体回答；client 密钥的响应里不出现")


class ChatResponse(BaseModel):
    """One answer."""

    session_id: str
    message_id: str
    reply: str
    outcome: Outcome
    data: ChatData
    session_token: str | None = Field(
        None, description="会话凭据，只在签发它的那次响应里出现；client 密钥之后凭它使用这个会话"
    )
