"""How near a claim is to the sentences of the passages in meaning, and whether its clauses are near the same one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knowledge.types import Matrix, Vector

# Sentences after the nearest that a claim is compared with.
NEXT = 3


@dataclass(frozen=True, slots=True)
class ClaimMeaning:
    """Vectors of length 1 each.

    sentences: of the passages, shape (sentences, dimension), at least one; fragments: the number of the fragment that
    each sentence is from. claim: of the claim alone; with_question: of the claim behind its question; clauses: of the
    claim's clauses, none where it is a single one.
    """

    sentences: Matrix
    fragments: tuple[int, ...]
    claim: Vector
    with_question: Vector
    clauses: Matrix

    def compute_features(self) -> dict[str, float]:
        """Computes cosines, and differences of cosines.

        own, asked: of the claim and of it behind its question with their nearest sentence, and above: by how much that
        is nearer than sentences are on average, margin: than the next ones. clause_least: of the clause that is
        farthest from all; clause_apart: by how much a clause is nearer to another sentence than to that of the claim.
        """
        own, to_question = self.sentences @ self.claim, self.sentences @ self.with_question
        nearest = int(to_question.argmax())
        ranked = np.sort(own)[::-1]
        clauses = self.clauses @ self.sentences.T if len(self.clauses) else own[None]
        return {
            "own": float(ranked[0]),
            "asked": float(to_question[nearest]),
            "own_above": float(ranked[0] - own.mean()),
            "asked_above": float(to_question[nearest] - to_question.mean()),
            "margin": float(ranked[0] - ranked[1 : NEXT + 1].mean()) if len(ranked) > NEXT else 0.0,
            "gain": float(own[nearest] - to_question[nearest]),
            "clause_least": float(clauses.max(axis=1).min()),
            "clause_here": float(clauses[:, nearest].min()),
            "clause_apart": float((clauses.max(axis=1) - clauses[:, nearest]).max()),
        }

    @property
    def nearest_fragment(self) -> int:
        """The fragment of the sentence nearest to the claim behind its question."""
        return self.fragments[int((self.sentences @ self.with_question).argmax())]
