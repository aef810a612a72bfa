"""Shortens a long message to its beginning and end, for steps whose cost grows with its length."""

from __future__ import annotations

# Questions about one's own data have 20 characters, and a story begins or ends with what is wanted. What decides on
# safety, the guard, screening, emotion and personal data, reads every character.
MAX_READ_CHARS = 400


def is_whole(text: str) -> bool:
    """Whether `cut_excerpt` leaves nothing out."""
    return len(text) <= MAX_READ_CHARS


def cut_excerpt(text: str) -> str:
    """Returns the text, or the first and the last half of MAX_READ_CHARS of it on separate lines."""
    half = MAX_READ_CHARS // 2
    return text if is_whole(text) else f"{text[:half]}\n{text[-half:]}"
