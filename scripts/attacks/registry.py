"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import sessions
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "sessions": sessions.attack,
}
