"""All parts by name, in their order."""

from __future__ import annotations

from scripts.integration import uploads
from scripts.integration.base import Part

PARTS: dict[str, Part] = {
    "uploads": uploads.run,
}
