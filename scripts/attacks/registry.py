"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import durability
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {"durability": durability.attack}
