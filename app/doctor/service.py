"""All checks of a configuration, in the order in which they are told. None of them changes anything.

What the embedder and the language models answer is seen by asking them, so a check costs what one question costs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from app.doctor.access import check_access
from app.doctor.business import check_business
from app.doctor.database import check_database
from app.doctor.identity import check_identity
from app.doctor.models import check_embedder, check_language_models, check_reranker
from app.doctor.places import check_data_dir, check_disk, check_log_file
from app.doctor.prompts import check_prompts
from app.doctor.readers import check_readers
from app.doctor.servers import check_servers
from app.doctor.types import Diagnosis
from app.settings import Settings

Check = Callable[[Settings], Awaitable[Sequence[Diagnosis]]]
CHECKS: tuple[Check, ...] = (
    check_data_dir,
    check_disk,
    check_log_file,
    check_database,
    check_servers,
    check_identity,
    check_embedder,
    check_reranker,
    check_language_models,
    check_prompts,
    check_readers,
    check_business,
)


async def examine(settings: Settings, *, has_key: bool) -> AsyncIterator[Diagnosis]:
    """Yields the findings of all checks, one after the other, as they come. has_key: see `check_access`."""
    for finding in check_access(settings, has_key=has_key):
        yield finding
    for check in CHECKS:
        for finding in await check(settings):
            yield finding
