"""Keys made, changed and revoked over HTTP, by the rules of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from app.auth.principal import DEFAULT_TENANT, Role
from app.auth.scopes import KeyScope
from app.db.base import now
from app.errors import Conflict, InvalidRequest, NotFound
from app.keys.repository import KeyRepository, KeyRow
from app.keys.rules import check_expiry, check_name, check_origins, check_scopes
from app.keys.service import KeyRing, create_key, hash_key
from knowledge.filters import EVERYTHING, Filter

T = TypeVar("T")
# Roles whose keys may be bound to some documents: what else they read are conversations.
_FOR_CUSTOMERS = (Role.CLIENT, Role.SERVER)


class KeyManagement:
    """A tenant's keys. `save_use` is a periodic job: a use is never a write of its own."""

    def __init__(self, repository: KeyRepository, ring: KeyRing) -> None:
        self.repository = repository
        self._ring = ring

    def has_environment_key(self, tenant: str) -> bool:
        """Whether the tenant has an admin key that is in no list."""
        return tenant == DEFAULT_TENANT and self._ring.environment

    async def create(
        self,
        tenant: str,
        role: Role,
        name: str,
        origins: Sequence[str],
        expires_at: datetime | None = None,
        scopes: Sequence[KeyScope] = (),
        bound_to: Filter = EVERYTHING,
    ) -> tuple[KeyRow, str]:
        """Creates a key, and returns it with its secret, which is shown only this once.

        Raises:
            InvalidRequest: A value is not allowed.
            Conflict: The first key of all must be one with which others can be made, since from then on nobody comes in
                without a key.
        """
        if (role is not Role.ADMIN or scopes) and await self._ring.is_keyless():
            raise Conflict(
                "第一个密钥须是 admin，不限范围：有了密钥之后，没有密钥的请求一律拒绝。", code="first_key_admin"
            )
        name, allowed = _apply_rule("name ", check_name, name), _check_origins(role, origins)
        scopes = _apply_rule("", check_scopes, role, scopes)
        _require_customers(role, bound_to)
        ends = _check_expiry(expires_at)
        secret = create_key()
        key_id = await self.repository.create(tenant, role, name, hash_key(secret), allowed, ends, scopes, bound_to)
        self._ring.expire_copy()
        return await self._get(tenant, key_id), secret

    async def change_key(self, tenant: str, key_id: str, given: Mapping[str, Any]) -> KeyRow:
        """Changes what is given of name, origins, expires_at and bound_to of a key that was not revoked; one that
        expired works again with a later end. Raises NotFound, InvalidRequest, Conflict.
        """
        known, values = await self._get(tenant, key_id), dict[str, Any]()
        if given.get("name") is not None:
            values["name"] = _apply_rule("name ", check_name, given["name"])
        if given.get("origins") is not None:
            values["origins"] = _check_origins(known.role, given["origins"])
        if "expires_at" in given:
            values["expires_at"] = _check_expiry(given["expires_at"])
        if "bound_to" in given:
            _require_customers(known.role, given["bound_to"])
            values["filter"] = given["bound_to"].stated_fields
        if not await self.repository.change_key(tenant, key_id, values):
            raise _build_not_found(key_id)
        self._ring.expire_copy()
        return await self._get(tenant, key_id)

    async def rotate_key(self, tenant: str, key_id: str, grace: timedelta) -> tuple[KeyRow, str]:
        """Gives a valid key a new secret, which is shown only this once.

        grace: for how long the secret before it goes on working. Raises NotFound.
        """
        secret = create_key()
        if not await self.repository.rotate_key(key_id, hash_key(secret), now() + grace, tenant):
            raise _build_not_found(key_id)
        self._ring.expire_copy()
        return await self._get(tenant, key_id), secret

    async def revoke_key(self, tenant: str, key_id: str, own: str) -> None:
        """Ends a key. own: the one with which it is asked for, which stays, so that an administrator is left. Raises
        NotFound, Conflict.
        """
        if key_id == own:
            raise Conflict("不能停用正在使用的密钥：请换一个管理员密钥来停用它。", code="key_in_use", id=key_id)
        if not await self.repository.revoke_key(key_id, tenant):
            raise _build_not_found(key_id)
        self._ring.expire_copy()

    async def save_use(self) -> None:
        """Writes which keys were used, to the minute."""
        if used := self._ring.take_used():
            await self.repository.mark_used(used, now().replace(second=0, microsecond=0))

    async def _get(self, tenant: str, key_id: str) -> KeyRow:
        found = await self.repository.get(tenant, key_id)
        if found is None:
            raise _build_not_found(key_id)
        return found


def _check_origins(role: Role, origins: Sequence[str]) -> list[str]:
    if origins and role is not Role.CLIENT:
        raise Conflict("来源只用于 client：其他角色的密钥不能放进网页", code="no_origins_for_role", role=role)
    return _apply_rule("", check_origins, role, origins)


def _require_customers(role: Role, bound_to: Filter) -> None:
    """Raises Conflict for a key bound to some documents whose role is not one that customers are answered with."""
    if bound_to and role not in _FOR_CUSTOMERS:
        message = "filter 只用于 client、server：其他角色的密钥能看到全部文档"
        raise Conflict(message, code="no_filter_for_role", role=role)


def _check_expiry(moment: datetime | None) -> datetime | None:
    try:
        return check_expiry(moment, now())
    except ValueError as error:
        raise Conflict(f"expires_at {error}", code="expiry_out_of_range") from error


def _apply_rule(what: str, check: Callable[..., T], *given: Any) -> T:
    """Applies a rule, and raises its ValueError as an InvalidRequest."""
    try:
        return check(*given)
    except ValueError as error:
        raise InvalidRequest(f"{what}{error}") from error


def _build_not_found(key_id: str) -> NotFound:
    return NotFound("没有找到这个密钥，或它已经停用。", code="key_not_found", id=key_id)
