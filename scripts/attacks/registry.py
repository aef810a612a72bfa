"""All attacks by subject."""

from __future__ import annotations

from scripts.attacks import invisible, parsers
from scripts.attacks.base import Attack

ATTACKS: dict[str, Attack] = {
    "invisible text": invisible.attack,
    "parsers": parsers.attack,
}
