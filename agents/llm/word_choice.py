"""Reads which of two words a model's reply begins with, by the probabilities of its first token or by its text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agents.errors import GenerationRejected
from agents.llm.chat import CERTAIN, WordPair

# Alternatives of the first token that an endpoint tells at most.
TOP_TOKENS = 20
# The probability of a word that is not among the alternatives.
_LEAST = 1e-4
# Of both words together, at least.
_LIKELY = 0.1


def read_alternatives(choice: Any) -> list[tuple[str, float]]:
    """Returns the likeliest first tokens with their log-probabilities from a `choice` of a chat completion; empty where
    the endpoint tells none.
    """
    match choice:
        case {"logprobs": {"content": [{"top_logprobs": [_, *_] as told}, *_]}}:
            return [(str(each["token"]), float(each["logprob"])) for each in told]
    return []


def choose_by_probability(alternatives: Sequence[tuple[str, float]], words: WordPair) -> float:
    """Returns the log-odds of the first word against the second.

    Every alternative that begins as a word does counts for it, since tokenizers cut words differently. Raises
    GenerationRejected where neither is likely.
    """
    chances = [_LEAST, _LEAST]
    for token, log_probability in alternatives:
        for index, word in enumerate(words):
            if token.strip().startswith(word[0]):
                chances[index] += math.exp(log_probability)
    if sum(chances) < _LIKELY:
        raise GenerationRejected(f"neither {words[0]} nor {words[1]} is likely")
    return math.log(chances[0] / chances[1])


def choose_by_word(reply: str, words: WordPair) -> float:
    """Returns CERTAIN for the first word, -CERTAIN for the second. Raises GenerationRejected."""
    answer = reply.strip().lstrip("“\"'「【*")
    for word, odds in zip(words, (CERTAIN, -CERTAIN), strict=True):
        if answer.startswith(word[0]):
            return odds
    raise GenerationRejected(f"neither {words[0]} nor {words[1]}: {reply[:40]!r}")
