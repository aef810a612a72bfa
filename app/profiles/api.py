"""The tenant's profile: what makes the assistant the company's own."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, model_validator

from agents.profile import ReplyLanguage, TenantProfile
from agents.routing.types import Intent
from agents.wording.catalogue import say
from app.documents.samples import sample_questions
from app.errors import Conflict
from app.http.deps import AdminTenant, StaffTenant, TenantId, Wired
from app.http.failures import list_failures
from app.http.fields import CLEANED
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.profiles.hours import SPAN, parse_business_hours, parse_zone
from app.profiles.repository import build_profile

if TYPE_CHECKING:
    from app.documents.repository import DocumentRepository
    from app.profiles.repository import ProfileRepository


class Parts(Protocol):
    """What these routes are served by."""

    documents: DocumentRepository
    profiles: ProfileRepository


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/profile", tags=["profile"], route_class=GuardedRoute)

MAX_EXAMPLES = 500


Line = Annotated[str, CLEANED, Field(min_length=1, max_length=100)]
Paragraph = Annotated[str, CLEANED, Field(max_length=500)]
Hours = Annotated[str, Field(max_length=100, json_schema_extra={"pattern": f"^{SPAN}$"})]
Script = Annotated[str, CLEANED, Field(min_length=1, max_length=500)]
Text = Annotated[str, CLEANED, Field(max_length=4000)]


class ProfileIn(RequestBody):
    """The whole profile; what is left out goes back to its default."""

    name: Line = Field("智能客服", description="助手的名字")
    persona: Paragraph = Field("", description="身份，例如：云笙商城的售后顾问")
    tone: Paragraph = Field("亲切、专业、简洁", description="语气")
    reply_language: ReplyLanguage = Field("auto", description="回复语言；auto 为顾客所用的语言")
    avoid_topics: list[Line] = Field(default=[], max_length=50, description="不谈的话题")
    fallback_script: Script | None = Field(None, description="知识库没有依据时的话术；留空则用 FALLBACK_SCRIPT")
    welcome_message: Paragraph = Field("", description="开场白")
    suggested_questions: list[Line] = Field(default=[], max_length=10, description="开场时推荐的问题")
    system_prompt: Text = Field("", description="补充给大模型的说明；排在安全规则之后，不能取代它们")

    business_hours: list[Hours] = Field(
        default=[], max_length=20, description="人工服务时间，例如 1-5 09:00-18:00，1 是周一；留空为全天候"
    )
    timezone: Line = Field("Asia/Shanghai", description="服务时间所在的时区")

    intent_examples: dict[Intent, list[Line]] = Field(
        default={}, description="意图 -> 自己顾客的说法，与内置例句一起供路由学习；同一句可以列在几个意图下"
    )

    @model_validator(mode="after")
    def _check_examples(self) -> Self:
        if sum(map(len, self.intent_examples.values())) > MAX_EXAMPLES:
            raise ValueError(f"例句最多 {MAX_EXAMPLES} 条")
        return self

    @model_validator(mode="after")
    def _check_hours(self) -> Self:
        parse_business_hours(self.business_hours, "UTC")
        return self

    def merge_with_default(self, default: TenantProfile) -> TenantProfile:
        """Returns the default profile with what was sent."""
        sent = self.model_dump(exclude_unset=True, exclude_none=True)
        return build_profile(sent, default)


class ProfileOut(BaseModel):
    """The profile in force; `version` changes with every field."""

    name: str
    persona: str
    tone: str
    reply_language: ReplyLanguage
    avoid_topics: list[str]
    fallback_script: str
    welcome_message: str
    suggested_questions: list[str]
    system_prompt: str
    business_hours: list[str]
    timezone: str
    intent_examples: dict[Intent, list[str]]
    version: str

    @classmethod
    def from_profile(cls, profile: TenantProfile) -> Self:
        return cls(**asdict(profile), version=profile.version)


class Greeting(BaseModel):
    """What a chat window shows before the first question."""

    name: str
    welcome_message: str
    suggested_questions: list[str]


@router.get("")
async def read_profile(tenant: StaffTenant, wiring: Wiring) -> ProfileOut:
    """The profile in force."""
    return ProfileOut.from_profile(await wiring.profiles.get(tenant))


@router.put("", responses=list_failures(409))
async def write_profile(body: ProfileIn, tenant: AdminTenant, wiring: Wiring) -> ProfileOut:
    """Replaces the profile; the next answer goes by it."""
    try:
        parse_zone(body.timezone)
    except ValueError as error:
        raise Conflict(str(error), code="unknown_timezone") from error
    await wiring.profiles.put(tenant, body.merge_with_default(wiring.profiles.default))
    return ProfileOut.from_profile(await wiring.profiles.get(tenant))


@router.get("/greeting")
async def read_greeting(
    tenant: TenantId,
    wiring: Wiring,
    language: Annotated[
        Literal["zh", "en"] | None, Query(description="顾客的语言；助手设定了回复语言时以设定为准")
    ] = None,
) -> Greeting:
    """Name, welcome and suggested questions for the chat window; what the profile leaves open is in that language, and
    the sample documents suggest questions of their own.
    """
    profile = await wiring.profiles.get(tenant)
    english = profile.reply_language == "en" or (profile.reply_language == "auto" and language == "en")
    questions = profile.suggested_questions or await sample_questions(tenant, wiring.documents, english=english)
    return Greeting(
        name=profile.get_name(english),
        welcome_message=profile.welcome_message or say("greeting", english, name=profile.get_name(english)),
        suggested_questions=list(questions),
    )
