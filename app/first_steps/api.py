"""The steps before customers can be served; each step is checked by what is stored."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.connection.service import ModelConnections
from app.connection.types import ConnectionSource
from app.db.engine import Database
from app.documents.samples import sample_paths
from app.first_steps.repository import StepRepository
from app.http.deps import AdminTenant, use_part
from app.http.routes import GuardedRoute
from app.keys.management import KeyManagement

ConnectionsDep = Annotated[ModelConnections, use_part("connections")]
DatabaseDep = Annotated[Database, use_part("database")]
KeyManagementDep = Annotated[KeyManagement, use_part("key_management")]

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
async def read_first_steps(
    tenant: AdminTenant, connections: ConnectionsDep, database: DatabaseDep, key_management: KeyManagementDep
) -> FirstStepsOut:
    """Which steps are done."""
    facts = await StepRepository(database, sample_paths()).load_facts(tenant)
    source, _ = await connections.read()
    connected = source is not ConnectionSource.NONE
    colleagues = facts.staff + max(0, facts.admins - (0 if key_management.has_environment_key(tenant) else 1))
    counts: dict[StepName, int] = {
        "documents": facts.documents,
        "try": int(facts.has_conversations),
        "model": int(connected),
        "widget": int(facts.has_site),
        "colleagues": colleagues,
    }
    return FirstStepsOut(steps=[StepOut(name=name, done=count > 0, count=count) for name, count in counts.items()])
