from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import sync_playwright

from agents.registry import AGENTS
from agents.types import Outcome
from app.main import create_app
from app.settings import Settings, load_settings
from scripts import api_docs, openapi_text
from scripts.settings_docs import ENV_FILE, UNTRANSLATED, render_files
from tests.acceptance import LEFT
from tests.contracts.test_agents import agent_name
from tests.docs.guide import GUIDES
from tests.documents import (
    ADDRESS,
    ROOT,
    Command,
    blocks,
    commands,
    form,
    pages,
    read_page,
    read_without_blocks,
    relative_links,
    routes,
)
from tests.services import require_program

pytestmark = pytest.mark.xdist_group("docs")  # in one process, so that they start one server
# Files that the commands of the documents speak of.
PLACEHOLDERS = ("退货说明.md", "我的文档/说明.md", "my-documents/returns.md")
# Scripts that need a stopped server, or after which it would refuse the other commands, which have no key.
APART = ("scripts/keys.py", "scripts/reindex.py")
PACKAGES = Path("app/client/README.md"), Path("app/web/core/README.md")
# Code -> one of the pages that have it: translations share theirs.
PYTHON = {code: page for page in (*pages(), *PACKAGES) if (code := "\n".join(blocks(page, "python")))}
JAVASCRIPT = {code: page for page in (*pages(), *PACKAGES) if (code := "\n".join(blocks(page, "javascript")))}
PRODUCT = re.compile(r"^from (?:agents|app|knowledge)\b", re.MULTILINE)
# Words that a reader searches for, and a page that has to be among the first that the search finds.
SEARCHED = {
    "调高 门槛": "recipes/gate/",
    "企业微信 智能机器人": "channels/",
    "备份 恢复": "backup/",
    "平台用户 会员": "channels/",
    "回收站": "knowledge-base/",
}
FETCHED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


@dataclass(frozen=True, slots=True)
class Server:
    """A server of the product, where the documents' commands run."""

    address: str
    folder: Path
    environment: dict[str, str]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("documents")
    for name in PLACEHOLDERS:
        folder.joinpath(name).parent.mkdir(exist_ok=True)
        folder.joinpath(name).write_text("# 退货\n\n## 运费\n\n质量问题的退货运费由商家承担。\n", "utf-8")
    settings = {"EMBEDDER": "hash", "SAMPLES_ENABLED": "false", "PORT": "0", "DATA_DIR": str(folder / "data")}
    for name in ("knowledge", "tests"):
        folder.joinpath(name).symlink_to(ROOT / name)
    environment = os.environ | settings
    with subprocess.Popen(
        [sys.executable, "-m", "app"],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            started = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert started
            document = {"files": ("退换货.md", folder.joinpath(PLACEHOLDERS[0]).read_bytes())}
            url = f"{started.group()}/api/v1/knowledge/documents"
            httpx.post(url, files=document, data={"category": "退换货"}, timeout=60).raise_for_status()
            yield Server(started.group(), folder, environment)
        finally:
            process.send_signal(signal.SIGTERM)


def _blocks(found: dict[str, Path]) -> list[Any]:
    """Left to `make acceptance`: those of a translation, which differ by their words, and of those that only call the
    product, which has tests of its own and takes a second to import, all but the first.
    """
    cases, calling = list[Any](), 0
    for code, page in found.items():
        calls = PRODUCT.search(code) is not None and ADDRESS not in code
        left = page.name.endswith(".en.md") or (calls and calling > 0)
        calling += calls
        cases.append(pytest.param(code, marks=[LEFT] * left, id=str(page)))
    return cases


@pytest.mark.parametrize("code", _blocks(PYTHON))
def test_python_in_a_page_runs(code: str, tmp_path: Path, server: Server) -> None:
    code = code.replace(ADDRESS, server.address)
    places = os.pathsep.join([str(ROOT), str(ROOT / "app" / "client")])
    environment = os.environ | {"EMBEDDER": "hash", "PYTHONPATH": places}
    tmp_path.joinpath("data").symlink_to(server.folder / "data")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def frontend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has the npm package of this one."""
    require_program("node")
    folder = tmp_path_factory.mktemp("frontend")
    folder.joinpath("node_modules").mkdir()
    folder.joinpath("node_modules", "yingda-client").symlink_to(ROOT / "app" / "web" / "core")
    return folder


@pytest.mark.parametrize("code", _blocks(JAVASCRIPT))
def test_javascript_in_a_page_runs(code: str, server: Server, frontend: Path) -> None:
    """In Node, which has the browser's fetch and streams."""
    code = code.replace(ADDRESS, server.address)
    done = subprocess.run(
        ["node", "--input-type=module"], cwd=frontend, input=code, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


# Commands that measure for ten seconds and more; what they run has tests of its own, and one stands for them. The
# scripts of a translation, which are the same on other names, are left to `make acceptance` as well.
MEASURES = re.compile(
    r"scripts/(?:evaluate|benchmark|calibrate|attack)\.py(?! --routing tests/agents)|-m (?:tests|scripts)\."
)


def _commands() -> list[Any]:
    told, found = set[tuple[str, ...]](), list[Any]()
    for it in commands():
        repeats = form(it) in told or it.page.endswith(".en.md")
        measures = MEASURES.search(str(it)) is not None
        found.append(
            pytest.param(it, marks=[LEFT] * (measures or (repeats and ".venv/bin/python" in it.words)), id=str(it))
        )
        told.add(form(it))
    return found


@pytest.mark.parametrize("command", _commands())
def test_a_command_in_a_page_works(command: Command, server: Server) -> None:
    match command.words:
        case ["make", target]:
            run(["make", "-n", target], server, ROOT)
        case ["curl", *options]:
            answer = run(
                ["curl", "--fail-with-body", *(word.replace(ADDRESS, server.address) for word in options)], server
            )
            assert "error" not in answer.split('"')[:3]
        case [".venv/bin/python", script, *options] if script.startswith("scripts/"):
            options = [option.replace(ADDRESS, server.address) for option in options]
            if "--fail-under" in options:  # a figure that the hash embedder does not reach
                server = Server(server.address, server.folder, server.environment | {"EMBEDDER": "e5"})
            run([sys.executable, str(ROOT / script), *options], of_its_own(server) if script in APART else server)
        case [".venv/bin/python", "-m", module, *options] if module.startswith(("tests.", "scripts.")):
            run([sys.executable, "-m", module, *options], server, ROOT)
        case ["python", "-m", "venv", ".venv"] | [".venv/bin/python", "-m", "app"]:
            pass  # the server of these tests is one
        case [".venv/bin/python", "-m", "pip", "install", *_, "-r", requirements]:
            assert ROOT.joinpath(requirements).is_file()
        case _:
            pytest.fail(f"nothing here tries this command: {command.line}")


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """Address of a server of the files of a folder."""

    class Files(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=folder)) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/"
        site.shutdown()


def search_site(folder: Path) -> dict[str, list[str]]:
    """Query -> the pages that the site's own search finds in a browser, best first."""
    found = {}
    with served_folder(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-background-networking"]
        )
        for query in SEARCHED:
            page = browser.new_page()
            page.set_default_timeout(120_000)
            page.goto(address)
            page.locator("input.md-search__input").fill(query)
            links = page.locator("a.md-search-result__link")
            links.first.wait_for(state="attached")
            targets = [link.get_attribute("href") or "" for link in links.all()]
            pages = [target.removeprefix(address).partition("?")[0].partition("#")[0] for target in targets]
            found[query] = list(dict.fromkeys(pages))  # a page's sections stand below it
        browser.close()
    return found


def run(command: list[str], server: Server, folder: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder or server.folder,
        env=server.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def of_its_own(server: Server) -> Server:
    """For commands that go with another server."""
    return Server("", server.folder, server.environment | {"DATA_DIR": str(server.folder / "other")})


@pytest.mark.parametrize("page", pages(), ids=str)
def test_links_of_a_page_resolve(page: Path) -> None:
    missing = [target for target in relative_links(page) if not ROOT.joinpath(page.parent, target).exists()]
    assert missing == []


def test_every_page_has_an_english_sibling() -> None:
    chinese = {page for page in pages() if not page.name.endswith(".en.md")}
    assert {page.with_suffix(".en.md") for page in chinese} == set(pages()) - chinese


@pytest.mark.parametrize("page", [page for page in pages() if not page.name.endswith(".en.md")], ids=str)
def test_both_languages_have_the_same_sections_and_tables(page: Path) -> None:
    def count_parts(path: Path) -> tuple[int, int]:
        lines = read_without_blocks(path).splitlines()
        return sum(line.startswith("#") for line in lines), sum(line.startswith("|") for line in lines)

    assert count_parts(page) == count_parts(page.with_suffix(".en.md"))


@pytest.mark.parametrize("page", [Path("docs/api.md"), Path("docs/api.en.md")], ids=str)
def test_the_api_page_names_every_endpoint(page: Path) -> None:
    paths = create_app(Settings()).openapi()["paths"]
    served = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert routes(page) == served, f"give every endpoint a row in {page}"


@pytest.mark.parametrize("page", api_docs.GUIDES.values(), ids=str)
def test_the_api_page_names_every_outcome(page: Path) -> None:
    told = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", ROOT.joinpath(page).read_text("utf-8"), re.MULTILINE)
    assert [word for word in told if word in set(Outcome)] == list(Outcome)


@pytest.fixture(scope="module")
def reference() -> dict[Path, str]:
    return api_docs.render_files()


@pytest.mark.parametrize("page", api_docs.PAGES.values(), ids=str)
def test_the_api_reference_is_current(page: Path, reference: dict[Path, str]) -> None:
    assert ROOT.joinpath(page).read_text("utf-8") == reference[page], "run: make api-docs"
    assert openapi_text.UNTRANSLATED not in reference[page], "say it in docs/api.md or scripts/reference_words.yaml"


@pytest.mark.parametrize("page", [Path("docs/agents.md"), Path("docs/agents.en.md")], ids=str)
def test_the_page_on_agents_tells_which_agent_answers_which_intent(page: Path) -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", ROOT.joinpath(page).read_text("utf-8"), re.MULTILINE)
    assert rows == [(str(intent), agent_name(intent)) for intent in AGENTS]


@pytest.mark.parametrize("path", list(render_files()), ids=str)
def test_what_is_said_of_the_settings_is_current(path: Path) -> None:
    assert ROOT.joinpath(path).read_text("utf-8") == render_files()[path], "run: make settings-docs"
    assert UNTRANSLATED not in render_files()[path], f"translate the new setting in {path}"


def test_the_example_configuration_is_that_of_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [re.sub(r"^# (?=[A-Z0-9_]+=)", "", line) for line in render_files()[ENV_FILE].splitlines()]
    tmp_path.joinpath(".env").write_text("\n".join(lines), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert sum("=" in line and not line.startswith("#") for line in lines) == len(Settings.model_fields)
    assert load_settings() == Settings(_env_file=None)


def test_the_menu_of_the_site_leads_to_every_page_in_three_clicks() -> None:
    """A tab, a section of it and the page: each level is indented by four more."""
    text = ROOT.joinpath("mkdocs.yml").read_text("utf-8")
    named = re.findall(r"^( +)- .+: (\S+\.md)$", text, re.MULTILINE)
    folder = ROOT / "docs"
    there = {page.relative_to(folder).as_posix() for page in folder.rglob("*.md") if not page.name.endswith(".en.md")}
    assert sorted(name for _, name in named) == sorted(there)
    assert max(len(indent) for indent, _ in named) <= 10


def test_the_menu_of_the_site_is_translated() -> None:
    text = ROOT.joinpath("mkdocs.yml").read_text("utf-8")
    menu = set(
        re.findall(r"^ +- ([^:\n]+):", text[text.index("\nnav:") : text.index("\nmarkdown_extensions:")], re.MULTILINE)
    )
    translated = set(re.findall(r"^ {12}([^:\n]+): \S", text, re.MULTILINE))
    assert {label for label in menu if not label.isascii()} == {label for label in translated if not label.isascii()}


def read_json(code: str) -> list[Any]:
    """The one object of a block, or that of each of its lines. Raises ValueError."""
    try:
        return [json.loads(code)]
    except ValueError:
        return [json.loads(line) for line in code.splitlines()]


FENCE = re.compile(r"^( *<!-- not run: .+ -->\n)? *```(\w*)( title=)?[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# By the tests above.
RUN = "bash", "python", "javascript"
# What gives them to somebody else is at least of the language that it says; diagrams are drawn with the site.
READ: Mapping[str, Callable[[str], object]] = {"json": read_json, "yaml": yaml.safe_load, "mermaid": str.strip}


@pytest.mark.parametrize("page", pages(), ids=str)
def test_every_block_of_a_page_is_run_or_says_why_not(page: Path) -> None:
    """Commands and code run above; settings must exist; whatever else stands in a block has its reason before it.
    Blocks
    with a title are files, which are written by who follows the guide for developers, as its own tests do.
    """
    fences = FENCE.findall(read_page(page))
    if page in GUIDES:
        fences = [fence for fence in fences if not fence[2]]
    unsaid = [
        code
        for reason, language, title, code in fences
        if not reason and (language not in (*RUN, *READ, "ini") or (title and language in RUN))
    ]
    assert unsaid == []
    for reason, language, _, code in fences:
        if not reason and language in READ:
            READ[language](code)
    settings = (line.strip() for _, language, _, code in fences if language == "ini" for line in code.splitlines())
    named = {line.partition("=")[0].lower() for line in settings if line and not line.startswith("#")}
    assert named <= Settings.model_fields.keys()


@LEFT
def test_the_site_builds_strictly_in_both_languages_and_fetches_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    html = {path.relative_to(tmp_path).as_posix(): path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    assert {"index.html", "en/index.html", "rag/index.html", "en/rag/index.html"} <= html.keys()
    assert {name: found for name, text in html.items() if (found := FETCHED.findall(text))} == {}
    require_program("chromium")
    results = search_site(tmp_path)
    assert {query: page for query, page in SEARCHED.items() if page not in results[query][:5]} == {}
