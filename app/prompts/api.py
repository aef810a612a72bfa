"""The prompts in force, and what they said before."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from app.auth.principal import DEFAULT_TENANT
from app.errors import Forbidden
from app.http.deps import AdminTenant, use_part
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from app.prompts.library import PromptLibrary
from app.prompts.repository import PromptRepository

PromptLibraryDep = Annotated[PromptLibrary, use_part("prompt_library")]
PromptsDep = Annotated[PromptRepository, use_part("prompts")]

router = APIRouter(prefix="/api/v1/prompts", tags=["observability"], route_class=GuardedRoute)
MOST = 100


class PromptOut(ResponseBody):
    """A prompt of this process now."""

    name: str = Field(description="提示词的名字，即文件名")
    version: str = Field(description="内容的散列")
    own: bool = Field(description="是否取自 PROMPTS_DIR，而不是自带的")
    problem: str = Field(description="新改的内容为什么没有采用；没有问题为空")
    text: str = Field(description="正在用的内容")


class PromptsOut(BaseModel):
    """By name."""

    version: str = Field(description="全部提示词合在一起的散列，缓存的键里有它")
    items: list[PromptOut]


class PromptVersionOut(ResponseBody):
    """What a prompt said at a time."""

    version: str = Field(description="内容的散列")
    text: str
    created_at: datetime = Field(description="第一次用它回答的时间")


class PromptVersionsOut(BaseModel):
    """The newest first."""

    items: list[PromptVersionOut]


@router.get("")
async def list_prompts(tenant: AdminTenant, prompt_library: PromptLibraryDep) -> PromptsOut:
    """All prompts and what is wrong with edits of them. They are of all tenants, so only the default tenant's keys see
    them.
    """
    _require_default_tenant(tenant)
    library = prompt_library
    items = [PromptOut.model_validate(state) for state in library.list_states()]
    return PromptsOut(version=library.get_current().version, items=items)


@router.get("/{name}/versions")
async def list_prompt_versions(
    name: Annotated[str, Path(max_length=64, description="提示词的名字")], tenant: AdminTenant, prompts: PromptsDep
) -> PromptVersionsOut:
    """The versions that answers were written from; traces of turns name them."""
    _require_default_tenant(tenant)
    found = await prompts.list_history(name, MOST)
    return PromptVersionsOut(items=[PromptVersionOut.model_validate(one) for one in found])


def _require_default_tenant(tenant: str) -> None:
    if tenant != DEFAULT_TENANT:
        raise Forbidden("提示词由所有租户共用，只有默认租户的管理员能看。", code="not_yours")
