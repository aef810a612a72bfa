"""Conversations about documents of others, where a folder of them is laid: `NAME/` with documents, `NAME.jsonl`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from scripts.evaluate import main

CORPORA = sorted(Path(os.environ.get("CORPUS_DIR") or "/nowhere").glob("*.jsonl"))
# Of four products at first sight .43 to .70 of the turns were right and .09 to .39 false.
ACCURACY, FALSE_ANSWERS = 0.5, 0.3

pytestmark = [pytest.mark.acceptance(only=True), pytest.mark.timeout(1800)]


@pytest.mark.skipif(not CORPORA, reason="no CORPUS_DIR with conversations")
@pytest.mark.parametrize("conversations", CORPORA, ids=lambda path: path.stem)
def test_documents_of_others_are_answered_as_well_as_before(
    conversations: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    report = tmp_path / "report.json"
    documents = conversations.with_suffix("")
    assert main(["--dialogues", str(conversations), "--docs", str(documents), "--json", str(report)]) == 0
    figures = json.loads(report.read_text("utf-8"))
    assert figures["accuracy"] >= ACCURACY, figures
    assert figures["false_answers"] <= FALSE_ANSWERS, figures
