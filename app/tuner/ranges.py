"""The parameters that a tenant may set for itself, and their allowed ranges: narrower than what an operator may set for
a whole installation, since parameters change while customers ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.errors import Conflict, InvalidRequest
from app.settings import Settings
from app.tuner.types import Values


@dataclass(frozen=True, slots=True)
class Range:
    """Both ends are allowed. whole: a count; title: for people."""

    low: float
    high: float
    title: str
    whole: bool = False


# What has nothing to do with the base has a probability of 0.05, what lies on its cutoff one of 0.6: no parameter
# makes an assistant answer from what is nearer to the first.
MIN_THRESHOLD = 0.4
RANGES: Mapping[str, Range] = {
    "vector_top_k": Range(5, 100, "向量召回条数", whole=True),
    "bm25_top_k": Range(5, 100, "关键词召回条数", whole=True),
    "rrf_k": Range(1, 200, "融合常数 k", whole=True),
    "rrf_vector_weight": Range(0, 1, "向量召回的权重"),
    "rrf_keyword_weight": Range(0, 1, "关键词召回的权重"),
    "rerank_top_k": Range(1, 20, "重排后保留的条数", whole=True),
    "rerank_candidates": Range(5, 100, "交叉编码器最多看的候选数", whole=True),
    "similarity_threshold": Range(MIN_THRESHOLD, 0.95, "回答门槛"),
    "confident_threshold": Range(MIN_THRESHOLD, 0.99, "把握门槛"),
    "clarify_threshold": Range(0.2, 0.95, "反问门槛"),
    "min_surviving_chunks": Range(1, 5, "至少几个片段过门槛", whole=True),
    "page_boost": Range(0, 0.5, "所在页面的加分"),
    "hot_cache_max_size": Range(0, 1_000_000, "热点回答缓存的条数", whole=True),
    "hot_cache_ttl": Range(1, 86_400, "热点回答缓存的秒数"),
    "retrieval_cache_max_size": Range(0, 20_000, "检索缓存的条数", whole=True),
    "retrieval_cache_ttl": Range(0, 86_400, "检索缓存的秒数"),
}


def read_values(settings: Settings) -> dict[str, float]:
    """Returns the parameters as settings have them; those of the process are the defaults of its tenants."""
    return {name: getattr(settings, name) for name in RANGES}


def find_range(name: str, settings: Settings) -> Range:
    """Returns the range of a parameter in this process: the size of the cache that all tenants share is a limit."""
    found = RANGES[name]
    if name == "hot_cache_max_size":
        return Range(found.low, settings.hot_cache_max_size, found.title, whole=True)
    return found


def check_values(values: Values, settings: Settings) -> dict[str, float]:
    """Checks values against their ranges.

    Returns:
        The values, counts as whole numbers.

    Raises:
        InvalidRequest: An unknown name, or a value out of range.
        Conflict: A value beyond what this installation allows.
    """
    accepted: dict[str, float] = {}
    for name, value in values.items():
        if name not in RANGES:
            message = f"没有名为 {name} 的参数，可调的有：{'、'.join(RANGES)}"
            raise InvalidRequest(message, code="unknown_parameter", name=name)
        allowed = RANGES[name]
        if not allowed.low <= value <= allowed.high or (allowed.whole and value != int(value)):
            kind = "整数" if allowed.whole else "数"
            message = f"{allowed.title}（{name}）须为 {allowed.low:g} 到 {allowed.high:g} 之间的{kind}，现为 {value:g}"
            raise InvalidRequest(message, code="parameter_out_of_range", name=name, low=allowed.low, high=allowed.high)
        if value > find_range(name, settings).high:
            most = find_range(name, settings).high
            message = f"{allowed.title}（{name}）在这个安装里最多为 {most:g}，现为 {value:g}"
            raise Conflict(message, code="above_installation", name=name, most=most)
        accepted[name] = int(value) if allowed.whole else float(value)
    return accepted


def apply_overrides(settings: Settings, overrides: Values) -> Settings:
    """Returns the settings with a tenant's own values; names of another release are ignored."""
    return settings.model_copy(update={name: value for name, value in overrides.items() if name in RANGES})


def require_consistent(settings: Settings) -> Settings:
    """Returns the settings unchanged. Raises Conflict where they contradict each other."""
    if settings.rrf_vector_weight + settings.rrf_keyword_weight <= 0:
        raise Conflict("向量与关键词召回的权重不能同时为 0", code="weights_are_zero")
    if not settings.clarify_threshold <= settings.similarity_threshold <= settings.confident_threshold:
        raise Conflict(
            "须满足：反问门槛 ≤ 回答门槛 ≤ 把握门槛，"
            f"现为 {settings.clarify_threshold:g}、{settings.similarity_threshold:g}、{settings.confident_threshold:g}",
            code="thresholds_out_of_order",
        )
    return settings
