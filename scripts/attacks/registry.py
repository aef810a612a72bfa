"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import embedder
from scripts.attacks import invisible, parsers
from scripts.attacks import lengthy, outgoing
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "embedder": embedder.attack,
    "invisible text": invisible.attack,
    "long_messages": lengthy.attack,
    "outgoing": outgoing.attack,
    "parsers": parsers.attack,
}
