"""Everything that the product says to a customer by itself: `zh.yaml`, and `en.yaml` with the same keys.

What customers meet often has several variants. Which one is said depends on the seed alone, so that a reply can be
told again, by a cache or by another process.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from knowledge.yaml_files import load_yaml

LANGUAGES = ("zh", "en")


def say(key: str, english: bool, *, seed: str = "", **values: object) -> str:
    """The sentence of a key with its values in place; seed: what chooses among variants, the first one without.

    Raises KeyError for a key or a value that is missing.
    """
    variants = load_catalogue(LANGUAGES[english])[key]
    return variants[zlib.crc32(seed.encode(errors="replace")) % len(variants)].format(**values)


@cache
def load_catalogue(language: str) -> Mapping[str, tuple[str, ...]]:
    """Key -> variants, of one of LANGUAGES."""
    data = load_yaml((files("agents") / "wording" / f"{language}.yaml").read_text(encoding="utf-8"))
    return {key: tuple(said) if isinstance(said, list) else (said,) for key, said in data.items()}
