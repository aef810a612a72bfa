"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import bodies, connections, origins, sockets
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "bodies": bodies.attack,
    "connections": connections.attack,
    "origins": origins.attack,
    "sockets": sockets.attack,
}
