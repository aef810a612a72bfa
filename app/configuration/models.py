"""Which language models are asked, and how each of them wants to be."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agents.llm.profiles import PROFILES, RESERVED, find_profile
from agents.types import Usage
from app.configuration.service_keys import ServiceKey

Profile = Literal["auto", "deepseek", "qwen", "doubao", "kimi", "glm", "openai", "ollama", "vllm", "compatible"]
Thinks = Literal["auto", "true", "false"]


def _check_reserved(parameters: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(RESERVED & parameters.keys()):
        raise ValueError(f"不能有 {'、'.join(taken)}，这些由产品填写")
    return parameters


Parameters = Annotated[dict[str, Any], AfterValidator(_check_reserved)]


class LlmProvider(BaseModel):
    """One more provider; what is left out is as for the first."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field("", pattern=r"^([a-z0-9][a-z0-9_-]{0,31})?$")
    profile: Profile = "auto"
    base_url: str = Field("", pattern=r"^(https?://\S+)?$")
    api_key: ServiceKey = Field(min_length=1)
    model: str = Field(min_length=1)
    parameters: Parameters = Field({})
    thinks: Thinks = "auto"
    first_token_timeout: float | None = Field(None, gt=0, le=300)
    timeout: float | None = Field(None, gt=0, le=600)
    max_tokens: int | None = Field(None, ge=16, le=32768)

    @model_validator(mode="after")
    def _check_address(self) -> Self:
        if not self.address:
            raise ValueError("须写 base_url，或写 profile 用那一家的地址")
        return self

    @property
    def profile_name(self) -> str:
        """How it wants to be asked."""
        return find_profile(self.base_url) if self.profile == "auto" else self.profile

    @property
    def address(self) -> str:
        """Of its endpoint."""
        return self.base_url or PROFILES[self.profile_name].base_url

    @property
    def title(self) -> str:
        """What it is called where providers are told apart."""
        return self.name or self.profile_name


class ModelPrice(BaseModel):
    """Of a million tokens, in any unit of money, the same for all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0, le=1_000_000)
    output: float = Field(ge=0, le=1_000_000)

    def compute_cost(self, usage: Usage) -> float:
        """What usage costs, in that unit."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / 1_000_000


class ModelBudget(BaseModel):
    """Of a tenant for a day (UTC); 0 is no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Sent and received together.
    tokens: int = Field(0, ge=0)
    # In the unit of the prices.
    cost: float = Field(0.0, ge=0, le=1_000_000_000)

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.tokens > 0 or self.cost > 0

    def is_exhausted(self, tokens: int, cost: float) -> bool:
        """Whether nothing more may be asked of a model on a day on which so much was spent."""
        return 0 < self.tokens <= tokens or 0 < self.cost <= cost


# What the providers of `LLM_*`, of `SMALL_LLM_*` and of READER_MODEL are called.
FIRST, SMALL, READING = "llm", "small", "reader"
# What the name of a model's file ends with.
GGUF = ".gguf"


class ModelSettings(BaseModel):
    """The first provider has settings of its own."""

    llm_base_url: str = Field(
        "https://api.deepseek.com", description="OpenAI 兼容的大模型接口地址；设了 LLM_PROFILE 时留空则用那一家的地址"
    )
    llm_model: str = Field("deepseek-chat", min_length=1, description="生成回答的模型")
    llm_profile: Profile = Field(
        "auto", description="按哪一家的习惯请求；auto 按地址认，认不出按 compatible（通用的 OpenAI 兼容接口）"
    )
    llm_parameters: Parameters = Field(
        {}, description="请求里另加的参数，写成 JSON，盖过 LLM_PROFILE 的；不能有 model、messages、stream"
    )
    llm_thinks: Thinks = Field(
        "auto",
        description="回答开头是否可能是没有起始标签的思考：true 则等到思考结束才往外送；"
        "auto 按 LLM_PROFILE 与模型名判断",
    )
    llm_providers: tuple[LlmProvider, ...] = Field(
        (),
        max_length=8,
        description="依次备用的大模型，写成 JSON 数组，排在 LLM_* 那一家之后：每项有 api_key、model，"
        "以及可以不写的 name、profile、base_url、parameters、thinks、first_token_timeout、timeout、max_tokens",
    )
    llm_answers: Literal["auto", "write", "quote"] = Field(
        "auto",
        description="大模型怎么作答：write 由它写，逐句核对后发出；quote 只让它读消息、看资料、排先后，回答摘自原文；"
        "auto 考它分不分得清说对与说错的话，分得清才由它写",
    )
    llm_hedge_seconds: float = Field(
        3.0,
        ge=0,
        le=300,
        description="一家大模型几秒没有送来首个 token，就同时去问下一家（没有别家时再问它一次），"
        "谁先出声用谁的，另一个取消；0 为从不同时问",
    )
    llm_breaker_failures: int = Field(5, ge=1, le=100, description="一家大模型连续失败几次就暂停请求它")
    llm_breaker_seconds: float = Field(5.0, ge=1, le=3600, description="暂停多少秒之后放一个请求去试")
    llm_prices: dict[str, ModelPrice] = Field(
        {},
        description="各模型每百万 token 的单价，写成 JSON：模型名到 input 与 output，货币自定；没有写的按 0 计",
    )
    llm_daily_tokens: int = Field(
        0, ge=0, description="一个租户每天（UTC）用大模型的 token 上限，收发合计，用完后回答摘自知识库原文；0 为不限"
    )
    llm_daily_cost: float = Field(
        0.0, ge=0, le=1_000_000_000, description="一个租户每天（UTC）用大模型的费用上限，单位同 LLM_PRICES；0 为不限"
    )
    llm_budgets: dict[str, ModelBudget] = Field(
        {},
        description="另有预算的租户，写成 JSON：租户名到 tokens 与 cost，盖过 LLM_DAILY_TOKENS 与 LLM_DAILY_COST",
    )

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        if not self.llm_prices and (self.llm_daily_cost or any(budget.cost for budget in self.llm_budgets.values())):
            raise ValueError("LLM_DAILY_COST 或 LLM_BUDGETS 限了费用，须在 LLM_PRICES 里写各模型的单价")
        return self

    @model_validator(mode="after")
    def _check_titles(self) -> Self:
        titles = [FIRST, SMALL, READING, *(provider.title for provider in self.llm_providers)]
        if twice := next((title for title in titles if titles.count(title) > 1), None):
            raise ValueError(f"LLM_PROVIDERS 里的名字 {twice} 重复或已被占用，请给各项写不同的 name")
        return self

    @model_validator(mode="after")
    def _check_model_names(self) -> Self:
        if self.llm_profile not in ("auto", "deepseek") and "llm_model" not in self.model_fields_set:
            raise ValueError(f"LLM_PROFILE={self.llm_profile} 时须设置 LLM_MODEL")
        if self.llm_profile == "compatible" and "llm_base_url" not in self.model_fields_set:
            raise ValueError("LLM_PROFILE=compatible 时须设置 LLM_BASE_URL")
        return self

    @property
    def llm_address(self) -> str:
        """Of the first provider's endpoint."""
        own = PROFILES[self.llm_profile].base_url if self.llm_profile != "auto" else ""
        return own if own and "llm_base_url" not in self.model_fields_set else self.llm_base_url

    @property
    def llm_profile_name(self) -> str:
        """How the first provider wants to be asked."""
        return find_profile(self.llm_address) if self.llm_profile == "auto" else self.llm_profile


def parse_thinks(thinks: Thinks) -> bool | None:
    """What was set; None for auto."""
    return None if thinks == "auto" else thinks == "true"
