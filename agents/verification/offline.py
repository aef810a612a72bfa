"""Checks a finished reply against the fragments it cites, without a model, and takes out what they do not say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agents.verification.claims import MARK, claim_of, sentences
from agents.verification.support import Finding, Support, SupportChecker
from knowledge.types import Chunk


@dataclass(frozen=True, slots=True)
class Checked:
    """`reply` keeps what is supported or states nothing, and is empty once it has lost all its marks; `supported` and
    `dropped` are its claims, without marks.
    """

    reply: str
    supported: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    written: str
    claim: str
    finding: Finding


def check_reply(
    reply: str, question: str, fragments: Mapping[int, Chunk], *, english: bool = False, computed: str = ""
) -> Checked:
    """fragments: by the number that `[n]` in the reply means; english, computed: see `SupportChecker`.

    Costs about 1 ms a sentence.
    """
    checker = SupportChecker(fragments, question, english=english, computed=computed)
    judged = [_judge(written, checker) for written in sentences(reply)]
    dropped = [item for item in judged if item.finding.support is Support.UNSUPPORTED]
    supported = tuple(item.claim for item in judged if item.finding.support is Support.SUPPORTED)
    if not dropped:
        return Checked(reply, supported, ())
    marks = cited(reply)
    kept = _kept(judged, marks) if supported else ""
    return Checked(kept if cited(kept) or not marks else "", supported, tuple(item.claim for item in dropped))


def cited(reply: str) -> frozenset[int]:
    """The numbers of the marks in a reply."""
    return frozenset(int(number) for mark in MARK.findall(reply) for number in re.findall(r"\d+", mark))


def _judge(written: str, checker: SupportChecker) -> _Judged:
    claim = claim_of(written)
    if not claim:
        return _Judged(written, claim, Finding(Support.NEUTRAL))
    return _Judged(written, claim, checker.check(claim, sorted(cited(written))))


def _kept(judged: list[_Judged], known: frozenset[int]) -> str:
    """What is left. A sentence that leaned on the mark of one that is gone gets its own; known: the marks there were,
    others have no source behind them.
    """
    reply, last, lost = "", frozenset[int](), False
    for item in judged:
        marks, own = cited(item.written), [number for number in item.finding.fragments if number in known]
        if item.finding.support is Support.UNSUPPORTED:
            lost = lost or bool(marks)
            continue
        reply += item.written
        if marks:
            last, lost = marks, False
        elif lost and own and not last & set(item.finding.fragments):
            tail = item.written[len(item.written.rstrip()) :]
            reply = f"{reply.rstrip()}[{own[0]}]{tail}"
            last, lost = frozenset(own[:1]), False
    return reply.strip()
