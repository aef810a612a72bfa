"""Tells whose fault an error of a parser is: the file's, which a library rejected, or ours."""

from __future__ import annotations

import traceback
from pathlib import Path

# What a program raises by mistake; a broken file makes libraries raise them too, in their own code.
_MISTAKES = (LookupError, TypeError, AttributeError, AssertionError, NameError, ArithmeticError, NotImplementedError)
_OURS = Path(__file__).resolve().parents[1]
_MOST_FRAMES = 12


def is_fault(error: BaseException) -> bool:
    """Returns whether the error is a mistake in this package: its own line raised it, not a library below."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, _MISTAKES) and bool(frames) and Path(frames[-1].filename).is_relative_to(_OURS)


def list_frames(error: BaseException) -> tuple[str, ...]:
    """Lists where the error was raised, the innermost place last, then its kind. Its message may quote the file and
    is left out.
    """
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    places = (f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return (*places, type(error).__name__)
