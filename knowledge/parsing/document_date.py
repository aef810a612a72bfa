"""Finds the date that a document states about itself: in its front matter, or in a line such as
更新日期：2026-03-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from knowledge.blocks import Block

MAX_LINE_CHARS = 40
_DAY = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})")
_LABEL = re.compile(
    r"[（(【\[*]*(?:文档|本(?:规定|规则|政策|办法|协议|文))?(?:最后|最近|上次)?(?:更新|修订|修改|发布|公布|生效|施行|实施|制定)(?:日期|时间|日|于)?\s*[:：]?"
    r"|本\w{2,6}自(?=\s*\d)|(?:last )?(?:updated|revised|modified|published|effective)(?: date)?(?: on)?\s*:?",
    re.IGNORECASE,
)


def read_day(text: str) -> str:
    """Reads the day that a text begins with, as 2026-03-01; empty if there is none."""
    found = _DAY.match(text.strip())
    try:
        return "" if found is None else date(*map(int, found.groups())).isoformat()
    except ValueError:
        return ""


def find_day(blocks: Iterable[Block]) -> str:
    """Returns the latest day in the short lines that say when the document was written or since when it applies."""
    found = ""
    for block in blocks:
        for line in block.text.split("\n") if len(block.text) <= 4 * MAX_LINE_CHARS else ():
            label = _LABEL.match(line.strip()) if len(line) <= MAX_LINE_CHARS else None
            if label:
                found = max(found, read_day(line.strip()[label.end() :]))
    return found
