"""Of a long message, what is read where reading costs more than a glance: its beginning and its end."""

from __future__ import annotations

MAX_READ_CHARS = 400
"""Questions about one's own data have 20 characters, and a story begins or ends with what is wanted. What decides on
safety, the guard, screening, emotion and personal data, reads every character.
"""


def is_whole(text: str) -> bool:
    """Whether `excerpt` leaves nothing out."""
    return len(text) <= MAX_READ_CHARS


def cut_excerpt(text: str) -> str:
    """The text, or the two halves of MAX_READ_CHARS of it that stand at its ends, on lines of their own."""
    half = MAX_READ_CHARS // 2
    return text if is_whole(text) else f"{text[:half]}\n{text[-half:]}"
