"""All parts by name, in their order."""

from __future__ import annotations

from scripts.integration import browser, clients, pages, replicas, restored, retries, uploads
from scripts.integration.base import Part

PARTS: dict[str, Part] = {
    "uploads": uploads.run,
    "clients": clients.run,
    "browser": browser.run,
    "retries": retries.run,
    "restored": restored.run,
    "replicas": replicas.run,
    "pages": pages.run,
}
