"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import (
    addresses,
    at_rest,
    bodies,
    company_tools,
    connections,
    durability,
    embedder,
    erasure,
    invisible,
    lengthy,
    limits,
    origins,
    outgoing,
    parsers,
    sessions,
    sockets,
    tools,
)
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "addresses": addresses.attack,
    "at_rest": at_rest.attack,
    "bodies": bodies.attack,
    "company tools": company_tools.attack,
    "connections": connections.attack,
    "durability": durability.attack,
    "embedder": embedder.attack,
    "erasure": erasure.attack,
    "invisible text": invisible.attack,
    "limits": limits.attack,
    "long_messages": lengthy.attack,
    "origins": origins.attack,
    "outgoing": outgoing.attack,
    "parsers": parsers.attack,
    "sessions": sessions.attack,
    "sockets": sockets.attack,
    "tools": tools.attack,
}
