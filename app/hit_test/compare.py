"""What drafts would change of the answer to a question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.hit_test.trial import Tried
from knowledge.types import Candidate, GateVerdict

_STANDING = {GateVerdict.REFUSE: 0, GateVerdict.CLARIFY: 1, GateVerdict.PASS: 2}


class Effect(StrEnum):
    """What became of a question. CHANGED: it is answered as before, from something else."""

    IMPROVED = "improved"
    LOST = "lost"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """What a question finds: the verdict, and its best candidate."""

    verdict: GateVerdict
    best: Candidate | None

    @property
    def rests_on(self) -> tuple[str, str]:
        """The document and the words: ids of pieces are others in every version."""
        return (self.best.chunk.document.id, self.best.chunk.indexed_text) if self.best else ("", "")


@dataclass(frozen=True, slots=True)
class Compared:
    """A question without the drafts and with them."""

    question: str
    effect: Effect
    before: ComparedSide
    after: ComparedSide


def compared(live: Tried, tried: Tried) -> Compared:
    """By the gate first; what is not found either way stays the same, whatever came nearest."""
    before, after = (ComparedSide(one.found.verdict, next(iter(one.found.candidates), None)) for one in (live, tried))
    gain = _STANDING[after.verdict] - _STANDING[before.verdict]
    if gain:
        effect = Effect.IMPROVED if gain > 0 else Effect.LOST
    elif after.verdict is not GateVerdict.REFUSE and before.rests_on != after.rests_on:
        effect = Effect.CHANGED
    else:
        effect = Effect.SAME
    return Compared(live.text, effect, before, after)
