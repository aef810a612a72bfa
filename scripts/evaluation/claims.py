"""How well the check without a model tells claims that documents state from those that they do not:
`python -m scripts.evaluation.claims FILE … [--documents FOLDER …] [--words | --fit | --model]`.

FILE: lines of `claim`, `kind`, `question` (may be missing) and either `document`, a file in one of the folders, or
`passages`, a list of texts; those of the kind `supported` are right, as are those whose `label` says so. `--words` does
without the embedder. `--fit` judges forests on documents that were left out and writes them, fitted on all, for
`agents/verification/head.py`. `--model` asks the configured model of every claim that the check lets stand, as the
product does.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.answering.claim_meaning import PassageMeaning
from agents.answering.meaning import Meaning
from agents.claim_reader import ClaimReader
from agents.judge import JudgeQuality
from agents.verification.head import MEANING, WORDS, fit_forest
from agents.verification.meaning import ClaimMeaning
from agents.verification.support import Support, SupportChecker
from app.progress import show_progress
from app.settings import load_settings
from app.wiring.models import LanguageModels
from knowledge.chunking import ChunkOptions, split_document
from knowledge.embeddings.base import Embedder
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.rows import read_rows
from knowledge.parsing.registry import parse
from knowledge.types import Chunk, DocumentMeta
from scripts.evaluation.product import open_embedder

# Of the cross-validation by document.
FOLDS = 8
# Until all sentences of a document are embedded.
PATIENCE_SECONDS = 600.0
FORESTS = Path("agents/verification/claim_forests.npz")


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A sentence of a reply to a question, empty where none is told, about a document."""

    document: str
    question: str
    text: str
    kind: str
    passages: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return self.kind == "supported"


def load_claims(file: Path) -> list[LabelledClaim]:
    """The claims of a file."""
    return [_read_claim(row) for row in read_rows(file, claim=str)]


def _read_claim(row: Mapping[str, Any]) -> LabelledClaim:
    passages = tuple(row.get("passages", ()))
    kind = "supported" if row.get("label") == "supported" else row.get("kind") or row["label"]
    return LabelledClaim(
        row.get("document") or "\n".join(passages), row.get("question", ""), row["claim"], kind, passages
    )


def load_chunks(claims: Iterable[LabelledClaim], folders: Sequence[Path]) -> dict[str, dict[int, Chunk]]:
    """The documents of claims as a knowledge base has them, and passages as they are."""
    found = {}
    for name, passages in {claim.document: claim.passages for claim in claims}.items():
        if passages:
            document = DocumentMeta(name, "", "")
            found[name] = {at: Chunk(str(at), document, at, text) for at, text in enumerate(passages)}
            continue
        path = next(path for folder in folders for path in folder.rglob(name))
        parsed = parse(name, path.read_bytes())
        found[name] = dict(enumerate(split_document(parsed, DocumentMeta(name, name, path.stem), name, ChunkOptions())))
    return found


async def embed_claims(
    claims: Sequence[LabelledClaim], chunks: Mapping[str, dict[int, Chunk]], embedder: Embedder
) -> list[ClaimMeaning | None]:
    """What every claim means beside its passages."""
    meaning, found = Meaning(embedder, PATIENCE_SECONDS), list[ClaimMeaning | None]()
    passages = {
        (claim.document, claim.question): PassageMeaning(meaning, chunks[claim.document], claim.question)
        for claim in claims
    }
    for claim in show_progress(claims, len(claims), "说法", "条"):
        found.append(await passages[claim.document, claim.question].embed_claim(claim.text))
    return found


def judge_claims(
    claims: Sequence[LabelledClaim],
    chunks: Mapping[str, dict[int, Chunk]],
    meanings: Iterable[ClaimMeaning | None] | None = None,
) -> list[bool]:
    """Of each, whether the check lets it stand; meanings: of each, without them words alone decide."""
    return [
        SupportChecker(chunks[claim.document], claim.question).check_sentence(claim.text, meaning=meaning).support
        is not Support.UNSUPPORTED
        for claim, meaning in zip(claims, meanings or repeat(None, len(claims)), strict=True)
    ]


async def judge_with_model(
    claims: Sequence[LabelledClaim], chunks: Mapping[str, dict[int, Chunk]], reader: ClaimReader
) -> tuple[JudgeQuality, list[bool]]:
    """What the model's word is worth by the shipped claims, and of each claim whether both let it stand. The model is
    asked even where the product would not, at the cut that parts the shipped claims best.
    """
    quality, stands = await reader.measure(), list[bool]()
    cutoff = quality.calibration.cutoff if quality.calibration else 0.0
    for claim in show_progress(claims, len(claims), "说法", "条"):
        held = chunks[claim.document]
        found = SupportChecker(held, claim.question).check_sentence(claim.text)
        odds = [await reader.judge(claim.text, claim.question, held[number]) for number in found.fragments]
        asked = [each for each in odds if each is not None and not found.quoted]
        stands.append(found.support is not Support.UNSUPPORTED and (not asked or max(asked) >= cutoff))
    return quality, stands


def count_flagged(claims: Sequence[LabelledClaim], stands: Sequence[bool]) -> dict[str, tuple[int, int]]:
    """Of each kind how many are taken back, and how many there are; `bad`: all kinds that are not right."""
    flagged, total = Counter[str](), Counter[str]()
    for claim, standing in zip(claims, stands, strict=True):
        kinds = [claim.kind] if claim.good else [claim.kind, "bad"]
        total.update(kinds)
        flagged.update([] if standing else kinds)
    return {kind: (flagged[kind], total[kind]) for kind in sorted(total)}


def fit_forests(
    claims: Sequence[LabelledClaim], chunks: Mapping[str, dict[int, Chunk]], meanings: Sequence[ClaimMeaning | None]
) -> None:
    """Writes the forests, and prints at every threshold what they find on documents that were left out."""
    words = [SupportChecker(chunks[claim.document], claim.question).compute_features(claim.text) for claim in claims]
    meant = [meaning.compute_features() for meaning in meanings if meaning is not None]
    good = np.array([claim.good for claim in claims])
    names = sorted({claim.document for claim in claims})
    part = np.array([names.index(claim.document) % FOLDS for claim in claims])
    written = dict[str, NDArray[Any]]()
    for name, columns in (("words", WORDS), ("meaning", WORDS + MEANING)):
        values = [{**one, **other} for one, other in zip(words, meant, strict=True)]
        rows = np.array([[value[column] for column in columns] for value in values], dtype=np.float32)
        chances = np.zeros(len(rows))
        for number in range(FOLDS):
            forest, test = fit_forest(rows[part != number], good[part != number]), part == number
            chances[test] = [forest.estimate_chance(row) for row in rows[test]]
        for threshold in np.arange(0.2, 0.81, 0.05):
            found, flagged = (chances[~good] < threshold).mean(), (chances[good] < threshold).mean()
            print(f"{name:8} {threshold:.2f}  bad found {found:.3f}  good flagged {flagged:.3f}")
        forest = fit_forest(rows, good)
        written |= {f"{name}_{part}": getattr(forest, part) for part in ("features", "limits", "leaves")}
    np.savez_compressed(FORESTS, allow_pickle=False, **written)


async def _ask_configured(claims: Sequence[LabelledClaim], chunks: Mapping[str, dict[int, Chunk]]) -> list[bool]:
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
    parser.add_argument("--documents", type=Path, nargs="+", default=[])
    parser.add_argument("--model", action="store_true", help="ask the configured model too")
    parser.add_argument("--words", action="store_true", help="without the embedder")
    parser.add_argument("--fit", action="store_true", help="write the forests")
    chosen = parser.parse_args()
    claims = [claim for file in chosen.files for claim in load_claims(file)]
    chunks = load_chunks(claims, chosen.documents)
    if chosen.model:
        stands = asyncio.run(_ask_configured(claims, chunks))
    elif chosen.words:
        stands = judge_claims(claims, chunks)
    else:
        with open_embedder(load_settings()) as embedder:
            meanings = asyncio.run(embed_claims(claims, chunks, embedder))
        if chosen.fit:
            fit_forests(claims, chunks, meanings)
            return
        stands = judge_claims(claims, chunks, meanings)
    for kind, (flagged, total) in count_flagged(claims, stands).items():
        print(f"{kind:18} {flagged:3} of {total:3}  {flagged / total:.3f}")


if __name__ == "__main__":
    main()
