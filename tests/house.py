"""The shape of the house in figures, to be laid beside those of an earlier tree: `python -m tests.house [FOLDER]`.

Lines count as they stand in the files, without migrations, of which every release adds some. A function is every `def`,
methods and inner ones among them, but for names like `__init__`. Its name begins with a verb where its first word is
one of `tests/house_words.yaml` and it is no property: `find` and `is_held` do, `from_row` and `found` do not. A bare
participle is a name of one word that says what was or is being done. A comment is a `#` for readers; what tools read
(`noqa`, `type:`, `fmt:`) is none.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import mean, median, quantiles

import yaml

from tests.architecture import LAYERS, Module, annotations_in_circles, package_cycles

WORDS_FILE = Path(__file__).with_name("house_words.yaml")
WORDS = {kind: frozenset(words) for kind, words in yaml.safe_load(WORDS_FILE.read_text("utf-8")).items()}
TOOLS = re.compile(r"#\s*(?:noqa|type:|fmt:|pragma|ruff:|!)")
MIGRATIONS = "app/db/migrations/versions/"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_modules(root: Path) -> dict[str, Module]:
    """The modules of a tree by dotted name, without migrations."""
    paths = (path for layer in LAYERS for path in sorted((root / layer).rglob("*.py")))
    found = (Module(path.relative_to(root).as_posix(), path.read_text("utf-8")) for path in paths)
    return {module.name: module for module in found if not module.path.startswith(MIGRATIONS)}


def list_functions(module: Module) -> Iterator[Function]:
    """Every function of a module but those that Python itself names."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function) and node.name.strip("_") and not node.name.startswith("__"):
            yield node


def split_name(function: Function) -> list[str]:
    """The words of a function's name."""
    return [word for word in function.name.split("_") if word]


def begins_with_verb(function: Function) -> bool:
    """Whether a function is named after what it does, not after what it gives."""
    is_property = any(ast.unparse(each).endswith("property") for each in function.decorator_list)
    return not is_property and split_name(function)[0] in WORDS["verbs"]


def is_participle(function: Function) -> bool:
    """Whether the name is one word that says what was or is being done, as `told` or `following`."""
    word, *more = split_name(function)
    if more or word in WORDS["nouns"]:
        return False
    return word in WORDS["participles"] or bool(re.search(r"[a-z]{2}(?:ed|ing)$", word))


def count_comments(module: Module) -> int:
    """The comments that a reader is meant to read."""
    tokens = tokenize.generate_tokens(io.StringIO(module.source).readline)
    return sum(token.type == tokenize.COMMENT and not TOOLS.match(token.string) for token in tokens)


def count_lines(module: Module) -> int:
    """Lines as they stand in the file."""
    return len(module.source.splitlines())


def measure(modules: Iterable[Module]) -> dict[str, float]:
    """The figures of some modules by name; shares are of functions, comments of a thousand lines."""
    modules = list(modules)
    functions = [function for module in modules for function in list_functions(module)]
    lengths = [(function.end_lineno or function.lineno) - function.lineno + 1 for function in functions]
    words = [len(split_name(function)) for function in functions]
    lines = sum(map(count_lines, modules))
    return {
        "lines": lines,
        "modules": len(modules),
        "median module": median(filter(None, map(count_lines, modules))),
        "functions": len(functions),
        "median function": median(lengths),
        "p90 function": quantiles(lengths, n=10)[-1],
        "words per name": mean(words),
        "verb first": mean(map(begins_with_verb, functions)),
        "one word": mean(count == 1 for count in words),
        "participle": mean(map(is_participle, functions)),
        "comments": 1000 * sum(map(count_comments, modules)) / lines,
    }


def describe(modules: Mapping[str, Module]) -> Iterator[str]:
    """The figures of a tree, line by line: layers side by side, the largest packages, imports and their circles."""
    layers = {layer: measure(one for one in modules.values() if one.layer == layer) for layer in LAYERS}
    layers["all"] = measure(modules.values())
    yield f"{'':16}" + "".join(f"{layer:>11}" for layer in layers)
    for name in layers["all"]:
        values = [figures[name] for figures in layers.values()]
        yield f"{name:16}" + "".join(f"{value:>11.2f}" if value % 1 else f"{value:>11.0f}" for value in values)
    sizes: Counter[str] = Counter()
    for module in modules.values():
        sizes[".".join(module.name.split(".")[:2])] += count_lines(module)
    yield "lines of the largest packages: " + ", ".join(f"{name} {lines}" for name, lines in sizes.most_common(25))
    alone = sum(len(module.imports & modules.keys() - module.needs) for module in modules.values())
    yield f"imports for annotations alone: {alone}"
    yield f"  of one package by another that leads back: {len(annotations_in_circles(modules))}"
    for title, whole in (("when loaded", False), ("with annotations", True)):
        sizes_of_circles = [len(rooms) for rooms in package_cycles(modules, annotations=whole)]
        yield f"packages in circles {title}: {sum(sizes_of_circles)} ({sizes_of_circles})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="root of the tree to be measured")
    sys.stdout.writelines(f"{line}\n" for line in describe(read_modules(parser.parse_args().folder)))
