"""A real server and a real browser, shared by the tests of the pages.

Files of this folder run on one worker (`xdist_group("browser")`), so that both are started once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.console import LIGHT
from tests.browser.serving import serving
from tests.browser.shop import Shop, open_shop
from tests.services import require_program

CHROMIUM = "/usr/bin/chromium"
HERE = Path(__file__).parent
expect.set_options(timeout=60_000)  # tests may share their two cores with many others


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    require_program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server with the sample knowledge base, for this machine alone, without keys."""
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture(scope="package")
def source_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder from which sources of `light` may be read."""
    return tmp_path_factory.mktemp("rules")


@pytest.fixture(scope="package")
def light(tmp_path_factory: pytest.TempPathFactory, source_root: Path) -> Iterator[str]:
    """Address of a server that knows no documents but those of the tests before, for what is not about retrieval."""
    roots = json.dumps({"default": str(source_root)})
    with serving(tmp_path_factory.mktemp("light"), **LIGHT | {"SOURCE_ROOTS": roots}) as address:
        yield address


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A server with keys and a scripted model, and a site on another origin."""
    with open_shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A visitor of their own, Chinese, at a desk; fails the test for anything that the page throws."""
    context = browser.new_context(locale="zh-CN", reduced_motion="reduce", viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    thrown: list[str] = []
    context.on("weberror", lambda error: thrown.append(str(error.error)))
    context.on("console", lambda line: thrown.append(line.text) if "Content Security Policy" in line.text else None)
    yield context
    context.close()
    assert thrown == []


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()
