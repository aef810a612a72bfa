"""What is sent by the attacks of each subject: see payloads.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def load_payloads(subject: str) -> dict[str, Any]:
    """The payloads of one subject by kind."""
    payloads: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("payloads.yaml").read_text("utf-8"))[subject]
    return payloads
