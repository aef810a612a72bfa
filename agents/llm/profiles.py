"""Differences between providers: address, parameters, and how to ask for a reply without thoughts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

# Fields of a request that no setting may replace.
RESERVED = frozenset({"model", "messages", "stream", "stream_options"})
_THINKS = re.compile(r"(?:^|[-_/.:])(?:r1|qwq|thinking|reasoning|reasoner)(?:$|[-_.:])", re.IGNORECASE)
_OPENAI_THINKS = re.compile(r"^(?:o\d|gpt-5)", re.IGNORECASE)
_KIMI_FIXED = re.compile(r"^kimi-k2(?:\.\d+|-thinking)", re.IGNORECASE)
_KIMI_HYBRID = re.compile(r"^kimi-k2\.\d", re.IGNORECASE)
_GLM_HYBRID = re.compile(r"^glm-(?:4\.[5-9]|[5-9])", re.IGNORECASE)
_DOUBAO_HYBRID = re.compile(r"^doubao-seed-", re.IGNORECASE)
_QWEN_ONLY_THINKS = re.compile(r"^(?:qwq|qvq)|-thinking", re.IGNORECASE)
_NO_THOUGHTS = {"thinking": {"type": "disabled"}}

Parameters = dict[str, Any]


def _build_plain_parameters(_: str, limit: int) -> Parameters:
    return {"temperature": 0.0, "max_tokens": limit}


def _build_openai_parameters(model: str, limit: int) -> Parameters:
    """Reasoning models take no temperature; `max_tokens` is deprecated for all, and refused by those."""
    sure: Parameters = {} if _OPENAI_THINKS.match(model) else {"temperature": 0.0}
    return sure | {"max_completion_tokens": limit}


def _build_qwen_parameters(model: str, limit: int) -> Parameters:
    """Hybrid models think unless told not to, and open ones refuse to in a reply that is not streamed."""
    quiet = {} if _QWEN_ONLY_THINKS.search(model) else {"enable_thinking": False}
    return _build_plain_parameters(model, limit) | quiet


def _build_doubao_parameters(model: str, limit: int) -> Parameters:
    return _build_plain_parameters(model, limit) | (_NO_THOUGHTS if _DOUBAO_HYBRID.match(model) else {})


def _build_kimi_parameters(model: str, limit: int) -> Parameters:
    """K2.5 and later and the thinking ones refuse any temperature but their own."""
    sure: Parameters = {"max_tokens": limit} if _KIMI_FIXED.match(model) else _build_plain_parameters(model, limit)
    return sure | (_NO_THOUGHTS if _KIMI_HYBRID.match(model) else {})


def _build_glm_parameters(model: str, limit: int) -> Parameters:
    """A temperature of 0 is out of its range: sampling is switched off instead."""
    return {"do_sample": False, "max_tokens": limit} | (_NO_THOUGHTS if _GLM_HYBRID.match(model) else {})


def _build_vllm_parameters(model: str, limit: int) -> Parameters:
    """Chat templates that know no such switch ignore it."""
    return _build_plain_parameters(model, limit) | {"chat_template_kwargs": {"enable_thinking": False}}


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """The profile of a provider."""

    # Its usual address, empty for none.
    base_url: str
    # Host and port that identify it, `.x` for all below.
    at: tuple[str, ...]
    # Of the model's name and the most tokens of a reply.
    parameters: Callable[[str, int], Parameters]
    # Whether thoughts may stand in the text, with or without an opening tag: servers of one's own, where it depends
    # on their options.
    tags: bool = False

    def is_thinking_model(self, model: str) -> bool:
        """Whether a model, judged by its name, may write its thoughts into the text without an opening tag."""
        return self.tags and _THINKS.search(model) is not None


COMPATIBLE = "compatible"
PROFILES: dict[str, ModelProfile] = {
    "deepseek": ModelProfile("https://api.deepseek.com", ("api.deepseek.com",), _build_plain_parameters),
    "qwen": ModelProfile(
        "https://dashscope.aliyuncs.com/compatible-mode/v1", (".aliyuncs.com",), _build_qwen_parameters
    ),
    "doubao": ModelProfile("https://ark.cn-beijing.volces.com/api/v3", (".volces.com",), _build_doubao_parameters),
    "kimi": ModelProfile("https://api.moonshot.cn/v1", (".moonshot.cn", ".moonshot.ai"), _build_kimi_parameters),
    "glm": ModelProfile("https://open.bigmodel.cn/api/paas/v4", (".bigmodel.cn", "api.z.ai"), _build_glm_parameters),
    "openai": ModelProfile("https://api.openai.com/v1", ("api.openai.com",), _build_openai_parameters),
    "ollama": ModelProfile("http://127.0.0.1:11434/v1", (":11434",), _build_plain_parameters, tags=True),
    "vllm": ModelProfile("http://127.0.0.1:8000/v1", (), _build_vllm_parameters, tags=True),
    COMPATIBLE: ModelProfile("", (), _build_plain_parameters, tags=True),
}


def find_profile(base_url: str) -> str:
    """Returns the name of the profile for an address; `compatible` for unknown ones."""
    where = (urlsplit(base_url).netloc.rpartition("@")[2]).lower()
    host = re.sub(r":\d+$", "", where)
    for name, profile in PROFILES.items():
        for at in profile.at:
            if host == at or (at.startswith(".") and host.endswith(at)) or (at.startswith(":") and where.endswith(at)):
                return name
    return COMPATIBLE
