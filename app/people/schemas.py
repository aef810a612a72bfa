"""Bodies of accounts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, StrictBool

from app.auth.principal import Role
from app.desk.schemas import DutyFields, Label
from app.desk.types import Staff
from app.http.fields import CLEANED
from app.http.schemas import RequestBody, ResponseBody
from app.people.person import Person, PersonState

PersonRole = Literal[Role.AGENT, Role.LEAD, Role.ADMIN]
Login = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:@-]+$")]
Subject = Annotated[str, CLEANED, Field(max_length=128)]
# What an account shows of its person at the desk.
_SERVED = "teams", "skills", "hours", "capacity", "assigned", "last_seen"
_SUBJECT = "企业账号：身份提供方令牌里的会员编号（OIDC_MEMBER_CLAIM）；空为不用企业账号登录"
_ROLE = "agent 客服，lead 组长（看报表、排班、转接别人的会话），admin 管理员"


class DutyIn(DutyFields, RequestBody):
    """What somebody serves at the desk."""


class PersonIn(DutyIn):
    """A new account."""

    login: Login = Field(description="账号名，登录用，不分大小写；也是服务台上的 agent_id，定了不能改")
    name: Label = Field(description="姓名；服务台上显示的名字可以自己改")
    role: PersonRole = Field(Role.AGENT, description=_ROLE)
    subject: Subject = Field("", description=_SUBJECT)


class PersonPatch(RequestBody):
    """What is to be changed; what is left out stays."""

    name: Label | None = None
    role: PersonRole | None = Field(None, description=_ROLE)
    subject: Subject | None = Field(None, description=_SUBJECT)
    disabled: StrictBool | None = Field(None, description="停用：马上退出登录，不能再登录；历史都在")


class PersonOut(ResponseBody):
    """An account, and how its person stands at the desk."""

    id: str
    login: str
    name: str
    display_name: str = Field(description="服务台上显示给顾客和同事的名字")
    role: PersonRole
    subject: str
    state: PersonState = Field(description="invited 还没有设密码，active 能登录，disabled 已停用")
    teams: list[str]
    skills: list[str]
    hours: list[str]
    capacity: int
    assigned: int = Field(description="正在接待的会话数")
    last_seen: datetime | None = Field(description="最近在服务台的时间")
    signed_in_at: datetime | None = Field(description="最近一次登录")
    invited_until: datetime | None = Field(description="还没用的邀请到何时为止")
    created_at: datetime
    current: bool = Field(description="是不是您自己")

    @classmethod
    def from_person(cls, person: Person, colleague: Staff | None, own: str) -> Self:
        """colleague: the person at the desk, None where the desk does not know them; own: the account of who asks."""
        at_desk = colleague or Staff(person.login, person.name, skills=(), capacity=0, last_seen=None)
        served = {name: getattr(at_desk, name) for name in _SERVED}
        return cls.build_from(person, **served, display_name=at_desk.name, current=person.id == own)


class InvitationOut(BaseModel):
    """The link to choose a password: append the token to the address of the desk, as `/desk#invitation=TOKEN`."""

    invitation: str = Field(description="一次性令牌，只返回这一次；拼成 /desk#invitation=令牌 发给本人")
    invited_until: datetime


class PersonCreated(PersonOut):
    """With the link to a first password."""

    invitation: str = Field(description="一次性令牌，只返回这一次；拼成 /desk#invitation=令牌 发给本人")


class PersonList(BaseModel):
    """All accounts, by name."""

    people: list[PersonOut]
