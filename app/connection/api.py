"""The language model of the installation: which is in use, connecting another one, trying it first."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, Self, get_args

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, SecretStr, model_validator

from agents.llm.profiles import PROFILES
from app.auth.principal import DEFAULT_TENANT
from app.configuration.service_keys import ServiceKey
from app.connection.types import ConnectionSource, ModelAddress
from app.errors import Forbidden
from app.http.deps import CHANGES_NOTHING, AdminTenant, Wired, get_caller_name
from app.http.failures import list_failures
from app.http.fields import CLEANED
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody, ResponseBody

if TYPE_CHECKING:
    from app.connection.service import ModelConnections
    from app.reader import ReaderScale


class ModelNames(Protocol):
    """The models that are asked, see `LanguageModels`."""

    @property
    def names(self) -> list[str]: ...


class Parts(Protocol):
    """What these routes are served by."""

    connections: ModelConnections
    reader: ReaderScale

    @property
    def models(self) -> ModelNames: ...


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/models", tags=["models"], route_class=GuardedRoute)

Provider = Literal["deepseek", "qwen", "doubao", "kimi", "glm", "openai", "ollama", "vllm", "compatible"]


class ConnectionIn(RequestBody):
    """A model at an endpoint that speaks OpenAI's protocol."""

    provider: Provider = Field(description="提供商；compatible 为其他兼容 OpenAI 的接口")
    base_url: str = Field("", max_length=300, pattern=r"^(https?://\S+)?$", description="接口地址；留空用这一家的")
    model: Annotated[str, CLEANED, Field(min_length=1, max_length=200, description="模型名")]
    api_key: ServiceKey = Field(
        SecretStr(""),
        max_length=500,
        description="密钥，只写不读；留空则沿用已保存的，自己的服务可以没有",
    )

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        if not self.address.base_url:
            raise ValueError("请填写 base_url：这一家没有固定的接口地址")
        return self

    @property
    def address(self) -> ModelAddress:
        """As it is asked."""
        base_url = (self.base_url or PROFILES[self.provider].base_url).rstrip("/")
        return ModelAddress(self.provider, base_url, self.model, self.api_key.get_secret_value().strip())


class ProviderOut(BaseModel):
    """One that can be chosen."""

    name: Provider
    base_url: str = Field(description="它的接口地址；没有固定地址的为空")


class ConnectionOut(BaseModel):
    """What is in use. Keys are never shown."""

    source: ConnectionSource = Field(description="environment：环境变量；console：控制台；none：没有接")
    manageable: bool = Field(description="能否在这里改：默认租户的管理员，且没有用环境变量设置")
    models: list[str] = Field(description="在用的模型，写回答的在前；没有接为空")
    provider: str = Field(description="控制台里接的提供商")
    base_url: str = Field(description="控制台里接的接口地址")
    has_key: bool = Field(description="是否保存了密钥")
    judges: bool = Field(description="大模型是否在把门：看资料里有没有写明答案")
    problem: str = Field(description="保存的为什么用不了；正常为空")
    by: str
    updated_at: datetime | None
    providers: list[ProviderOut]


class ConnectionTestOut(ResponseBody):
    """What came of one short question."""

    reply: str = Field(description="它的回答，过长的截断")
    first_token_ms: float | None = Field(description="首字用了多少毫秒；没有回答为 null")
    total_ms: float = Field(description="一共用了多少毫秒")
    error: str = Field(description="为什么没有回答；正常为空")


@router.get("/connection")
async def read_model_connection(tenant: AdminTenant, wiring: Wiring) -> ConnectionOut:
    """The model in use and where it was set."""
    own, connections = tenant == DEFAULT_TENANT, wiring.connections
    source, stored = await connections.read()
    return ConnectionOut(
        source=source,
        manageable=own and not connections.environment_wins,
        models=list(dict.fromkeys(wiring.models.names)),
        provider=stored.provider if own else "",
        base_url=stored.base_url if own else "",
        has_key=own and bool(stored.sealed_key),
        judges=wiring.reader.calibration is not None,
        problem=connections.problem if own else "",
        by=stored.by if own else "",
        updated_at=stored.updated_at if own else None,
        providers=[ProviderOut(name=name, base_url=PROFILES[name].base_url) for name in get_args(Provider)],
    )


@router.put("/connection", responses=list_failures(403, 409))
async def write_model_connection(
    body: ConnectionIn, request: Request, tenant: AdminTenant, wiring: Wiring
) -> ConnectionOut:
    """Connects a model; the next answer is written by it, without a restart."""
    _require_default_tenant(tenant)
    await wiring.connections.connect(body.address, by=get_caller_name(request))
    return await read_model_connection(tenant, wiring)


@router.delete("/connection", responses=list_failures(403, 409))
async def drop_model_connection(request: Request, tenant: AdminTenant, wiring: Wiring) -> ConnectionOut:
    """Disconnects the model and forgets its key; answers are quoted again."""
    _require_default_tenant(tenant)
    await wiring.connections.connect(None, by=get_caller_name(request))
    return await read_model_connection(tenant, wiring)


@router.post("/connection/test", responses=list_failures(403, 409), dependencies=[CHANGES_NOTHING])
async def test_model_connection(body: ConnectionIn, tenant: AdminTenant, wiring: Wiring) -> ConnectionTestOut:
    """Asks it one short question; nothing is kept."""
    _require_default_tenant(tenant)
    return ConnectionTestOut.model_validate(await wiring.connections.test(body.address))


def _require_default_tenant(tenant: str) -> None:
    if tenant != DEFAULT_TENANT:
        raise Forbidden("大模型由所有租户共用，只有默认租户的管理员能改。", code="not_yours")
