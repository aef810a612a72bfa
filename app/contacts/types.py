"""The vocabulary of who a customer is to staff."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CustomerKind(StrEnum):
    """How much is known: a proved member, somebody whom a page names without proof, or nobody in particular."""

    MEMBER = "member"
    CLAIMED = "claimed"
    VISITOR = "visitor"


@dataclass(frozen=True, slots=True)
class ContactKey:
    """Who it is: a member, in all conversations, or the customer of one conversation. One of the two is empty."""

    caller: str = ""
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Alias:
    """A short name for somebody without one, in Chinese and English, and which of `COLOURS` colours it has."""

    zh: str
    en: str
    colour: int


@dataclass(frozen=True, slots=True)
class Customer:
    """Whom staff talk to. given: the name that staff gave, empty for none; name and level: of the member, masked as the
    business database's description says, empty where it does not tell.
    """

    key: ContactKey
    kind: CustomerKind
    user_id: str
    alias: Alias
    given: str = ""
    name: str = ""
    level: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberCard:
    """What a company's database says of a member, as it may be shown."""

    name: str = ""
    level: str = ""
