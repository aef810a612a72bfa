"""robots.txt (RFC 9309): what a site allows us, how fast, and which sitemaps it has."""

from __future__ import annotations

import re

from protego import Protego

from app.errors import FetchFailed
from app.net.fetcher import AGENT

# Seconds between two pages; whoever asks for more wants no visitors, and would hold up all other sources.
SLOWEST = 300.0
_AGENT_LINE = re.compile(r"(\s*user(?:-|\s+)?agent(?:\s*:\s*|\s+))([^\s#][^#]*)", re.IGNORECASE)
_OTHER = "-"


def read_robots(text: str) -> Protego:
    """Blocking. All that is said to others counts as said to one: rules are kept once for each name, and a file of
    thousands of both would take gigabytes.
    """
    return Protego.parse("\n".join(_AGENT_LINE.sub(_rewrite_agent, line, count=1) for line in text.splitlines()))


def compute_pause(robots: Protego) -> float:
    """Seconds that it asks for between two requests. Raises FetchFailed where that is beyond reason."""
    rate = robots.request_rate(AGENT)
    asked = max(robots.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0)
    if asked > SLOWEST:
        raise FetchFailed(f"网站的 robots.txt 要求每 {asked:g} 秒才取一页，太慢", code="robots_too_slow")
    return asked


def _rewrite_agent(line: re.Match[str]) -> str:
    name = line[2].strip().lower()
    ours = name == "*" or AGENT.lower().startswith(name.replace("*", "") or _OTHER)
    return line[1] + (name if name == "*" else name.replace("*", "") if ours else _OTHER)
