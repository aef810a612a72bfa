"""A model that writes questions about passages and judges whether passages answer them."""

from __future__ import annotations

import json
import re
from itertools import count

from agents.judge import list_measuring_examples
from agents.reader import PASSAGES
from scripts.scripted_llm import CallTools, ScriptedLLM, Step

KNOWN = {example.text: example.holds for example in list_measuring_examples(PASSAGES)}
_QUESTION = re.compile(r"<问题>\n(.*?)\n</问题", re.DOTALL)


class Examiner(ScriptedLLM):
    """Writes two new questions of every passage."""

    def __init__(self) -> None:
        super().__init__(judges=judge)
        self._numbers = count(1)

    def _take_step(self) -> Step:
        number = next(self._numbers)
        told = {"stated": f"第{number}条写了什么", "missing": f"第{number}条没写什么"}
        return CallTools((), json.dumps(told, ensure_ascii=False))


def judge(prompt: str) -> float:
    found = _QUESTION.search(prompt)
    if found is None:  # a sentence of a reply is judged
        return 4.0
    return 4.0 if KNOWN.get(found[1], "没写" not in found[1]) else -4.0
