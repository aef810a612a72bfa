"""jieba's search for the words that its dictionary lacks, in time linear in the text."""

from __future__ import annotations

from collections.abc import Mapping

_BEFORE = {"B": "ES", "M": "MB", "S": "SE", "E": "BM"}
"""States that may stand before each: of the beginning, middle and end of a word, or a word of one character."""
_NEVER = -3.14e100
"""jieba's logarithm of no chance."""


def likeliest(
    text: str,
    states: str,
    start: Mapping[str, float],
    steps: Mapping[str, Mapping[str, float]],
    emitted: Mapping[str, Mapping[str, float]],
) -> tuple[float, list[str]]:
    """The most probable states of a text, and their probability: in the place of `jieba.finalseg.viterbi`.

    That one copies the whole way at each character, and 4,000 characters without a sign took 0.2 s.
    """
    chances = {state: start[state] + emitted[state].get(text[0], _NEVER) for state in states}
    ways: list[dict[str, str]] = []
    for character in text[1:]:
        found = {
            state: max(
                (chances[before] + steps[before].get(state, _NEVER) + emission, before) for before in _BEFORE[state]
            )
            for state in states
            for emission in (emitted[state].get(character, _NEVER),)
        }
        ways.append({state: before for state, (_, before) in found.items()})
        chances = {state: chance for state, (chance, _) in found.items()}
    probability, state = max((chances[state], state) for state in "ES")
    path = [state]
    for way in reversed(ways):
        state = way[state]
        path.append(state)
    return probability, path[::-1]
