"""Customers as the interface shows them to staff."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, Field

from app.contacts.types import Customer, CustomerKind
from app.http.fields import CLEANED
from app.http.schemas import RequestBody, ResponseBody

ContactLabel = Annotated[str, CLEANED, Field(min_length=1, max_length=32)]
Labels = Annotated[list[ContactLabel], Field(max_length=20, description="标签；写什么就是什么，没写的去掉")]


class CustomerOut(ResponseBody):
    """Whom staff talk to. What is shown is `given`, else `name`, else `user_id`, else the alias."""

    kind: CustomerKind = Field(description="member 已核实的会员，claimed 自称的用户，visitor 访客")
    user_id: str = Field(description="会员或自称的编号；访客为空")
    given: str = Field(description="客服起的名字；没有为空")
    name: str = Field(description="会员的姓名，已脱敏；业务库没有为空")
    level: str = Field(description="会员的等级；业务库没有为空")
    alias: str = Field(description="访客的短名，同一会话不变，如 云杉-42")
    alias_en: str = Field(description="短名的英文")
    colour: int = Field(ge=0, le=7, description="短名的颜色，0 到 7")
    labels: list[str] = Field(description="客服给这位顾客的标签")

    @classmethod
    def from_customer(cls, customer: Customer) -> Self:
        alias = customer.alias
        return cls.build_from(customer, alias=alias.zh, alias_en=alias.en, colour=alias.colour)


class ContactIn(RequestBody):
    """What staff call a customer."""

    name: Annotated[str, CLEANED, Field("", max_length=64, description="名字；留空用回会员姓名或短名")] = ""
    labels: Labels = Field([])


class LabelsIn(RequestBody):
    """The labels of a conversation."""

    labels: Labels


class LabelList(BaseModel):
    """All labels that are in use."""

    labels: list[str]


class VisitOut(ResponseBody):
    """A page of a customer's journey."""

    url: str = Field(description="地址，不含 ? 和 # 之后的部分")
    title: str
    visits: int = Field(description="来过几次；半小时之内算一次")
    first_at: datetime
    last_at: datetime
