"""Who customers are, what staff call them and where they were."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    union,
)

from app.contacts.alias import build_alias
from app.contacts.tables import ContactLabelRow, ContactRow, ConversationLabelRow, VisitRow
from app.contacts.types import ContactKey, Customer, CustomerKind
from app.conversations.tables import Conversation
from app.db.base import match_equal, match_keys, match_session, now
from app.db.engine import DIALECTS, Database, build_upsert, insert_into
from app.types import SessionKey

# Within which a page is not visited once more.
STAY = timedelta(minutes=30)
# Pages that are kept of a conversation; more are not.
MAX_VISITS = 50
SHOWN_VISITS = 20


class ContactRepository:
    """Customers of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_customers(self, tenant: str, sessions: Collection[str]) -> Mapping[str, Customer]:
        """Loads the customer of each conversation: session -> customer, for conversations that exist."""
        if not sessions:
            return {}
        return await self._database.run_in_reader(find_customers, tenant, sessions)

    async def load_labels(self, tenant: str, sessions: Collection[str]) -> Mapping[str, tuple[str, ...]]:
        """Loads the labels of conversations, in order: session -> labels, for conversations that have any."""
        table, found = ConversationLabelRow, dict[str, tuple[str, ...]]()
        query = select(table.session_id, table.label).where(table.tenant_id == tenant, table.session_id.in_(sessions))
        for session, label in await self._database.fetch(query.order_by(table.session_id, table.label)):
            found[session] = (*found.get(session, ()), label)
        return found

    async def list_known_labels(self, tenant: str) -> list[str]:
        """Lists every label that a customer or a conversation of the tenant has."""
        of_conversations = select(ConversationLabelRow.label).where(ConversationLabelRow.tenant_id == tenant)
        of_contacts = select(ContactLabelRow.label).where(ContactLabelRow.tenant_id == tenant)
        return sorted(await self._database.fetch_values(union(of_conversations, of_contacts)))

    async def name_contact(self, tenant: str, key: ContactKey, name: str, labels: Sequence[str]) -> None:
        """Sets the name and the labels of a customer that staff see; labels that are not given are removed."""

        def write(connection: Connection) -> None:
            _put_name(connection, tenant, key, name)
            connection.execute(delete(ContactLabelRow).where(*_match_contact(ContactLabelRow, tenant, key)))
            _add_labels(connection, tenant, key, labels)

        await self._database.transact(write)

    async def set_conversation_labels(self, session: SessionKey, labels: Sequence[str]) -> bool:
        """Gives a conversation its labels; False where it is not there."""

        def write(connection: Connection) -> bool:
            if not _is_there(connection, session):
                return False
            table, about = ConversationLabelRow, {"tenant_id": session.tenant, "session_id": session.session_id}
            connection.execute(delete(table).where(match_session(table, session)))
            if labels:
                connection.execute(insert(table), [about | {"label": label} for label in dict.fromkeys(labels)])
            return True

        return await self._database.transact(write)

    async def list_sessions(self, tenant: str, key: ContactKey) -> list[str]:
        """Lists the conversations of a customer, the latest first."""
        query = select(Conversation.session_id).where(Conversation.tenant_id == tenant, match_owner(key))
        return await self._database.fetch_values(query.order_by(Conversation.updated_at.desc()))

    async def add_visit(self, session: SessionKey, url: str, title: str) -> bool:
        """See `add_visit`; may be lost with the power. False for a conversation that is not there."""

        def write(connection: Connection) -> bool:
            if not _is_there(connection, session):
                return False
            add_visit(connection, session, url, title, now())
            return True

        return await self._database.transact(write, durable=False)

    async def list_visits(self, tenant: str, key: ContactKey) -> Sequence[Row[*tuple[Any, ...]]]:
        """Lists the pages that a customer was on in all conversations, the latest first, as rows for `VisitOut`."""
        table = VisitRow
        title, visits = func.max(table.title).label("title"), func.sum(table.visits).label("visits")
        first, last = func.min(table.first_at).label("first_at"), func.max(table.last_at).label("last_at")
        query = (
            select(table.url, title, visits, first, last)
            .join(Conversation, match_equal(Conversation, table, "session_id"))
            .where(table.tenant_id == tenant, match_owner(key))
            .group_by(table.url)
            .order_by(last.desc(), table.url)
            .limit(SHOWN_VISITS)
        )
        return await self._database.fetch(query)


def find_customers(connection: Connection, tenant: str, sessions: Collection[str]) -> Mapping[str, Customer]:
    """See `ContactRepository.load_customers`."""
    table = Conversation
    query = select(table.session_id, table.caller, table.user_id)
    rows = connection.execute(query.where(table.tenant_id == tenant, table.session_id.in_(sessions))).all()
    keys = {row.session_id: build_contact_key(row.caller, row.session_id) for row in rows}
    names: dict[ContactKey, str] = {}
    labels: dict[ContactKey, tuple[str, ...]] = {}
    wanted = sorted({(tenant, key.caller, key.session_id) for key in keys.values()})
    for of, values in ((ContactRow, ContactRow.name), (ContactLabelRow, ContactLabelRow.label)):
        mine = match_keys((of.tenant_id, of.caller, of.session_id), wanted)
        found = select(of.caller, of.session_id, values).where(mine).order_by(values)
        for caller, session, value in connection.execute(found):
            key = ContactKey(caller, session)
            if of is ContactRow:
                names[key] = value
            else:
                labels[key] = (*labels.get(key, ()), value)
    customers = {}
    for session, caller, user_id in rows:
        key = keys[session]
        kind = CustomerKind.MEMBER if caller else CustomerKind.CLAIMED if user_id else CustomerKind.VISITOR
        alias = build_alias(tenant, session)
        known = names.get(key, ""), labels.get(key, ())
        customers[session] = Customer(key, kind, caller or user_id, alias, known[0], labels=known[1])
    return customers


def build_contact_key(caller: str, session_id: str) -> ContactKey:
    """Returns whose a conversation is: its member's, else its own customer's. What a page claims makes
    nobody a member.
    """
    return ContactKey(caller) if caller else ContactKey("", session_id)


def match_owner(key: ContactKey) -> ColumnElement[bool]:
    """Matches the conversations of a customer."""
    if key.caller:
        return Conversation.caller == key.caller
    return (Conversation.session_id == key.session_id) & (Conversation.caller == "")


def merge_into_member(connection: Connection, session: SessionKey, caller: str) -> None:
    """Gives a member the name and labels that staff gave the customer of a conversation that turned out to be theirs.

    A name that the member has already stays.
    """
    tenant, before, member = session.tenant, ContactKey("", session.session_id), ContactKey(caller)
    labels = connection.execute(
        select(ContactLabelRow.label).where(*_match_contact(ContactLabelRow, tenant, before))
    ).scalars()
    _add_labels(connection, tenant, member, list(labels))
    name = connection.execute(
        select(ContactRow.name).where(*_match_contact(ContactRow, tenant, before))
    ).scalar_one_or_none()
    own = connection.execute(
        select(ContactRow.name).where(*_match_contact(ContactRow, tenant, member))
    ).scalar_one_or_none()
    if name and not own:
        _put_name(connection, tenant, member, name)
    for table in (ContactRow, ContactLabelRow):
        connection.execute(delete(table).where(*_match_contact(table, tenant, before)))


def forget(connection: Connection, tenant: str) -> None:
    """Deletes the names and labels of customers of whom no conversation is left, after conversations were deleted."""
    for table in (ContactRow, ContactLabelRow):
        owner = or_(
            (table.caller != "") & (Conversation.caller == table.caller),
            (table.caller == "") & (Conversation.session_id == table.session_id),
        )
        left = exists().where(Conversation.tenant_id == table.tenant_id, owner)
        connection.execute(delete(table).where(table.tenant_id == tenant, ~left))


def _update_visit(insertion: Any) -> Any:
    new = insertion.excluded
    return insertion.on_conflict_do_update(
        index_elements=[VisitRow.tenant_id, VisitRow.session_id, VisitRow.url],
        set_={
            "title": new.title,
            "visits": case((VisitRow.last_at < bindparam("before"), VisitRow.visits + 1), else_=VisitRow.visits),
            "last_at": new.last_at,
        },
    )


# Made once, as the one below: to put a statement together anew costs as much as to carry it out.
_ADD_VISIT = {name: _update_visit(dialect.insert(VisitRow)) for name, dialect in DIALECTS.items()}
_KNOWN = (
    select(func.count())
    .select_from(VisitRow)
    .where(
        VisitRow.tenant_id == bindparam("tenant"),
        VisitRow.session_id == bindparam("session"),
        VisitRow.url != bindparam("url"),
    )
)


def add_visit(connection: Connection, session: SessionKey, url: str, title: str, moment: datetime) -> None:
    """Records that the customer is on a page, once more if that was a while ago. A conversation keeps
    MAX_VISITS pages.
    """
    wanted = {"tenant": session.tenant, "session": session.session_id, "url": url}
    if connection.execute(_KNOWN, wanted).scalar_one() >= MAX_VISITS:
        return
    row = {"tenant_id": session.tenant, "session_id": session.session_id, "url": url, "title": title, "visits": 1}
    connection.execute(
        _ADD_VISIT[connection.dialect.name], row | {"first_at": moment, "last_at": moment, "before": moment - STAY}
    )


def _is_there(connection: Connection, session: SessionKey) -> bool:
    return bool(connection.execute(select(exists().where(match_session(Conversation, session)))).scalar_one())


def _match_contact(
    table: type[ContactRow] | type[ContactLabelRow], tenant: str, key: ContactKey
) -> tuple[ColumnElement[bool], ...]:
    return table.tenant_id == tenant, table.caller == key.caller, table.session_id == key.session_id


def _put_name(connection: Connection, tenant: str, key: ContactKey, name: str) -> None:
    values = {"name": name, "updated_at": now()}
    about = {"tenant_id": tenant, "caller": key.caller, "session_id": key.session_id}
    connection.execute(build_upsert(connection, ContactRow, about | values))


def _add_labels(connection: Connection, tenant: str, key: ContactKey, labels: Sequence[str]) -> None:
    about = {"tenant_id": tenant, "caller": key.caller, "session_id": key.session_id}
    for label in labels:
        row = insert_into(connection, ContactLabelRow).values(about | {"label": label})
        connection.execute(row.on_conflict_do_nothing())
