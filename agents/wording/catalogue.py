"""All sentences that the product says by itself: `zh.yaml`, and `en.yaml` with the same keys.

Frequent sentences have several variants. The seed alone decides which one is said, so that a cache or another process
can repeat a reply.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from knowledge.yaml_files import load_yaml

LANGUAGES = ("zh", "en")


def say(key: str, english: bool, *, seed: str = "", **values: object) -> str:
    """Returns the sentence of a key with its values filled in. seed: chooses among variants, the first one without.

    Raises KeyError for a key or a value that is missing.
    """
    variants = load_catalogue(LANGUAGES[english])[key]
    return variants[zlib.crc32(seed.encode(errors="replace")) % len(variants)].format(**values)


@cache
def load_catalogue(language: str) -> Mapping[str, tuple[str, ...]]:
    """Returns key -> variants, of one of LANGUAGES."""
    data = load_yaml((files("agents") / "wording" / f"{language}.yaml").read_text(encoding="utf-8"))
    return {key: tuple(said) if isinstance(said, list) else (said,) for key, said in data.items()}
