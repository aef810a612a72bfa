"""What decides which passage a message of a conversation means: features, weights and the gate's formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from knowledge import continuity


@dataclass(frozen=True, slots=True)
class ContinuityWords:
    """`features`: name -> what it says of a passage; `odds`: what the gate's formula gives; `gate`: its terms."""

    table: tuple[str, str, str]
    features: Mapping[str, str]
    odds: str
    gate: tuple[str, str, str, str]
    no_code: str


CONTINUITY_CHINESE = ContinuityWords(
    ("特征", "含义", "权重"),
    {
        "alone": "单看这句话，这个片段的得分",
        "told": "放回上文，这个片段的得分",
        "same document": "在上一个答案所引的文档里",
        "earlier document": "在更早的答案所引的文档里",
        "same section": "在上一个答案所引的小节里",
        "coverage": "覆盖了这句话里多少有信息量的词",
        "same document, short": "同一文档，而这句话很短（约 10 字以内）",
        "told, short": "放回上文的得分，而这句话很短",
        "alone, short": "单看的得分，而这句话很短",
        "same document, advantage of others": "同一文档，但单看时别的文档更像",
        "alone, advantage of others": "单看的得分，且别的文档更像",
        "same document, few characters": "同一文档，而这句话只有几个字（约 4 字以内）",
        "told, few characters": "放回上文的得分，而只有几个字",
        "alone, few characters": "单看的得分，而只有几个字：“押金”二字到处都像",
    },
    "答得了的对数几率",
    ("该片段单看的对数几率", "该片段放回上文的对数几率", "单看时最好的片段的对数几率", "第一名所占份额的对数几率"),
    "是算式，不是代码",
)
CONTINUITY_ENGLISH = ContinuityWords(
    ("feature", "what it says of a passage", "weight"),
    {
        "alone": "its score for the message alone",
        "told": "its score for the message behind what was said",
        "same document": "it is in a document that the last answer cited",
        "earlier document": "in one that an earlier answer cited",
        "same section": "in a section that the last answer cited",
        "coverage": "how much of the message's informative words it covers",
        "same document, short": "same document, and the message is short (up to about 10 characters)",
        "told, short": "the score behind what was said, and short",
        "alone, short": "the score alone, and short",
        "same document, advantage of others": "same document, though others fit the message alone better",
        "alone, advantage of others": "the score alone, where other documents fit better",
        "same document, few characters": "same document, and hardly any characters (up to about 4)",
        "told, few characters": "the score behind what was said, and hardly any characters",
        "alone, few characters": "the score alone, and hardly any characters: 押金 is like all that speaks of 押金",
    },
    "log-odds that it answers",
    (
        "its log-odds alone",
        "its log-odds behind",
        "log-odds of the best one alone",
        "log-odds of the first one's share",
    ),
    "a formula, no code",
)


def weights_table(words: ContinuityWords) -> str:
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
