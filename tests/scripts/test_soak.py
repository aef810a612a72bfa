from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.soak import main
from tests.acceptance import part

TURNS = part(15, 600)


@pytest.mark.acceptance(only=True)
def test_a_short_soak_ends_well_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDDER", "hash")
    monkeypatch.setenv("VECTOR_STORE", "memory")
    assert main(["--turns", str(TURNS), "--seed", "3"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["turns"], report["lost"], report["wrong"]) == (TURNS, 0, [])
    assert report["statuses"] == {"200": TURNS}
    assert sum(report["outcomes"].values()) == TURNS
    assert len(report["llm_behaviours"]) > 3
