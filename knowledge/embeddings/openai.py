"""Any OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

from typing import Any

from knowledge.embeddings.remote import RemoteEmbedder
from knowledge.model_server import AnswerTime


class OpenAIEmbedder(RemoteEmbedder):
    """Calls `POST {base}/embeddings`. Each vector comes with the place of its text."""

    protocol = "openai"
    batch_size = query_batch = 10  # the smallest limit among common services

    def _request_vectors(self, texts: list[str], patience: AnswerTime) -> list[Any]:
        body = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        rows = {item["index"]: item["embedding"] for item in self._server.post("/embeddings", body, patience)["data"]}
        return [rows[index] for index in range(len(rows))]
