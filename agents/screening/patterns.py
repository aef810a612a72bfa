"""Patterns of orders to a language model, from `orders.yaml`.

Messages are matched in the forms of `agents.screening.views`, sentences of documents in `agents.passages.quotable`;
both are half width, Simplified and lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agents.screening.types import Reason, Signature
from knowledge.yaml_files import load_shipped_yaml

_DATA = load_shipped_yaml("agents.screening", "orders.yaml")
PARTS: dict[str, str] = _DATA["parts"]
_PART = re.compile(r"\$\{(\w+)\}")


def _compile_pattern(source: str) -> re.Pattern[str]:
    return re.compile(_PART.sub(lambda match: PARTS[match[1]], source))


# In this order they are features of the heads.
SIGNATURES = tuple(
    Signature(each["name"], Reason(each["reason"]), each["certain"], tuple(map(_compile_pattern, each["all_of"])))
    for each in _DATA["messages"]
)
CERTAIN = tuple(each for each in SIGNATURES if each.certain)

TO_MODEL = tuple(_compile_pattern(source) for group in _DATA["documents"]["to_model"].values() for source in group)
# Orders about the customer, who is spoken of and not spoken to.
ABOUT_CUSTOMER = tuple(map(_compile_pattern, _DATA["documents"]["about_customer"]))
# 客服告知用户…: the record of a case tells what a person did, it orders nothing.
CASE_RECORD = _compile_pattern(_DATA["documents"]["case_record"])


def find_certain(views: Iterable[str]) -> Signature | None:
    """Returns the first certain signature found in any form of a message."""
    return next((each for view in views for each in CERTAIN if each.is_found_in(view)), None)
