"""The result of screening a message, and its signatures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a message is rejected: its form, a family of attacks with a certain signature, or the classifier."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    REPETITION = "repetition"
    OVERRIDE = "override"
    EXTRACTION = "extraction"
    PERSONA = "persona"
    STEERING = "steering"
    PAYLOAD = "payload"
    TRANSCRIPT = "transcript"
    SUSPICIOUS = "suspicious"


@dataclass(frozen=True, slots=True)
class Signature:
    """A sign of an attack: all parts are found in a message, in any order.

    `certain`: no customer writes it, so it rejects alone, without a model. The others are evidence for the classifier,
    since customers too write 不用管上面的问题了 and 别再跟我说抱歉.
    """

    name: str
    reason: Reason
    certain: bool
    parts: tuple[re.Pattern[str], ...]

    def is_found_in(self, text: str) -> bool:
        return all(part.search(text) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason` is None for a message that passes. `probability` of an attack, in [0, 1], where attacks and other
    messages are equally likely beforehand; 1.0 with a certain signature.
    """

    reason: Reason | None
    probability: float
    # Names of those found.
    signatures: tuple[str, ...] = ()
    # Whether the embedding was used.
    embedded: bool = False
