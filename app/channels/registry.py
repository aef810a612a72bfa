"""The channels by their kind; a new one is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.channels.base import Channel


def _webhook() -> type[Channel]:
    from app.channels.webhook import WebhookChannel

    return WebhookChannel


CHANNELS: Mapping[str, Callable[[], type[Channel]]] = {
    "webhook": _webhook,
}
"""Kind, as in the setting CHANNELS -> loads its class."""
