"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import addresses, limits
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "addresses": addresses.attack,
    "limits": limits.attack,
}
