"""What people think of a reply."""

from __future__ import annotations

from typing import Literal

Rating = Literal["up", "down"]
