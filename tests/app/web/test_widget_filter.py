from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[3] / "app/web/widget/page.js"
SCRIPT = """
import { documentFilter } from %s;
const [attributes, metas] = JSON.parse(process.argv[1]);
globalThis.document = { querySelector: (wanted) => metas[wanted] && { content: metas[wanted] } };
console.log(JSON.stringify(documentFilter(attributes) ?? null));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize(
    ("attributes", "metas", "expected"),
    [
        ({}, {}, None),
        ({"key": "yd-x", "page": "full", "products": " , "}, {}, None),
        ({"products": "LX-200, LX-300，"}, {}, {"products": ["LX-200", "LX-300"]}),
        ({"documents": "a1", "versions": "V2.2"}, {}, {"document_ids": ["a1"], "versions": ["V2.2"]}),
        ({}, {'meta[name="yingda:folders"]': "手册/北区"}, {"folders": ["手册/北区"]}),
        ({"folders": ""}, {'meta[name="yingda:folders"]': "手册"}, None),
        ({"tags": "vip"}, {'meta[name="yingda:categories"]': "售后"}, {"categories": ["售后"], "tags": ["vip"]}),
    ],
)
def test_attributes_and_the_page_name_the_documents(
    attributes: dict[str, str], metas: dict[str, str], expected: dict[str, Any] | None
) -> None:
    script = SCRIPT % json.dumps(PAGE.as_uri())
    command = ["node", "--input-type=module", "-e", script, json.dumps([attributes, metas])]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout) == expected
