"""A LlamaIndex retriever over the hit test: `pip install yingda-client[llamaindex]`."""

from __future__ import annotations

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from .async_client import AsyncClient
from .options import SearchOptions
from .passages import read_passages
from .sync_client import Client
from .types import FilterIn, SearchResponse


class YingdaRetriever(BaseRetriever):  # type: ignore[misc]  # its package is not read by mypy here
    """client: with the key of staff; async_client: for `aretrieve`, which otherwise waits for `client`; gated: give
    what the server would answer from and no more.
    """

    def __init__(
        self,
        client: Client,
        async_client: AsyncClient | None = None,
        *,
        top_k: int = 5,
        filter: FilterIn | None = None,
        gated: bool = True,
    ) -> None:
        super().__init__()
        self._client = client
        self._async_client = async_client
        self._gated = gated
        self._options: SearchOptions = {"top_k": top_k}
        if filter is not None:
            self._options["filter"] = filter

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._build_nodes(self._client.search(query_bundle.query_str, **self._options))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async_client is None:
            return self._retrieve(query_bundle)
        return self._build_nodes(await self._async_client.search(query_bundle.query_str, **self._options))

    def _build_nodes(self, response: SearchResponse) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(id_=passage.id, text=passage.text, metadata=passage.metadata), score=passage.score
            )
            for passage in read_passages(response, gated=self._gated)
        ]
