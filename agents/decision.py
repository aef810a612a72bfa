"""Chooses the agents that serve a turn from their bids. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.bids import Bid, Rank
from agents.routing.types import Intent

# Below it nobody acts.
THRESHOLD = 0.5
# What nobody claims is looked up: it is answered, asked back about, or refused honestly.
LAST_RESORT = Intent.KNOWLEDGE_QA


@dataclass(frozen=True, slots=True)
class Decision:
    """`intents`: whose agents act, the one that speaks first at the front. `bids`: all bids, best first."""

    intents: tuple[str, ...]
    why: str
    bids: tuple[Bid, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the decision as traces show it."""
        return {
            "intents": list(map(str, self.intents)),
            "why": self.why,
            "bids": [bid.to_json() for bid in self.bids],
        }


def decide(bids: Iterable[Bid | None]) -> Decision:
    """Chooses the agent with the highest rank, and those of lower ranks that join it."""
    made = tuple(sorted((bid for bid in bids if bid is not None), key=lambda bid: (bid.rank, -bid.probability)))
    holding = [bid for bid in made if bid.probability >= THRESHOLD]
    if not holding:
        return Decision((LAST_RESORT,), "nobody claims it", made)
    first = holding[0]
    if first.alone:
        return _build_decision([first], made)
    beside = [bid for bid in holding[1:] if not bid.alone and (bid.joins or bid.rank <= max(first.rank, Rank.CLAIMS))]
    return _build_decision([first, *beside], made)


def _build_decision(chosen: Sequence[Bid], made: tuple[Bid, ...]) -> Decision:
    return Decision(tuple(bid.intent for bid in chosen), "; ".join(f"{bid.intent}: {bid.why}" for bid in chosen), made)
