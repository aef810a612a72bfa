"""The common part of rerankers that run on a server."""

from __future__ import annotations

import asyncio
import math
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from knowledge.breaker import Breaker, BreakerOptions
from knowledge.errors import RerankRefused, RerankUnavailable
from knowledge.model_server import AnswerRefused, ModelServer, ServerUnavailable
from knowledge.rerankers.base import Fallback
from knowledge.rerankers.cross_encoder import MAX_PASSAGE_CHARS, CrossEncoder, Passages

CALLS = 16
_VARIABLES = "RERANK_BASE_URL, RERANK_API_KEY, RERANK_MODEL"


@dataclass(frozen=True, slots=True)
class RerankEndpoint:
    """Where the server is. model: with the host, the name under which calibrations are kept."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    breaker: BreakerOptions = field(default_factory=BreakerOptions)


class RemoteReranker(CrossEncoder):
    """Base of the rerankers on a server. A provider sets `kind` and writes `_request_scores`. One call reads one
    question: the server batches calls itself.
    """

    elsewhere = True
    breaker: Breaker

    def __init__(self, endpoint: RerankEndpoint, candidates: int, fallback: Fallback) -> None:
        super().__init__(candidates, CALLS, fallback)
        self.breaker = Breaker(f"rerank:{self.kind}", endpoint.model, endpoint.breaker)
        self._model = endpoint.model
        self._server = ModelServer(endpoint.base_url, endpoint.api_key)
        self._threads = ThreadPoolExecutor(CALLS, thread_name_prefix="rerank")

    async def check_server(self) -> float:
        """Scores a question and a passage, to find out whether the server is there.

        Raises:
            RerankUnavailable: If it is not.
        """
        [[score]] = await self._score_batch([Passages("怎么申请退货", ("退货请在订单页申请。",))])
        return score

    @property
    def constants(self) -> tuple[float | str, ...]:  # type: ignore[override]
        """Host and model: services may use one model name for different models."""
        return self._server.host, self._model, self.candidates, MAX_PASSAGE_CHARS

    @abstractmethod
    def _request_scores(self, reading: Passages) -> dict[int, float]:
        """Asks the server for the log-odds of each passage, by place. Blocking.

        Raises:
            AnswerRefused, ServerUnavailable: If the server gives no usable answer.
            KeyError, TypeError, ValueError: If the answer has another form.
        """

    async def _score_passages(self, readings: list[Passages]) -> list[list[float]]:
        loop = asyncio.get_running_loop()
        with self.breaker.guard_server_call(RerankUnavailable, RerankRefused):
            return [await loop.run_in_executor(self._threads, self._score_question, reading) for reading in readings]

    def _score_question(self, reading: Passages) -> list[float]:
        """Scores the passages of one question, in their order, and maps the errors of the server."""
        try:
            scores = self._request_scores(reading)
            ordered = [float(scores[index]) for index in range(len(reading.texts))]
        except AnswerRefused as error:
            raise RerankRefused(f"rerank endpoint refuses a passage ({_VARIABLES}): {error}") from error
        except (ServerUnavailable, KeyError, TypeError, ValueError) as error:
            raise RerankUnavailable(f"rerank endpoint failed ({_VARIABLES}): {error!r}") from error
        if not all(map(math.isfinite, ordered)):
            raise RerankUnavailable("rerank endpoint answered with scores that are no numbers")
        return ordered

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._server.close()
