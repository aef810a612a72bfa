"""Puts the typos of an utterance right, once: what is rewritten is searched as it stands."""

from __future__ import annotations

from agents.understanding.facts import has_all_facts
from agents.understanding.utterance import RewriteKind, Utterance
from knowledge.spelling import BaseSpeller


async def correct_spelling(speller: BaseSpeller, utterance: Utterance) -> Utterance:
    """Returns the utterance with its typos corrected in a rewrite. The original is searched as well."""
    text = utterance.searched_text
    corrected = await correct_text(speller, text)
    return utterance if corrected == text else utterance.add_rewrite(corrected, RewriteKind.SPELLING)


async def correct_text(speller: BaseSpeller, text: str) -> str:
    """Returns the text with its typos corrected; as it is where a number would change."""
    corrected = (await speller.correct(text)).text
    return corrected if has_all_facts(text, corrected) else text
