"""A LangChain retriever over the hit test: `pip install yingda-client[langchain]`."""

from __future__ import annotations

from typing import cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from .async_client import AsyncClient
from .options import SearchOptions
from .passages import read_passages
from .sync_client import Client
from .types import FilterIn, SearchResponse


class YingdaRetriever(BaseRetriever):  # type: ignore[misc]  # its package is not read by mypy here
    """client: with the key of staff; async_client: for `ainvoke`, which otherwise runs `client` in a thread; gated:
    give what the server would answer from and no more.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client
    async_client: AsyncClient | None = None
    top_k: int = 5
    filter: dict[str, list[str]] | None = None
    gated: bool = True

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self._build_documents(self.client.search(query, **self._build_options()))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.async_client is None:
            found: list[Document] = await super()._aget_relevant_documents(query, run_manager=run_manager)
            return found
        return self._build_documents(await self.async_client.search(query, **self._build_options()))

    def _build_options(self) -> SearchOptions:
        options: SearchOptions = {"top_k": self.top_k}
        if self.filter is not None:
            options["filter"] = cast(FilterIn, self.filter)
        return options

    def _build_documents(self, response: SearchResponse) -> list[Document]:
        return [
            Document(id=passage.id, page_content=passage.text, metadata=passage.metadata)
            for passage in read_passages(response, gated=self.gated)
        ]
