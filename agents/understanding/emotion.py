"""Measures by rules how angry or desperate a message is, and whether somebody speaks of suicide.

A cue is a word with a weight: the probability that its writer is very angry or desperate. Cues are combined as
independent probabilities. Intensifiers, exclamation marks and repetition raise what is there and are nothing by
themselves, so that a neutral question in haste stays neutral.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from knowledge.text import fold
from knowledge.yaml_files import load_shipped_yaml


@dataclass(frozen=True, slots=True)
class Emotion:
    """`score`: anger or despair in [0, 1]. `crisis`: the message hints at suicide or self-harm; then the score is 1.

    `denied`: the customer says that they are not angry. `loudness`: 1 and more, by how it is said.
    """

    score: float
    crisis: bool = False
    denied: bool = False
    loudness: float = 1.0

    def add_repetitions(self, times: int) -> Emotion:
        """Returns the emotion of a message that the customer has sent so many times before."""
        louder = self.loudness + 0.2 * min(times, 2)
        return replace(self, score=round(1 - (1 - self.score) ** (louder / self.loudness), 3), loudness=louder)

    def add_evidence(self, chance: float) -> Emotion:
        """Returns the emotion with independent evidence: `chance` by the meaning of the message."""
        if self.crisis or (self.denied and not self.score):
            return self
        return replace(self, score=round(1 - (1 - self.score) * (1 - chance), 3))


CALM = Emotion(0.0)
# What is announced weighs more than what is only named.
THREATENED, ANNOUNCED = 0.5, 0.7
_NOT = r"(?:不|没有?|别|未|并非|毫无|无|勿|不会|不必|不用|没什么|不是(?:来|要|想)?|不算|不太|不再|not|n't|never|no)"
_NEGATED = re.compile(rf"{_NOT}(?:很|太|怎么|特别|那么|这么|要|想|是|觉得|感到|再|有|来|去|过|去?打|去?找| )*$")
# 能不生气吗 is angry, and so is 你们不是骗子是什么.
_RHETORIC = re.compile(r"(?:能|可以|怎么能|岂能|怎能)不$|(?:不是|难道不是?)$")
# Characters before a cue in which its negation may stand.
MAX_BEFORE = 40
_MARKS = re.compile(r"[!！]{2,}|[?？]{2,}|[?？][!！]|[!！][?？]|(?:[!！].*){3,}")
_TWICE = re.compile(r"(.{2,6}?)[,，!！\s]{0,8}\1[,，!！\s]{0,8}\1")
_SHOUTS = re.compile(r"\b[A-Z]{3,}\b(?:\W+\b[A-Z]{2,}\b){2,}")


def detect_emotion(text: str) -> Emotion:
    """Returns the emotion of a message by its words."""
    words, lexicon = fold(text), _load_lexicon()
    if lexicon.crisis.search(words) and not lexicon.not_crisis.search(words):
        return Emotion(1.0, crisis=True)
    words = lexicon.other.sub(" ", words)
    calm = 1.0
    for weight in _list_weights(words, lexicon):
        calm *= 1 - weight
    if calm == 1.0:
        return Emotion(0.0, denied=any(_is_denied(words, cue.start()) for cue in lexicon.all_cues.finditer(words)))
    louder = 1 + 0.15 * min(len(lexicon.stronger.findall(words)), 2)
    louder += 0.2 * sum(bool(found) for found in (_MARKS.search(words), _SHOUTS.search(text)))
    louder += 0.5 * bool(_TWICE.search(words))
    return Emotion(round(1 - calm**louder, 3), loudness=louder)


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The patterns of `emotions.yaml`, each list as one; `cues` with the heaviest first."""

    other: re.Pattern[str]
    cues: tuple[tuple[float, re.Pattern[str]], ...]
    all_cues: re.Pattern[str]
    threats: re.Pattern[str]
    announced: re.Pattern[str]
    crisis: re.Pattern[str]
    not_crisis: re.Pattern[str]
    asking: re.Pattern[str]
    stronger: re.Pattern[str]


@cache
def _load_lexicon() -> _Lexicon:
    data = load_shipped_yaml("agents", "emotions.yaml")
    cues = data.pop("cues")
    ordered = tuple((weight, _join_patterns(cues[weight])) for weight in sorted(cues, reverse=True))
    everything = _join_patterns([pattern for weight in cues for pattern in cues[weight]])
    return _Lexicon(
        cues=ordered, all_cues=everything, **{name: _join_patterns(patterns) for name, patterns in data.items()}
    )


def _join_patterns(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def _list_weights(words: str, lexicon: _Lexicon) -> Iterator[float]:
    """Yields the weights of the cues; the same place in the text counts once, for the heaviest cue."""
    taken = bytearray(len(words))
    asking = lexicon.asking.search(words) is not None
    for weight, pattern in lexicon.cues:
        for found in pattern.finditer(words):
            start, end = found.span()
            if not any(taken[start:end]):
                taken[start:end] = bytes([1]) * (end - start)
                if not _is_denied(words, start) and not (asking and weight <= THREATENED):
                    yield weight
    threats = lexicon.threats.finditer(words)
    if not asking and any(not _is_denied(words, found.start()) for found in threats):
        yield ANNOUNCED if lexicon.announced.search(words) else THREATENED


def _is_denied(words: str, start: int) -> bool:
    """Whether a cue is negated by what stands before it."""
    before = words[max(start - MAX_BEFORE, 0) : start].rstrip()
    return bool(_NEGATED.search(before)) and not _RHETORIC.search(before)
