"""Passages of different documents that say the same in nearly the same words.

Candidates share runs of characters that are rare in the base. A notice that stands under two names, or with two
numbers, is a variant and no duplicate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from difflib import SequenceMatcher

from agents.verification.names import find_latin_names
from agents.verification.quantities import find_quantities
from app.quality.checks.types import IssueKind, QualityCorpus, QualityIssue, Severity, Steps
from knowledge.text import fold
from knowledge.types import Chunk

# Shorter passages are alike by chance: an address, a table head.
MIN_CHARS = 24
RUN = 4
# Runs in more passages than that are of a form and find no candidates.
COMMON = 60
# Share of the shorter passage's runs. Of copies with changes in wording .8 and more, of notices on one subject .3.
ALIKE = 0.72


def find_duplicates(corpus: QualityCorpus) -> Steps:
    """Finds the duplicates described above."""
    bodies = {
        chunk.id: body for chunk in reversed(corpus.list_entries()) if len(body := _build_body(chunk)) >= MIN_CHARS
    }
    chunks = {chunk.id: chunk for chunk in corpus.chunks if chunk.id in bodies}
    runs: dict[str, frozenset[str]] = {}
    holding: dict[str, list[str]] = defaultdict(list)
    for key, body in bodies.items():
        runs[key] = frozenset(body[at : at + RUN] for at in range(len(body) - RUN + 1))
        yield None
    for key, own in runs.items():
        shared = Counter(other for run in own if len(holding[run]) <= COMMON for other in holding[run])
        for other, count in shared.items():
            least = min(len(own), len(runs[other]))
            if chunks[key].document.id == chunks[other].document.id or count < ALIKE * least * 0.6:
                continue
            share = len(own & runs[other]) / least
            if share >= ALIKE and _is_same(chunks[other], chunks[key], bodies[other], bodies[key]):
                yield _build_issue(chunks[other], chunks[key], share)
        for run in own:
            holding[run].append(key)
        yield None


def _build_body(chunk: Chunk) -> str:
    text = f"{chunk.question or ''}{chunk.text}"
    return "".join(filter(str.isalnum, fold(text)))


def _is_same(one: Chunk, other: Chunk, left: str, right: str) -> bool:
    """Whether two passages differ in no name and no number."""
    short, long = sorted((fold(one.text), fold(other.text)), key=len)
    if not (
        find_quantities(short).stated <= find_quantities(long).stated
        and find_latin_names(short) <= find_latin_names(long)
    ):
        return False
    if len(short) * 1.5 < len(long):
        return False  # one passage holds the other beside something else: nothing to take out
    titles = fold(one.document.title), fold(other.document.title)
    for tag, start, end, at, until in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        gone, come = left[start:end], right[at:until]
        if tag != "replace" or (len(gone) > 1 and gone in right) or (len(come) > 1 and come in left):
            continue
        if _is_name(gone, left, start, end, titles[0]) or _is_name(come, right, at, until, titles[1]):
            return False
    subjects = [
        max(_find_common(body, "".join(filter(str.isalnum, title))), key=len, default="")
        for body, title in zip((left, right), titles, strict=True)
    ]
    return not (subjects[0] and subjects[1] and subjects[0] not in right and subjects[1] not in left)


def _is_name(piece: str, body: str, start: int, end: int, title: str) -> bool:
    """Whether a piece is a name: it stands in the title of its document, with a neighbour if it is one character."""
    around = body[max(0, start - 1) : end], body[start : end + 1]
    return piece in title if len(piece) > 1 else any(len(part) > 1 and part in title for part in around)


def _find_common(body: str, title: str) -> list[str]:
    """Returns the pieces of two characters or more that a title and a text have in common, in the same order."""
    blocks = SequenceMatcher(None, title, body, autojunk=False).get_matching_blocks()
    return [title[block.a : block.a + block.size] for block in blocks if block.size > 1]


def _build_issue(one: Chunk, other: Chunk, share: float) -> QualityIssue:
    detail = f"与《{other.document.title}》的一段有 {share:.0%} 相同"
    return QualityIssue(IssueKind.DUPLICATE, Severity.MEDIUM, one.document.id, one, other, detail)
