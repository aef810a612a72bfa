"""What decides which passage a message of a conversation means: features, weights and the gate's formula."""

from __future__ import annotations

from knowledge import continuity
from scripts.diagrams.words import WeightWords


def build_weights_table(words: WeightWords) -> str:
    """Markdown: a row for each feature, then how the probability at the gate is made."""
    lines = [f"| {' | '.join(words.table)} |", "| --- | --- | --- |"]
    for name, weight in zip(continuity.FEATURES, continuity.WEIGHTS, strict=True):
        lines.append(f"| `{name}` | {words.features[name]} | {weight:.2f} |")
    weights = continuity.ALONE, continuity.TOLD, continuity.BEST_ALONE, continuity.SHARE
    terms = [f"{weight:.2f} × {name}" for weight, name in zip(weights, words.gate, strict=True)]
    indent = "\n" + " " * 4 + "+ "
    formula = indent.join([*terms, f"{continuity.BIAS:.2f}"])
    block = [f"<!-- not run: {words.no_code} -->", "```text", f"{words.odds} =", f"    {formula}", "```"]
    return "\n".join([*lines, "", *block]) + "\n"
