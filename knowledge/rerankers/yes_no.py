"""A language model that says yes or no of a question and a passage, as Qwen3-Reranker does, behind an OpenAI-compatible
endpoint for completions: vLLM, llama.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from knowledge.errors import InvalidConfiguration
from knowledge.model_server import WAITING
from knowledge.rerankers.base import Fallback
from knowledge.rerankers.cross_encoder import Passages
from knowledge.rerankers.remote import RemoteReranker, RerankEndpoint

YES, NO = "yes", "no"
# Alternatives that vLLM tells unless it is started otherwise.
TOP_TOKENS = 20
_MARK, _BROKEN_MARK = "<|", "< |"


class YesNoReranker(RemoteReranker):
    """`POST {base}/completions`, all passages of a question in one: the log-odds of yes against no as next token."""

    kind = "yes_no"

    def __init__(self, endpoint: RerankEndpoint, candidates: int, fallback: Fallback, template: str = "") -> None:
        """template: the file of the prompt, with $query and $document; empty for the shipped one. Raises
        InvalidConfiguration.
        """
        super().__init__(endpoint, candidates, fallback)
        self._template = _read_template(template)

    @property
    def constants(self) -> tuple[float | str, ...]:  # type: ignore[override]
        return *super().constants, self._template.template

    def _request_scores(self, reading: Passages) -> dict[int, float]:
        body = {
            "model": self._model,
            "prompt": [self._build_prompt(reading.question, text) for text in reading.texts],
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": TOP_TOKENS,
        }
        choices = self._server.post("/completions", body, WAITING)["choices"]
        return {choice["index"]: choose_yes(read_first_alternatives(choice["logprobs"])) for choice in choices}

    def _build_prompt(self, question: str, text: str) -> str:
        """Fills the template. Marks of the template are removed from the texts: they would end them."""
        query, document = (each.replace(_MARK, _BROKEN_MARK) for each in (question, text))
        return self._template.substitute(query=query, document=document)


def read_first_alternatives(logprobs: dict[str, Any]) -> list[tuple[str, float]]:
    """Reads the likeliest first tokens with their log-probabilities, in the form of vLLM or of llama.cpp.

    Raises:
        LookupError, TypeError: If the answer has another form.
    """
    if "content" in logprobs:
        return [(each["token"], each["logprob"]) for each in logprobs["content"][0]["top_logprobs"]]
    return list(logprobs["top_logprobs"][0].items())


def choose_yes(alternatives: Iterable[tuple[str, float]]) -> float:
    """Returns the log-odds of yes against no. One that is not among the alternatives counts as likely as the last of
    them.

    Raises:
        ValueError: If neither is among them.
    """
    remaining = list(alternatives)
    chances = [
        [log_probability for token, log_probability in remaining if token.strip().lower() == word] for word in (YES, NO)
    ]
    if not any(chances):
        raise ValueError("the model says neither yes nor no: it is no reranker, or the template is another's")
    least = min(log_probability for _, log_probability in remaining)
    yes, no = (_compute_log_of_sum(each) if each else least for each in chances)
    return yes - no


def _compute_log_of_sum(logs: list[float]) -> float:
    largest = max(logs)
    return largest + math.log(sum(math.exp(each - largest) for each in logs))


def _read_template(path: str) -> Template:
    shipped = files("knowledge") / "rerankers" / "yes_no.txt"
    try:
        template = Template((Path(path) if path else shipped).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(f"RERANK_TEMPLATE={path} 读不了：{error}") from error
    if not template.is_valid() or sorted(template.get_identifiers()) != ["document", "query"]:
        raise InvalidConfiguration(f"RERANK_TEMPLATE={path} 里要有 $query 与 $document，没有别的 $ 变量")
    return template
