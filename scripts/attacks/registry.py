"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import parsers
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "parsers": parsers.attack,
}
