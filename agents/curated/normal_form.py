"""The normal form of a wording: two wordings with the same form are the same."""

from __future__ import annotations

from collections.abc import Iterator

from agents.understanding.normalise import normalise_text
from knowledge.text import fold

# Between letters or digits they are part of what is named: 1.5, C++ and 9:30 are not 15, C and 930.
_JOINING = frozenset("./-:+#%")
_ENDING = frozenset("+#%")


def normalise_wording(text: str) -> str:
    """Returns the form without politeness, punctuation and white space, folded: 请问，怎么退货？ is 怎么退货.
    Linear.
    """
    folded = fold(normalise_text(text))
    return "".join(_keep_characters(folded))


def _keep_characters(text: str) -> Iterator[str]:
    last = ""  # of what was kept
    apart = False
    for index, character in enumerate(text):
        following = text[index + 1 : index + 2]
        if character.isalnum():
            if apart and last.isdigit() and character.isdigit():
                yield " "
            yield character
        elif character in _JOINING and _is_plain(last) and not apart and (_is_plain(following) or character in _ENDING):
            yield character
        else:
            apart = True
            continue
        last, apart = character, False


def _is_plain(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in _ENDING)
