"""Detects danger to a person, fraud under way and thoughts of suicide, which go before whatever else a message means.

A head judges meaning and wording, fitted on `agents/examples/dangers.yaml`. Where there is no vector, words that are
danger by themselves (smoke, a pretended employee) decide alone.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agents.heads.emotion import list_emotion_examples
from agents.linear import QuadraticBlock, build_hashed_block, fit_ridge, normalize_length
from agents.routing.head import IntentHead
from agents.screening.features import BITS, hash_ngrams
from agents.understanding.reading import Reading
from agents.understanding.safety import Danger, find_dangers, split_statements
from knowledge.embeddings.base import MAX_QUERY_CHARS, Embedder
from knowledge.text import fold
from knowledge.types import Matrix, Vector
from knowledge.yaml_files import load_shipped_yaml

# The chance from which a person is taken to be in danger: it comes before all else, an answer included.
ENDANGERED = 0.5
# From the head's score, about +1 where a message is like the dangers and -1 where not, to the logarithm of the odds.
# On 320 messages of many trades, written by somebody who had not seen this, .05 of harm and fraud and .2 of the
# thoughts of suicide are missed there, and .04 of the others taken for a danger; docs/care has what was found at
# first sight.
STEEPNESS, MIDDLE = 5.0, -0.1
# What the score of harm and fraud should be for thoughts of suicide: those of the one are not far from the other.
BESIDE = -0.5
# The chance by words alone.
WORDED = 0.75
# How loudly pairs of directions of the meaning, and the n-grams, speak beside the meaning itself. Cross-validated on
# the examples, of hard look-alikes and dangers .055 are mistaken at the same rate with all three, .089 without pairs
# and .105 by the meaning alone, the last two measured on 3,600 of what are 4,000 examples now; the words of
# `agents/examples/safety.yaml` as further features changed nothing.
PAIRS, NGRAM_SCALE = 2.0, 2**0.5
# How much the error of an example counts, and of one of the router's.
IMPORTANCE, ROUTED_IMPORTANCE = 0.45, 0.22
# Of the router's examples one in so many is taken: all of them changed nothing but the time.
ROUTED_STEP = 3
# Of a subject, how many frames of a kind are filled with it.
FRAMES = 3


@dataclass(frozen=True, slots=True)
class Safety:
    """`chance`: probability in [0, 1] that somebody is in this danger, now or since a short while."""

    kind: Danger
    chance: float


@dataclass(frozen=True, slots=True)
class SafetyHead:
    """Fitted on an embedder's vectors, a column for each kind; safe to share.

    `meaning` has shape (dimension, kinds), `pairs` (kinds, dimension, dimension), `words` (buckets, kinds).
    """

    centre: Vector
    meaning: Matrix
    pairs: NDArray[np.float32]
    words: Matrix
    bias: Vector

    def read(self, text: str, vector: Vector) -> Safety:
        """Returns the likelier danger of a message.

        A ridge regression is linear in its targets, so that the sum of the scores of harm and fraud is the score of
        either.
        """
        buckets, weights = hash_ngrams(fold(text))
        meant = normalize_length(vector - self.centre)
        scores = self.bias + meant @ self.meaning + (self.pairs @ meant) @ meant
        scores = scores + NGRAM_SCALE * (weights @ self.words[buckets])
        by_kind = dict(zip(Danger, map(float, scores), strict=True))
        despair = by_kind.pop(Danger.SELF_HARM)
        score, kind = max(
            (sum(by_kind.values()) + 1, max(by_kind, key=by_kind.__getitem__)), (despair, Danger.SELF_HARM)
        )
        return Safety(kind, round(1 / (1 + math.exp(-STEEPNESS * (score - MIDDLE))), 3))


def read_safety(reading: Reading, vector: Vector | None, head: SafetyHead | None) -> Safety | None:
    """Returns the danger that a message tells of.

    vector: of its normalised text, as `Embedder.embed_question` gives; of a long one only the beginning, so its words
    count beside it.
    """
    unread = head is None or vector is None or len(reading.normalized_text) > MAX_QUERY_CHARS
    worded = next((Safety(kind, WORDED) for kind in Danger if unread and kind in reading.dangers), None)
    if head is None or vector is None:
        return worded
    found = head.read(reading.normalized_text, vector)
    return found if found.chance >= ENDANGERED else worded


async def fit_safety_head(embedder: Embedder, head: IntentHead) -> SafetyHead:
    """Fits the head. Raises EmbeddingUnavailable.

    head: the router's; its examples, and those of emotions, are of no danger unless a cue says so.
    """
    own = list(load_safety_examples())
    feelings = [text for text in list_emotion_examples() if not find_dangers(split_statements(text))]
    routed = [i for i, one in enumerate(head.anchors.sentences) if not find_dangers(split_statements(one.text))][
        ::ROUTED_STEP
    ]
    texts = [*own, *feelings, *(head.anchors.sentences[i].text for i in routed)]
    vectors = np.vstack([await embedder.embed_questions([*own, *feelings]), head.vectors[routed]])
    labels = [load_safety_examples().get(text) for text in texts]
    importance = np.array([IMPORTANCE] * len(own) + [ROUTED_IMPORTANCE] * (len(texts) - len(own)))
    return await asyncio.to_thread(fit_examples, texts, vectors, labels, importance)


def fit_examples(
    texts: list[str], vectors: Matrix, labels: list[Danger | None], importance: NDArray[np.floating]
) -> SafetyHead:
    """Fits a head on labelled messages. importance: of the error of each."""
    centre: Vector = vectors.mean(axis=0)
    meant = normalize_length(vectors - centre)
    told_by = [hash_ngrams(fold(text)) for text in texts]
    words = build_hashed_block([(buckets, weights * NGRAM_SCALE) for buckets, weights in told_by], 1 << BITS)
    wanted = np.array([[_choose_target(kind, label) for kind in Danger] for label in labels])
    meaning, pairs, ngram_weights, bias = fit_ridge([meant, QuadraticBlock(meant, PAIRS), words], wanted, importance)
    return SafetyHead(centre, meaning, pairs, ngram_weights, bias)


def _choose_target(kind: Danger, label: Danger | None) -> float:
    """Returns what the score of a kind should be for an example."""
    if kind is label:
        return 1.0
    return BESIDE if label is Danger.SELF_HARM else -1.0


@cache
def load_safety_examples() -> dict[str, Danger | None]:
    """Returns the sentences that are embedded to fit the head, of each danger in turn and of none, and of which danger
    each is.
    """
    data = load_shipped_yaml("agents", "examples/dangers.yaml")
    kinds: dict[str, Danger | None] = {**{kind: kind for kind in Danger}, "neither": None}
    told_of = {text: kinds[name] for name in kinds for text in data[name]}
    for group in data["frames"]:
        for number, subject in enumerate(group["subjects"]):
            for name in kinds.keys() & group.keys():
                frames = group[name]
                for index in range(number * FRAMES, (number + 1) * FRAMES):
                    told_of.setdefault(frames[index % len(frames)].format(subject), kinds[name])
    return told_of
