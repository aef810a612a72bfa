"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import at_rest, durability, erasure
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "at_rest": at_rest.attack,
    "durability": durability.attack,
    "erasure": erasure.attack,
}
