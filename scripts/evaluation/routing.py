"""Measures the router on labelled messages, against the knowledge bases that its tenant would have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from agents.router import Router, RouterParts
from agents.routing.anchors import load_shipped_anchors
from agents.routing.evidence import BaseCloseness
from agents.routing.head import fit_head
from agents.routing.types import OFF_TOPIC, PRECEDENCE, Band, Intent, Route
from agents.types import Question
from agents.understanding.normalise import normalise_text
from agents.understanding.utterance import RewriteKind, Utterance
from app.progress import show_progress
from knowledge.chunking import ChunkOptions
from knowledge.embeddings.base import Embedder
from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.metrics import compute_mean, compute_percentiles, score_counts, score_labels
from knowledge.evaluation.rows import read_rows
from knowledge.evaluation.runner import build_index
from knowledge.spelling import BaseSpeller
from knowledge.text import Analyzer
from knowledge.types import Chunk

# Intent -> the label of sets that know one label a message; the intent heard first counts.
CLASS_OF = {
    Intent.KNOWLEDGE_QA: "in_domain",
    Intent.BUSINESS_QUERY: "in_domain",
    Intent.TICKET: "in_domain",
    Intent.HIGH_STAKES: "complaint",
    Intent.HUMAN_REQUEST: "human_handoff",
    Intent.CHITCHAT: "chitchat",
    Intent.IRRELEVANT: "out_of_scope",
    Intent.OUT_OF_SCOPE: "out_of_scope",
    Intent.NONSENSE: "out_of_scope",
}
# Where labels are intents: an angry customer goes where danger goes, and who is told that this is not for here need
# not be told why.
SAME_AS = {"complaint": Intent.HIGH_STAKES, Intent.IRRELEVANT: Intent.OUT_OF_SCOPE}
OFF_TOPIC_GROUP = "off_topic"


@dataclass(frozen=True, slots=True)
class RoutedMessage:
    """A message with its route and seconds: of the embedding, and of all else."""

    row: Mapping[str, Any]
    route: Route
    embedding: float
    routing: float


async def measure_router(
    path: Path, folders: Sequence[Path], embedder: Embedder, options: ChunkOptions
) -> dict[str, Any]:
    """Where the router alone sends labelled messages of a tenant with these knowledge bases. Raises
    InvalidConfiguration.
    """
    rows, analyzer = read_labelled_rows(path), Analyzer()
    index = await build_index(_load_chunks(folders, options), embedder, analyzer)
    try:
        head = await fit_head(embedder, load_shipped_anchors())
        router = Router(RouterParts(head, BaseCloseness(index, head.unrelated)))
        speller = BaseSpeller(index, analyzer)
        await _route_message(rows[0], speller, router, embedder)  # measures the base and learns its words
        shown = show_progress(rows, len(rows), "路由", "条")
        routed = [await _route_message(row, speller, router, embedder) for row in shown]
    finally:
        await index.close()
    report = _build_intents_report if "intents" in rows[0] else _build_label_report
    return report(routed) | _build_running_report(routed)


def read_labelled_rows(path: Path) -> list[dict[str, Any]]:
    """Messages with a `label` or `intent`, a class of CLASS_OF or an intent, or with `intents` and perhaps `entities`.

    Raises InvalidConfiguration.
    """
    rows = [
        {"id": str(number)} | row | ({"label": row["intent"]} if "intent" in row else {})
        for number, row in enumerate(read_rows(path, text=str), start=1)
    ]
    if not rows or any("intents" not in row and not isinstance(row.get("label"), str) for row in rows):
        raise InvalidConfiguration(f"{path} 里没有消息，或有一行没写 label、intent 或 intents")
    return rows


def build_decision_report(rows: Sequence[Mapping[str, Any]], decided: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Figures of the whole product: who spoke first, by the intent that it serves. decided: of each row, in order.

    `confused` counts what was taken for what.
    """
    found = [_merge_label(intents[0]) for intents in decided]
    wanted = [_merge_label(row["label"] if "label" in row else _find_first(row["intents"])) for row in rows]
    pairs = [({gold}, {given}) for gold, given in zip(wanted, found, strict=True)]
    confused = Counter(f"{gold} -> {given}" for gold, given in zip(wanted, found, strict=True) if gold != given)
    accuracy = compute_mean(gold == given for gold, given in pairs)
    return score_labels(pairs) | {"accuracy": accuracy, "confused": dict(confused.most_common())}


def _find_first(intents: Iterable[str]) -> str:
    return next(intent for intent in PRECEDENCE if intent in intents)


async def _route_message(
    row: Mapping[str, Any], speller: BaseSpeller, router: Router, embedder: Embedder
) -> RoutedMessage:
    start = perf_counter()
    text = (await speller.correct(normalise_text(row["text"]))).text
    corrected = perf_counter()
    vector = await embedder.embed_question(text)
    embedded = perf_counter()
    question = Question(Utterance(row["text"]).add_rewrite(text, RewriteKind.SPELLING))
    route = await router.route(question, vector)
    end = perf_counter()
    return RoutedMessage(row, route, embedded - corrected, corrected - start + end - embedded)


def _load_chunks(folders: Sequence[Path], options: ChunkOptions) -> list[Chunk]:
    """Of all bases as one; ids are unique within a base only."""
    return [
        replace(chunk, id=f"{number}/{chunk.id}")
        for number, folder in enumerate(folders)
        for chunk in load_set(folder, options=options).chunks
    ]


def _build_label_report(routed: Sequence[RoutedMessage]) -> dict[str, Any]:
    labels = {str(item.row["label"]) for item in routed}
    if labels <= set(CLASS_OF.values()):
        pairs = [({str(item.row["label"])}, {CLASS_OF[item.route.primary]}) for item in routed]
    else:
        pairs = [({_merge_label(item.row["label"])}, {_merge_label(item.route.primary)}) for item in routed]
    return score_labels(pairs)


def _merge_label(label: str) -> str:
    return str(SAME_AS.get(label, label))


def _build_intents_report(routed: Sequence[RoutedMessage]) -> dict[str, Any]:
    """A route is wrong when nothing that was asked for is in it; what it has beside that is an over-fire."""
    pairs = [(_group_intents(item.row["intents"]), _group_intents(item.route.intents)) for item in routed]
    entities = [(_count_wanted(item.row), _count_found(item.route)) for item in routed]
    off_topic = [item for item, (gold, found) in zip(routed, pairs, strict=True) if gold == found == {OFF_TOPIC_GROUP}]
    return {
        "per_class": score_labels(pairs)["per_class"],
        "entity": score_counts(
            sum((gold & found).total() for gold, found in entities),
            sum(found.total() for _, found in entities),
            sum(gold.total() for gold, _ in entities),
        ),
        "wrong_routes": [item.row["id"] for item, (gold, found) in zip(routed, pairs, strict=True) if not gold & found],
        "over_fires": sum(bool(gold & found and found - gold) for gold, found in pairs),
        "missed_intents": sum(bool(gold & found and gold - found) for gold, found in pairs),
        "off_topic_kind_accuracy": compute_mean(item.route.primary in item.row["intents"] for item in off_topic) or 0.0,
    }


def _build_running_report(routed: Sequence[RoutedMessage]) -> dict[str, Any]:
    embedding, routing = ([getattr(item, name) * 1000 for item in routed] for name in ("embedding", "routing"))
    return {
        "messages": len(routed),
        "tiers": _compute_shares(item.route.trace.tier for item in routed),
        "bands": _compute_shares(item.route.trace.band for item in routed),
        "llm_wanted": compute_mean(item.route.trace.band is Band.LOW for item in routed),
        "latency_ms": compute_percentiles(routing),
        "embedding_ms": compute_percentiles(embedding),
        "overhead_over_embedding": round(float(np.median(routing) / np.median(embedding)), 4),
    }


def _group_intents(intents: Iterable[str]) -> set[str]:
    return {OFF_TOPIC_GROUP if intent in OFF_TOPIC else str(intent) for intent in intents}


def _count_wanted(row: Mapping[str, Any]) -> Counter[tuple[str, str]]:
    return Counter((entity["kind"], _remove_space(entity["text"])) for entity in row.get("entities", ()))


def _count_found(route: Route) -> Counter[tuple[str, str]]:
    return Counter((entity.kind, _remove_space(entity.text)) for entity in route.trace.entities)


def _remove_space(text: str) -> str:
    return "".join(text.split())


def _compute_shares(values: Iterable[str]) -> dict[str, float]:
    counts = Counter(map(str, values))
    return {name: round(count / counts.total(), 4) for name, count in counts.most_common()}
