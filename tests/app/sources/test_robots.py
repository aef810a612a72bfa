from __future__ import annotations

import tracemalloc

import pytest

from app.errors import FetchFailed
from app.net.fetcher import AGENT
from app.sources.robots import compute_pause, read_robots

URL = "http://shop.example/a/b"


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /a", False),
        ("user-agent: Other\nUser-agent: *  # all\nDisallow: /a", False),
        ("User-agent: other\nDisallow: /a", True),
        ("User-agent: other\nDisallow: /a\nUser-agent: more\nDisallow: /", True),
        ("User-agent: *\nDisallow: /\nUser-agent: YINGDABOT\nAllow: /a", True),
        ("User agent yingdabot\nDisallow: /a", False),
        ("User-agent: other\nUser-agent: Yingda*\nDisallow: /a", False),
        ("User-agent: yingdabot2\nDisallow: /a", True),
    ],
)
def test_what_is_said_to_us_or_to_all_counts(text: str, allowed: bool) -> None:
    assert read_robots(text).can_fetch(URL, AGENT) is allowed


def test_rules_for_thousands_of_others_take_no_memory() -> None:
    agents = "\n".join(f"User-agent: bot{number}" for number in range(1500))
    tracemalloc.start()
    robots = read_robots(f"{agents}\n" + "Disallow: /x\n" * 1500 + "User-agent: *\nDisallow: /a")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * 2**20
    assert not robots.can_fetch(URL, AGENT)


def test_a_pace_beyond_reason_is_none() -> None:
    assert compute_pause(read_robots("")) == 0.0
    assert compute_pause(read_robots("User-agent: *\nCrawl-delay: 7\nRequest-rate: 1/1m")) == 60.0
    for said in ("Crawl-delay: 1e12", "Request-rate: 1/1d"):
        with pytest.raises(FetchFailed) as caught:
            compute_pause(read_robots(f"User-agent: *\n{said}"))
        assert caught.value.code == "robots_too_slow"
