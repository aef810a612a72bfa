"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.chat.hot_cache import HotCache
    from app.metrics import Metrics
    from app.performance.repository import UsageRepository
    from app.performance.repository_backlog import BacklogRepository
    from app.performance.repository_series import SeriesRepository
    from app.prompts.library import PromptLibrary
    from app.redis.news import News
    from app.redis.server import RedisServer
    from app.settings import Settings
    from app.tenants import Tenants
    from knowledge.stores.base import DenseRecall


class Parts(Protocol):
    """What these routes are served by."""

    backlog: BacklogRepository
    hot_cache: HotCache
    metrics: Metrics
    news: News | None
    prompt_library: PromptLibrary
    recalls: dict[str, Counter[DenseRecall]]
    redis: RedisServer | None
    series: SeriesRepository
    settings: Settings
    tenants: Tenants
    usage: UsageRepository


Wiring = Wired[Parts]
