"""The steps before customers can be served; each step is checked by what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.connection.types import ConnectionSource
from app.documents.samples import sample_paths
from app.first_steps.repository import StepRepository
from app.http.deps import AdminTenant, Wired
from app.http.routes import GuardedRoute

if TYPE_CHECKING:
    from app.connection.service import ModelConnections
    from app.db.engine import Database
    from app.keys.management import KeyManagement


class Parts(Protocol):
    """What these routes are served by."""

    connections: ModelConnections
    database: Database
    key_management: KeyManagement


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/first-steps", tags=["profile"], route_class=GuardedRoute)

StepName = Literal["documents", "try", "model", "widget", "colleagues"]


class StepOut(BaseModel):
    """One step."""

    name: StepName = Field(
        description="documents：放进自己的文档；try：问一句；model：接大模型；widget：放到网站上；colleagues：请同事进来"
    )
    done: bool
    count: int = Field(description="做了多少：自己的文档数、同事的密钥数；其余为 0 或 1")


class FirstStepsOut(BaseModel):
    """In the order in which they are done."""

    steps: list[StepOut]


@router.get("")
async def read_first_steps(tenant: AdminTenant, wiring: Wiring) -> FirstStepsOut:
    """Which steps are done."""
    facts = await StepRepository(wiring.database, sample_paths()).load_facts(tenant)
    source, _ = await wiring.connections.read()
    connected = source is not ConnectionSource.NONE
    colleagues = facts.staff + max(0, facts.admins - (0 if wiring.key_management.has_environment_key(tenant) else 1))
    counts: dict[StepName, int] = {
        "documents": facts.documents,
        "try": int(facts.has_conversations),
        "model": int(connected),
        "widget": int(facts.has_site),
        "colleagues": colleagues,
    }
    return FirstStepsOut(steps=[StepOut(name=name, done=count > 0, count=count) for name, count in counts.items()])
