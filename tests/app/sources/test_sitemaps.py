from __future__ import annotations

import pytest

from app.errors import FetchFailed
from app.sources import sitemaps
from app.sources.sitemaps import MAX_DEPTH, read_sitemap


def test_what_no_sitemap_holds_is_refused_before_it_costs_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_ELEMENTS", 100)
    nested = "<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH
    for inside in (nested, "<url/>" * 100, f"<url {'x' * 70_000}=''/>"):
        with pytest.raises(FetchFailed):
            read_sitemap(f"<urlset>{inside}</urlset>".encode())


def test_pictures_and_films_of_a_page_are_passed_over() -> None:
    page = "<url><loc> https://a.example/1 </loc><i><v><p><loc>https://a.example/x.png</loc></p></v></i></url>"
    assert read_sitemap(f"<urlset>{page * 3}</urlset>".encode()).pages == ("https://a.example/1",) * 3
