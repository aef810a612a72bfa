"""Measures how long a text is in tokens: estimated without a model, or counted by an embedder's own tokenizer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Protocol

_SYMBOL = re.compile(r"[A-Za-z0-9]{1,3}|\S")


class TokenMeasure(Protocol):
    """Measures texts in units of its own, which can be added up."""

    def count_units(self, text: str) -> int:
        """Returns the size of a text in units."""

    def find_unit_starts(self, text: str) -> list[int]:
        """Returns the places in a text where its units begin."""

    def convert_tokens(self, tokens: int) -> int:
        """Returns how many units fit into a number of tokens."""


class EstimatedTokens:
    """In symbols: a CJK character, up to 3 characters of a run of ASCII letters and digits, or another visible
    character; white space is free. Three tokens for every four symbols. Rounded tokens would not add up.

    Within 7 % of what multilingual-e5's tokenizer counts on encyclopaedic and on technical Chinese (74,230 and 29,346
    tokens in 400 texts). Never grows by joining.
    """

    def count_units(self, text: str) -> int:
        return _SYMBOL.subn("", text)[1]  # a loop in Python took three times as long

    def find_unit_starts(self, text: str) -> list[int]:
        return [match.start() for match in _SYMBOL.finditer(text)]

    def convert_tokens(self, tokens: int) -> int:
        return 4 * tokens // 3


class TokenizerTokens:
    """Counts tokens with a tokenizer.json of Hugging Face, without the special tokens around a text."""

    def __init__(self, file: str) -> None:
        """Raises whatever a file that is no tokenizer raises."""
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(file)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count_units(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def find_unit_starts(self, text: str) -> list[int]:
        return [start for start, _ in self._tokenizer.encode(text, add_special_tokens=False).offsets]

    def convert_tokens(self, tokens: int) -> int:
        return tokens


ESTIMATED = EstimatedTokens()


@lru_cache(maxsize=4)
def measure_by(file: str) -> TokenMeasure:
    """Returns the measure of a tokenizer.json, or the estimate if `file` is empty."""
    return TokenizerTokens(file) if file else ESTIMATED
