"""A tenant's own labelled questions, which refine the gate."""

from __future__ import annotations

import json
from pathlib import Path

from agents.understanding.normalise import normalise_text
from knowledge.calibration.calibrator import LabelledQuestion
from knowledge.errors import InvalidConfiguration


def load_calibration_set(path: Path) -> tuple[LabelledQuestion, ...]:
    """Reads JSON lines of `{"text", "answerable"}`; further keys are allowed. Raises InvalidConfiguration."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(f"CALIBRATION_SET={path} 读不了：{error}") from error
    return tuple(_parse_question(path, number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _parse_question(path: Path, number: int, line: str) -> LabelledQuestion:
    try:
        item = json.loads(line)
    except json.JSONDecodeError:
        item = None
    if isinstance(item, dict):
        text, answerable = item.get("text"), item.get("answerable")
        if isinstance(text, str) and text.strip() and isinstance(answerable, bool):
            return LabelledQuestion(normalise_text(text), answerable)
    raise InvalidConfiguration(
        f'CALIBRATION_SET={path} 第 {number} 行有误：须为 {{"text": "问题", "answerable": true 或 false}}'
    )
