"""Every page opens without an error."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from app.web.api import PAGES


@pytest.mark.parametrize("address", PAGES)
def test_it_opens(address: str, server: str, page: Page) -> None:
    page.goto(server + address)
    expect(page.locator("h1").first).to_be_visible()
