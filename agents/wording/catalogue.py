"""All sentences that the product says by itself: `zh.yaml`, and `en.yaml` with the same keys.

Frequent sentences have several variants. The seed alone decides which one is said, so that a cache or another process
can repeat a reply.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache

from knowledge.yaml_files import load_shipped_yaml

LANGUAGES = ("zh", "en")


def say(sentence: str, english: bool, *, seed: str = "", **values: object) -> str:
    """Returns a sentence of the product with values filled in.

    Args:
        sentence: Its key in the catalogue.
        english: The language, English or Chinese.
        seed: Chooses among several variants of the sentence; the same seed always chooses the same one.
        values: What its placeholders stand for.

    Raises:
        KeyError: The catalogue has no such sentence, or a placeholder has no value.
    """
    variants = load_catalogue(LANGUAGES[english])[sentence]
    return variants[zlib.crc32(seed.encode(errors="replace")) % len(variants)].format(**values)


@cache
def load_catalogue(language: str) -> Mapping[str, tuple[str, ...]]:
    """Returns all sentences in one of LANGUAGES: key -> variants."""
    data = load_shipped_yaml("agents", f"wording/{language}.yaml")
    return {name: tuple(texts) if isinstance(texts, list) else (texts,) for name, texts in data.items()}
