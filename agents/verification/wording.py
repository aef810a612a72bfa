"""The words of a text: pairs of characters, and what was put in the place of other words."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

# Share of a claim that has to stand in a sentence unchanged before what differs counts as put in its place.
PARALLEL = 0.75

# Characters that stay on either side of what was swapped, unless the text begins or ends there.
FLANK = 2

_UNIT = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_FUNCTION = re.compile(
    r"您好|你好|感谢|谢谢|抱歉|请问|如果|如需|需要|可以|能够|应该|应当|或者|以及|并且|而且|但是|不过|因此|所以|因为|"
    r"由于|其中|此外|另外|同时|然后|接着|首先|其次|最后|之后|以后|之前|以前|以下|如下|上述|下列|下面|具体|一般|通常|"
    r"情况|方式|方法|步骤|操作|进行|即可|就是|还是|这个|那个|这些|那些|我们|您的|你的|他们|它们|自己|关于|对于|"
    r"根据|按照|通过|使用|包括|包含|属于|表示|出现|必须|放置|已经|可能|希望|帮助|有帮助|咨询|随时|联系|告诉|"
    r"一[个台部位次件张条款种项份些下]|"
    r"会(?![员议])|时(?![间长段效限])|等(?![级待])|在(?!线)|有(?![效限])|对(?!公)|里(?!程)|要(?!求)|能(?!量)|"
    r"[的了着过是和与及或也都就还又再才而但若请您你我他她它把被将从到于为以其之这那个些呢吗吧啊呀哦嗯可让给向各每先由]"
)


def remove_function_words(folded: str) -> str:
    """Replaces function words by spaces."""
    return _FUNCTION.sub(" ", folded)


def extract_pairs(folded: str) -> frozenset[str]:
    """Extracts pairs of neighbouring Chinese characters, without function words; one character alone is kept."""
    runs = _HAN.findall(remove_function_words(folded))
    if len(folded.strip()) == 1:
        return frozenset(runs)
    return frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))


def extract_units(folded: str) -> tuple[str, ...]:
    """Extracts Chinese characters and Latin words in order, without function words."""
    return tuple(_UNIT.findall(remove_function_words(folded)))


def compute_parallel_share(claim: str, sentence: str) -> float:
    """Returns the share of a claim's characters that stand in a sentence in the same order, in runs of two and more."""
    if not claim:
        return 0.0
    blocks = SequenceMatcher(None, claim, sentence, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size > 1) / len(claim)


def has_swapped_words(claim: str, sentence: str, known: str) -> bool:
    """Whether a claim is a sentence of the documents with some of its words replaced: 表带 for 耳塞套.

    All three texts are folded.

    Where the rest stands unchanged, on both sides too, new words of which nothing is known and nothing is shared with
    the old ones are no paraphrase.
    """
    opcodes = SequenceMatcher(None, sentence, claim, autojunk=False).get_opcodes()
    if sum(end - start for tag, _, _, start, end in opcodes if tag == "equal") < PARALLEL * len(claim):
        return False
    firm = [
        True,
        *(
            tag == "equal" and (end - start >= FLANK or start == 0 or end == len(claim))
            for tag, _, _, start, end in opcodes
        ),
        True,
    ]
    return any(
        tag == "replace"
        and firm[at]
        and firm[at + 2]
        and _is_foreign(sentence[old_start:old_end], claim[start:end], known)
        for at, (tag, old_start, old_end, start, end) in enumerate(opcodes)
    )


def _is_foreign(old: str, new: str, known: str) -> bool:
    pairs = extract_pairs(new)
    return (
        len(new) > 1
        and bool(pairs and extract_pairs(old))
        and not set(new) & set(old)
        and not any(pair in known for pair in pairs)
    )
