"""Whose fault an error is that came out of a parser: the file's, which a library did not like, or ours."""

from __future__ import annotations

import traceback
from pathlib import Path

_MISTAKES = (LookupError, TypeError, AttributeError, AssertionError, NameError, ArithmeticError, NotImplementedError)
"""What a program raises by mistake; a broken file makes libraries raise them too, in their own code."""
_OURS = Path(__file__).resolve().parents[1]
_MOST_FRAMES = 12


def is_fault(error: BaseException) -> bool:
    """Whether a mistake was made in this package: its own line raised the error, and no library below it."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, _MISTAKES) and bool(frames) and Path(frames[-1].filename).is_relative_to(_OURS)


def list_frames(error: BaseException) -> tuple[str, ...]:
    """Where it was raised, the innermost place last, then its kind. Its message may quote the file and is not told."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    places = (f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return (*places, type(error).__name__)
