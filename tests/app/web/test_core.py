"""The widget's core as an npm package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from app import __version__
from scripts.widget_types import CORE, TYPES, build_banner, build_document
from tests.services import require_program


def evaluate_in_node(code: str, folder: Path = CORE) -> Any:
    """What a module prints that is run in a folder, as JSON."""
    require_program("node")
    done = subprocess.run(["node", "--input-type=module"], cwd=folder, input=code, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm here")
def test_the_package_holds_its_modules_and_types_and_works(tmp_path: Path) -> None:
    command = ["npm", "pack", "--json", str(CORE)]
    [package] = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert package["version"] == __version__
    assert {file["path"] for file in package["files"]} == {
        *("README.md", "package.json", "index.js", "index.d.ts", "schemas.d.ts"),
        *("api.js", "conversation.js", "line.js", "proof.js", "turn.js"),
    }
    with tarfile.open(tmp_path / package["filename"]) as files:
        files.extractall(tmp_path / "node_modules", filter="data")
    tmp_path.joinpath("node_modules", "package").rename(tmp_path / "node_modules" / "yingda-client")
    code = 'import * as given from "yingda-client"; console.log(JSON.stringify(Object.keys(given)));'
    assert evaluate_in_node(code, tmp_path) == ["ApiError", "Conversation", "client", "events"]


def test_the_types_are_those_of_the_interface() -> None:
    first = TYPES.read_text("utf-8").partition("\n")[0]
    assert first == build_banner(build_document()), "run: make widget"


def test_what_the_types_declare_is_there() -> None:
    [methods] = re.findall(
        r"^export class Conversation \{(.*?)^\}", CORE.joinpath("index.d.ts").read_text(), re.M | re.S
    )
    declared = set(re.findall(r"^  (\w+)\(", methods, re.MULTILINE))
    there = evaluate_in_node(
        'import { Conversation } from "./index.js";'
        "console.log(JSON.stringify(Object.getOwnPropertyNames(Conversation.prototype)));"
    )
    assert len(declared) > 10
    assert declared - set(there) == set()


def test_conversations_of_one_process_know_nothing_of_each_other() -> None:
    """As on a server, where each may be another customer's."""
    found = evaluate_in_node(
        'import { Proof } from "./proof.js";'
        'const make = () => new Proof({ own: false, name: "shop", userToken: () => "" });'
        'const first = make(); first.id = "s1"; first.keep("secret");'
        "console.log(JSON.stringify([first.kept, make().kept, await make().resume()]));"
    )
    assert found == [True, False, ""]
