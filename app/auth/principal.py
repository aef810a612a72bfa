"""Who asks, for which tenant, and where the server may listen."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from app.auth.scopes import KeyScope
from knowledge.errors import InvalidConfiguration
from knowledge.filters import Filter

DEFAULT_TENANT = "default"
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Role(StrEnum):
    """What a caller may do: manage, lead those who serve customers, serve customers as a person, ask for a customer
    whom it vouches for, ask, or read the metrics and nothing else.
    """

    ADMIN = "admin"
    LEAD = "lead"
    AGENT = "agent"
    SERVER = "server"
    CLIENT = "client"
    METRICS = "metrics"


# Roles of people who serve customers.
STAFF = frozenset({Role.ADMIN, Role.LEAD, Role.AGENT})
# Roles that have anything to do with customers.
TALKING = STAFF | {Role.SERVER, Role.CLIENT}


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller; belongs to one tenant. key: the id of the key, empty for who needs none; name: what
    people call the key; origins: of the web pages that may use it, empty where browsers of other sites may not; scopes:
    to what of its roles the key is narrowed, empty for all of them; caller: the member who came with a token and no
    key, empty for all others; bound_to: the documents that answers to it may rest on; agent_id: of who signed in with
    an account, at the desk; then `key` and `name` are the account's.
    """

    tenant: str
    roles: frozenset[Role]
    key: str = field(default="", compare=False)
    origins: frozenset[str] = field(default=frozenset(), compare=False)
    name: str = field(default="", compare=False)
    scopes: frozenset[KeyScope] = frozenset()
    caller: str = ""
    bound_to: Filter = Filter()  # noqa: RUF009 - frozen
    agent_id: str = ""


# Whoever asks from this machine while no key is configured.
LOOPBACK = Principal(DEFAULT_TENANT, frozenset(Role))


def check_tenant_id(text: str) -> str:
    """Returns the text as the id of a tenant. Raises ValueError, with a message for people, if it cannot be one."""
    if not _TENANT.fullmatch(text):
        raise ValueError(f"租户编号 {text!r} 不可用：须为 1 到 64 个字母、数字、点、下划线或连字符，以字母或数字开头")
    return text


def require_safe_binding(host: str, *, has_key: bool) -> None:
    """Refuses to listen beyond this machine while nobody has to show a key. Raises InvalidConfiguration.

    has_key: API_KEY is set, or a key that is not revoked is stored.
    """
    if not has_key and not is_loopback(host):
        raise InvalidConfiguration(
            f"HOST={host} 会把服务暴露到本机之外，而现在没有任何密钥，谁都能读写知识库。请先设置环境变量 API_KEY，"
            "或运行 python scripts/keys.py create --role admin --name 管理员 创建密钥；"
            "只在本机使用时，把 HOST 改为 127.0.0.1。"
        )


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
