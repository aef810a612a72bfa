"""Browsers that are signed in, in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, delete, insert, or_, select, update

from app.auth.principal import Principal
from app.db.base import now
from app.db.engine import Database
from app.people.person import Person
from app.people.repository import build_person
from app.people.tables import PersonRow
from app.people.tables import SignInRow as Table

# A use is written no more often.
SEEN_EVERY = timedelta(minutes=1)
_FOUND = (
    select(PersonRow.__table__, Table.tenant_id.label("tenant"), Table.key_digest, Table.seen_at)
    .outerjoin(PersonRow, and_(PersonRow.tenant_id == Table.tenant_id, PersonRow.id == Table.person_id))
    .where(or_(Table.person_id.is_(None), PersonRow.disabled_at.is_(None)))
)


@dataclass(frozen=True, slots=True)
class SignedInAs:
    """Either a person or the digest of a key."""

    person: Person | None
    key_digest: str | None

    @property
    def principal(self) -> Principal | None:
        """The person's, None for a key."""
        return None if self.person is None else self.person.principal


class SignInRepository:
    """Of all tenants: the secret of a sign-in is what tells the tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, digest: str, idle: timedelta) -> SignedInAs | None:
        """Returns who is signed in, and records the use, to the minute; None for nobody, also if the
        sign-in is over.
        """
        moment = now()
        holds = Table.digest == digest, Table.expires_at > moment, Table.seen_at > moment - idle
        row = await self._database.fetch_first(_FOUND.where(*holds))
        if row is None:
            return None
        if row.seen_at < moment - SEEN_EVERY:
            seen = update(Table).where(Table.digest == digest).values(seen_at=moment)
            await self._database.execute(seen, durable=False)
        return SignedInAs(build_person(row) if row.id else None, row.key_digest)

    async def open(
        self, tenant: str, digest: str, until: datetime, *, person_id: str | None = None, key_digest: str | None = None
    ) -> None:
        """Keeps that somebody is signed in; deletes what is over."""
        moment = now()
        row = {"person_id": person_id, "key_digest": key_digest, "created_at": moment, "seen_at": moment}
        async with self._database.write() as connection:
            await connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.expires_at <= moment))
            await connection.execute(insert(Table).values(tenant_id=tenant, digest=digest, expires_at=until, **row))
            if person_id:
                mine = (PersonRow.tenant_id == tenant) & (PersonRow.id == person_id)
                await connection.execute(update(PersonRow).where(mine).values(signed_in_at=moment))

    async def end(self, digest: str) -> None:
        """Signs one browser out."""
        await self._database.execute(delete(Table).where(Table.digest == digest))

    async def end_all(self, tenant: str, person_id: str, but: str = "") -> None:
        """Signs a person out everywhere. but: the digest of a sign-in that stays."""
        mine = (Table.tenant_id == tenant) & (Table.person_id == person_id) & (Table.digest != but)
        await self._database.execute(delete(Table).where(mine))
