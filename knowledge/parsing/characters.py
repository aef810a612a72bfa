"""Characters that readers do not see but models read."""

from __future__ import annotations

import re

from knowledge.text import clean

# Soft hyphens, fillers, tags, variation selectors (one of an emoji stays): text can be smuggled in each of them.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065-\u206f\u3164\ufe00-\ufe0e\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|\ufe0f(?=\ufe0f)"
)


def remove_unseen(text: str) -> str:
    """Cleans a text and removes characters that show nothing."""
    text = clean(text)
    return text if text.isascii() else _UNSEEN.sub("", text)
