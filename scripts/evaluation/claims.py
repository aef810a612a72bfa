"""How well the check without a model tells claims that documents state from those that they do not:
`python -m scripts.evaluation.claims FILE … --documents FOLDER … [--fit | --model]`.

FILE: lines of `document`, `question`, `claim`, `kind`; those of the kind `supported` are right. `--fit` prints weights
for `agents/verification/conditions.py`, learnt from it and judged on documents that were left out. `--model` asks the
configured model of every claim that the check lets stand, as the product does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.claim_reader import ClaimReader
from agents.judge import JudgeQuality
from agents.verification.conditions import WEIGHTS, ConditionCheck
from agents.verification.evidence import Statement
from agents.verification.support import Support, SupportChecker
from app.progress import show_progress
from app.settings import load_settings
from app.wiring.models import LanguageModels
from knowledge.chunking import ChunkOptions, split_document
from knowledge.errors import InvalidConfiguration
from knowledge.parsing.registry import parse
from knowledge.text import fold
from knowledge.types import Chunk, DocumentMeta

FOLDS, DECAY, STEPS = 8, 20.0, 30
"""Of the cross-validation by document; the penalty on standardised weights; of Newton's method."""


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A sentence of a reply to a question, empty where none is told, about a document."""

    document: str
    question: str
    text: str
    kind: str

    @property
    def good(self) -> bool:
        return self.kind == "supported"


def load_claims(file: Path) -> list[LabelledClaim]:
    """The claims of a file."""
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return [LabelledClaim(row["document"], row["question"], row["claim"], row["kind"]) for row in rows]


def load_chunks(claims: Iterable[LabelledClaim], folders: Sequence[Path]) -> dict[str, dict[int, Chunk]]:
    """The documents of claims as a knowledge base has them."""
    found = {}
    for name in {claim.document for claim in claims}:
        path = next(path for folder in folders for path in folder.rglob(name))
        parsed = parse(name, path.read_bytes())
        found[name] = dict(enumerate(split_document(parsed, DocumentMeta(name, name, path.stem), name, ChunkOptions())))
    return found


def judge_claims(claims: Sequence[LabelledClaim], chunks: dict[str, dict[int, Chunk]]) -> list[bool]:
    """Of each, whether the check lets it stand."""
    return [
        SupportChecker(chunks[claim.document], claim.question).check(claim.text).support is not Support.UNSUPPORTED
        for claim in claims
    ]


async def judge_with_model(
    claims: Sequence[LabelledClaim], chunks: dict[str, dict[int, Chunk]], reader: ClaimReader
) -> tuple[JudgeQuality, list[bool]]:
    """What the model's word is worth by the shipped claims, and of each claim whether both let it stand. The model is
    asked even where the product would not, at the cut that parts the shipped claims best.
    """
    quality, stands = await reader.measure(), list[bool]()
    cutoff = quality.calibration.cutoff if quality.calibration else 0.0
    for claim in show_progress(claims, len(claims), "说法", "条"):
        held = chunks[claim.document]
        found = SupportChecker(held, claim.question).check(claim.text)
        odds = [await reader.judge(claim.text, claim.question, held[number]) for number in found.fragments]
        asked = [each for each in odds if each is not None and not found.quoted]
        stands.append(found.support is not Support.UNSUPPORTED and (not asked or max(asked) >= cutoff))
    return quality, stands


def count_flagged(claims: Sequence[LabelledClaim], stands: Sequence[bool]) -> dict[str, tuple[int, int]]:
    """Of each kind how many are taken back, and how many there are; `bad`: all kinds that are not right."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for claim, standing in zip(claims, stands, strict=True):
        for kind in (claim.kind, *(() if claim.good else ("bad",))):
            counts[kind][0] += not standing
            counts[kind][1] += 1
    return {kind: (flagged, total) for kind, (flagged, total) in sorted(counts.items())}


def fit_weights(features: NDArray[np.float64], good: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights and bias of a logistic regression, both kinds weighing the same. features: (claims, features)."""
    scale, middle = features.std(axis=0) + 1e-9, features.mean(axis=0)
    rows = np.column_stack([(features - middle) / scale, np.ones(len(features))])
    shares = np.where(good, 0.5 / good.mean(), 0.5 / (~good).mean())
    penalty = np.diag([DECAY] * features.shape[1] + [0.0])
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (shares * (chance - good)) + penalty @ weights
        curvature = (rows * (shares * chance * (1 - chance))[:, None]).T @ rows + penalty
        weights -= np.linalg.solve(curvature, gradient)
    plain = weights[:-1] / scale
    return np.append(plain, weights[-1] - plain @ middle)


def fit(claims: Sequence[LabelledClaim], chunks: dict[str, dict[int, Chunk]]) -> None:
    """Prints weights, and at every threshold what they find on documents that were left out."""
    held = np.array(judge_claims(claims, chunks))
    good = np.array([claim.good for claim in claims])
    rows = [
        ConditionCheck(chunks[claim.document].values(), claim.question).features(Statement(fold(claim.text)))
        for claim in claims
    ]
    features = np.array([list(row.values()) for row in rows])
    names = sorted({claim.document for claim in claims})
    part = np.array([names.index(claim.document) % FOLDS for claim in claims])
    scores = np.full(len(claims), -np.inf)
    for number in range(FOLDS):
        learn, test = held & (part != number), held & (part == number)
        weights = fit_weights(features[learn], good[learn])
        scores[test] = features[test] @ weights[:-1] + weights[-1]
    for threshold in np.arange(-2.0, 1.01, 0.25):
        found, flagged = (scores[~good] < threshold).mean(), (scores[good] < threshold).mean()
        print(f"LEAST {threshold:+.2f}  bad found {found:.3f}  good flagged {flagged:.3f}")
    weights = fit_weights(features[held], good[held])
    print(dict(zip(WEIGHTS, weights.round(2).tolist(), strict=False)), "BIAS", round(float(weights[-1]), 2))


async def _ask_configured(claims: Sequence[LabelledClaim], chunks: dict[str, dict[int, Chunk]]) -> list[bool]:
    async with LanguageModels(load_settings()) as models:
        reader = models.claim_reader()
        if reader is None:
            raise InvalidConfiguration("--model 要配置写回答的大模型：请设置 LLM_API_KEY，或 LLM_PROVIDER=gguf")
        quality, stands = await judge_with_model(claims, chunks, reader)
    print("AUROC on the shipped claims", quality.auroc, "asked by the product:", quality.calibration is not None)
    return stands


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument("--model", action="store_true", help="ask the configured model too")
    parser.add_argument("--fit", action="store_true", help="with the head switched off: LEAST = -inf")
    chosen = parser.parse_args()
    claims = [claim for file in chosen.files for claim in load_claims(file)]
    chunks = load_chunks(claims, chosen.documents)
    if chosen.fit:
        fit(claims, chunks)
        return
    stands = asyncio.run(_ask_configured(claims, chunks)) if chosen.model else judge_claims(claims, chunks)
    for kind, (flagged, total) in count_flagged(claims, stands).items():
        print(f"{kind:18} {flagged:3} of {total:3}  {flagged / total:.3f}")


if __name__ == "__main__":
    main()
