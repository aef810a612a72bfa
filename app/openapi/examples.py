"""An example of every body, kept in YAML beside this module; a test sends the requests and checks the responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("examples")


@dataclass(frozen=True, slots=True)
class BodyExample:
    """request: the body, None for none. responses: by status, or by media type where one status has several."""

    request: Any = None
    responses: Mapping[str, Any] = field(default_factory=dict)

    def get_response(self, status: str, media_type: str) -> Any:
        """Returns the example of a response's body, that of its media type before that of its status; None for none."""
        return self.responses.get(media_type, self.responses.get(status))


@cache
def load_examples() -> Mapping[str, BodyExample]:
    """Loads the examples of all operations: operation id -> example."""
    found: dict[str, BodyExample] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        for name, parts in yaml.safe_load(path.read_text("utf-8")).items():
            found[name] = BodyExample(parts.get("request"), parts.get("responses", {}))
    return found
