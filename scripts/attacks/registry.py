"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import embedder
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "embedder": embedder.attack,
}
