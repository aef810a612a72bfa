"""Work of the background that is tried again until it succeeds."""

from __future__ import annotations

from loguru import logger
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential


def retry(
    told: str, seconds: float, *, most: float | None = None, on: type[Exception] = Exception, **bound: object
) -> AsyncRetrying:
    """`async for attempt in retrying(…): with attempt: …` runs the body until it does not fail, or not with `on`.

    told: what the log says of a failure, with `bound`. seconds: before the second attempt, twice as many before each
    next one up to `most`, always as many without.
    """

    def tell(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        logger.bind(**bound).opt(exception=error).warning("{}, trying again", told)

    wait = wait_exponential(multiplier=seconds, max=most or seconds)
    return AsyncRetrying(wait=wait, retry=retry_if_exception_type(on), before_sleep=tell, reraise=True)
