from collections.abc import Iterator

import pytest

from tests.app.quick import quick_start
from tests.logs import logging_restored

__all__ = ["quick_start"]


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Commands direct the logging of their process, which here goes on with other tests."""
    with logging_restored():
        yield
