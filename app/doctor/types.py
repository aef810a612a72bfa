"""What a check of the configuration finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """`note`: something optional is not there; `error`: the service would not start, or not do what is configured."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """subject: what was looked at; told: how it is; fix: what to do, empty only where nothing is to be done."""

    level: Level
    subject: str
    told: str
    fix: str = ""


def report_fine(subject: str, told: str) -> Diagnosis:
    """As it should be."""
    return Diagnosis(Level.OK, subject, told)


def report_note(subject: str, told: str, fix: str) -> Diagnosis:
    """Goes without."""
    return Diagnosis(Level.NOTE, subject, told, fix)


def report_warning(subject: str, told: str, fix: str) -> Diagnosis:
    """Works, but hardly as meant."""
    return Diagnosis(Level.WARNING, subject, told, fix)


def report_error(subject: str, told: str, fix: str) -> Diagnosis:
    """Does not work."""
    return Diagnosis(Level.ERROR, subject, told, fix)
