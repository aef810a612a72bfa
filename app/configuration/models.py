"""Which language models are asked, and how each of them wants to be."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from agents.llm.profiles import PROFILES, RESERVED, profile_at

Profile = Literal["auto", "deepseek", "qwen", "doubao", "kimi", "glm", "openai", "ollama", "vllm", "compatible"]
Thinks = Literal["auto", "true", "false"]


def _ours(parameters: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(RESERVED & parameters.keys()):
        raise ValueError(f"不能有 {'、'.join(taken)}，这些由产品填写")
    return parameters


Parameters = Annotated[dict[str, Any], AfterValidator(_ours)]


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

    @model_validator(mode="after")
    def _named(self) -> Self:
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
        return profile_at(self.llm_address) if self.llm_profile == "auto" else self.llm_profile


def told(thinks: Thinks) -> bool | None:
    """What was set; None for auto."""
    return None if thinks == "auto" else thinks == "true"
