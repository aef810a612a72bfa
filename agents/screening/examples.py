"""The examples that the heads are fitted on; they were written for the project and ship with it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# Times that an attack with a `{question}` is used, each time with another question.
FILLED = 2
JOINED, JOINED_LINES = 90, (3, 6, 12)
_SLOT = "{question}"


@dataclass(frozen=True, slots=True)
class Example:
    """`attack` says what it is an example of; `family` is its section."""

    text: str
    attack: bool
    family: str


@cache
def load_examples() -> tuple[Example, ...]:
    """Returns all examples, always in the same order and with the same questions in their slots."""
    benign = [Example(text, False, family) for family, text in _read_lines("benign.txt")]
    questions = [example.text for example in benign if example.family == "questions"]
    generator = random.Random(11)
    attacks = [
        Example(text, True, family)
        for family, line in _read_lines("attacks.txt")
        for text in (_fill_slots(line, questions, generator) if _SLOT in line else [line])
    ]
    return (*attacks, *benign)


@cache
def build_long_benign() -> tuple[Example, ...]:
    """Returns benign messages that say several things, for the head with n-grams alone: attacks are long, and without
    these it took long technical questions for attacks.
    """
    benign = [example for example in load_examples() if not example.attack]
    generator = random.Random(12)
    found = []
    for number in range(JOINED):
        own = [example.text for example in benign if example.text.isascii() == (number % 3 == 0)]
        lines = generator.sample(own, JOINED_LINES[number // 3 % len(JOINED_LINES)])
        found.append(Example(generator.choice(("，", "。", "\n", " ")).join(lines), False, "joined"))
    return tuple(found)


def _read_lines(name: str) -> list[tuple[str, str]]:
    """Returns family and text of every example of a file."""
    family, found = "", list[tuple[str, str]]()
    for line in (files("agents.screening") / "examples" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            family = line[3:]
        elif line and not line.startswith("# "):
            found.append((family, line.replace("\\n", "\n")))
    return found


def _fill_slots(line: str, questions: list[str], generator: random.Random) -> list[str]:
    """Returns the line with questions of its own language in its slots."""
    own = [question for question in questions if question.isascii() == line.isascii()]
    parts = line.split(_SLOT)
    chosen = iter(generator.sample(own, FILLED * (len(parts) - 1)))
    return [parts[0] + "".join(next(chosen) + part for part in parts[1:]) for _ in range(FILLED)]
