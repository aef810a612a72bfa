from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from knowledge.stores.chroma import ChromaStore
from knowledge.stores.chroma_files import find_damage
from knowledge.stores.registry import set_damaged_aside

# Chroma writes a graph at every thousandth row.
ROWS = 1100


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chroma") / "index"
    vectors = np.random.default_rng(0).normal(size=(ROWS, 8)).astype(np.float32)
    ChromaStore(folder, "t", "e", 8).upsert([str(number) for number in range(ROWS)], vectors, 1)
    return folder


@pytest.fixture
def index(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "index")


def test_what_is_whole_stays_where_it_is(index: Path) -> None:
    assert find_damage(index) == ""
    assert find_damage(index.with_name("none")) == ""
    set_damaged_aside("chroma", index)
    assert index.is_dir()


@pytest.mark.parametrize("name", ["header.bin", "data_level0.bin", "length.bin"])
def test_a_graph_that_was_cut_off_is_set_aside_before_native_code_reads_beyond_its_end(index: Path, name: str) -> None:
    (file,) = index.glob(f"*/{name}")
    assert file.stat().st_size
    os.truncate(file, file.stat().st_size // 2)
    assert find_damage(index) == f"{file.parent.name}: cut off"
    set_damaged_aside("chroma", index)
    assert not index.exists()


def test_a_graph_of_another_version_is_not_judged(index: Path) -> None:
    (header,) = index.glob("*/header.bin")
    header.write_bytes(b"\2" + header.read_bytes()[1:] + b"more")
    assert find_damage(index) == ""


def test_a_file_in_the_place_of_the_folder_is_damage(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("x")
    set_damaged_aside("chroma", tmp_path / "index")
    assert not (tmp_path / "index").exists()
