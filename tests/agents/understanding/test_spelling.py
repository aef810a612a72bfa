from __future__ import annotations

from agents.understanding.spelling import correct_spelling
from agents.understanding.utterance import Rewrite, RewriteKind, Utterance
from knowledge.spelling import BaseSpeller, Correction


class FixedSpeller(BaseSpeller):
    """Corrects what it was given."""

    def __init__(self, **corrections: str) -> None:
        self._corrections = corrections

    async def correct(self, text: str, snapshot: object = None) -> Correction:
        return Correction(self._corrections.get(text, text))


async def test_a_typo_is_corrected_beside_the_original() -> None:
    corrected = await correct_spelling(FixedSpeller(怎么退宽="怎么退款"), Utterance("亲，怎么退宽"))
    assert corrected.original == "亲，怎么退宽"
    assert corrected.rewrites == (Rewrite("怎么退款", RewriteKind.SPELLING),)


async def test_what_the_conversation_made_of_it_is_corrected() -> None:
    chosen = Utterance("第二个").add_rewrite("怎么退宽", RewriteKind.CHOICE)
    assert (await correct_spelling(FixedSpeller(怎么退宽="怎么退款"), chosen)).rewrite == "怎么退款"


async def test_no_correction_loses_a_number_and_none_is_no_rewrite() -> None:
    speller = FixedSpeller(第3天退="第二天退")
    assert (await correct_spelling(speller, Utterance("第3天退"))).rewrite is None
    assert (await correct_spelling(speller, Utterance("怎么退款"))).rewrites == ()
