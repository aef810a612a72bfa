"""Server-sent events, line by line."""

from __future__ import annotations

import json
from typing import cast

from .types import ChatEvent


class EventReader:
    """Takes the lines of a stream and gives an event where one is complete; comments and unknown fields are skipped."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def read_line(self, line: str) -> ChatEvent | None:
        """line: without its end."""
        if line.startswith("data:"):
            self._data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and self._data:
            data, self._data = "\n".join(self._data), []
            return cast(ChatEvent, json.loads(data))
        return None
