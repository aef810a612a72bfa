"""Exported conversations: the messages of different people stay separate, as in the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.blocks import Block

_STAMP = re.compile(
    r"[\[【(（]?\s*(?:\d{2,4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}\s?日?[\sT,，]*)?(?:(?:星期|周)[一二三四五六日天]\s*)?"
    r"(?:[上下]午|AM|PM)?\s*\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:\s*[AP]M)?\s*[\]】)）]?"
)
_COLON = re.compile(r"(?:：|(?<!\d):)\s*")
_NAME = re.compile(r"[^。，！？；：,!?;:\n]{1,24}")
_SENTENCE = re.compile(r"[。！？!?，,~～]|[吗呢吧啊哦呀的了]$")
# Characters of a line in which a time and a name stand.
_HEAD = 80
# Messages.
_LEAST = 4
# Share of lines that name a speaker and a time; of a message of many lines only the first one does.
_DENSE = 0.2
_MOSTLY = 0.5
_MESSAGES_EACH = 1.5
_MAX_SPEAKERS = 8


@dataclass(frozen=True, slots=True)
class _Opening:
    """A line that begins a message."""

    speaker: str
    # What is said in this line.
    text: str
    # It has a time.
    stamped: bool


def read_messages(lines: Sequence[str]) -> Iterator[Block] | None:
    """Returns one paragraph for each message, its lines kept; None if the lines are no conversation."""
    openings = [_read_opening(line.strip()) for line in lines]
    speakers = _find_speakers(lines, openings)
    return _group_messages(lines, openings, speakers) if speakers else None


def _find_speakers(lines: Sequence[str], openings: Sequence[_Opening | None]) -> frozenset[tuple[str, bool]]:
    """Returns who speaks, and whether with a time; empty if nobody does."""
    filled = sum(1 for line in lines if line.strip() and not _STAMP.fullmatch(line.strip()))
    for stamped in (True, False):
        utterances = [opening for opening in openings if opening and opening.stamped == stamped]
        counts = Counter(opening.speaker for opening in utterances)
        if not stamped:  # a name that comes once may be the word before any colon
            utterances = [opening for opening in utterances if counts[opening.speaker] > 1 and opening.text]
            counts = Counter(opening.speaker for opening in utterances)
        if len(utterances) < _LEAST or len(counts) < 2 or len(counts) * _MESSAGES_EACH > len(utterances):
            continue
        if len(utterances) >= (_DENSE if stamped else _MOSTLY) * filled and (stamped or _is_talk(utterances)):
            return frozenset((name, stamped) for name in counts)
    return frozenset()


def _is_talk(openings: Sequence[_Opening]) -> bool:
    """Returns whether people take turns and speak in sentences, which fields of a record do not."""
    if len({opening.speaker for opening in openings}) > _MAX_SPEAKERS:
        return False
    turns = sum(one.speaker != other.speaker for one, other in pairwise(openings))
    return 3 * turns >= len(openings) and 2 * sum(bool(_SENTENCE.search(opening.text)) for opening in openings) >= len(
        openings
    )


def _group_messages(
    lines: Sequence[str], openings: Sequence[_Opening | None], speakers: frozenset[tuple[str, bool]]
) -> Iterator[Block]:
    message: list[str] = []
    for line, opening in zip(lines, openings, strict=True):
        alone = bool(_STAMP.fullmatch(line.strip()))
        if message and (alone or (opening and (opening.speaker, opening.stamped) in speakers)):
            yield Block("\n".join(message))
            message.clear()
        if line.strip():
            message.append(line.strip())
        if message and alone:
            yield Block(message.pop())
    if message:
        yield Block("\n".join(message))


def _read_opening(line: str) -> _Opening | None:
    head = line[:_HEAD]
    stamp = _STAMP.search(head)
    rest = f"{line[: stamp.start()]} {line[stamp.end() :]}".strip() if stamp else line
    colon = _COLON.search(rest)
    name, text = (rest[: colon.start()], rest[colon.end() :]) if colon else (rest, "")
    if not _NAME.fullmatch(name := name.strip()) or not (stamp or colon):
        return None
    return _Opening(name, text, bool(stamp))
