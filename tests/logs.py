"""Logging as it was before a test: what directs all lines of the process to the product's log would stay."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from loguru import logger

from app.logging import configure_logging


@contextmanager
def logging_restored() -> Iterator[None]:
    """Takes back what `configure_logging` changes: handlers and levels of the standard library, sinks of loguru."""
    loggers = [logging.root, *(logging.getLogger(name) for name in list(logging.root.manager.loggerDict))]
    before = [(each, each.handlers[:], each.level, each.propagate) for each in loggers]
    try:
        yield
    finally:
        logger.remove()
        for each, handlers, level, propagate in before:
            each.handlers[:], each.propagate = handlers, propagate
            each.setLevel(level)


@contextmanager
def product_log(level: str) -> Iterator[io.StringIO]:
    """Lines as the product writes them, those of libraries included."""
    stream = io.StringIO()
    with logging_restored():
        configure_logging(level, stream)
        yield stream
