"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import at_rest, durability, erasure
from scripts.attacks import bodies, connections, origins, sockets
from scripts.attacks import embedder
from scripts.attacks import invisible, parsers
from scripts.attacks import lengthy, outgoing
from scripts.attacks import sessions
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "at_rest": at_rest.attack,
    "bodies": bodies.attack,
    "connections": connections.attack,
    "durability": durability.attack,
    "embedder": embedder.attack,
    "erasure": erasure.attack,
    "invisible text": invisible.attack,
    "long_messages": lengthy.attack,
    "origins": origins.attack,
    "outgoing": outgoing.attack,
    "parsers": parsers.attack,
    "sessions": sessions.attack,
    "sockets": sockets.attack,
}
