"""The place of a text that a search found it by."""

from __future__ import annotations

from app.history.terms import build_phrases
from knowledge.text import fold

BEFORE, LENGTH = 30, 120


def find_excerpt(said: str, query: str) -> str:
    """Returns a part of a text around the first word that is searched for; its beginning if no word is found as
    written.
    """
    said = " ".join(said.split())
    folded = fold(said)
    whole = len(folded) == len(said)  # folding may lengthen a character, and then places differ
    places = [folded.find(phrase.replace(" ", "")) for phrase in build_phrases(query)] if whole else []
    start = max(min((place for place in places if place >= 0), default=0) - BEFORE, 0)
    end = start + LENGTH
    return ("…" if start else "") + said[start:end] + ("…" if end < len(said) else "")
