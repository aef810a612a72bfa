"""The retrievers inside the real LangChain and LlamaIndex."""

from __future__ import annotations

import asyncio
from pathlib import Path

from langchain_core.runnables import RunnableLambda
from llama_index.core.schema import QueryBundle

from app.client.yingda_client import AsyncClient, Client
from app.client.yingda_client.langchain import YingdaRetriever as LangChainRetriever
from app.client.yingda_client.llamaindex import YingdaRetriever as LlamaIndexRetriever
from tests.app.serving import served

QUESTION = "签收之后七天内可以退货"
DOCUMENT = ("退货.md", "# 退货\n\n## 期限\n\n签收之后七天内可以退货。\n".encode())


async def test_both_find_what_the_hit_test_finds(tmp_path: Path) -> None:
    async with served(tmp_path / "data") as server, AsyncClient(server.address) as remote:
        await remote.upload_documents([DOCUMENT], wait=30)
        (candidate, *_) = (await remote.search(QUESTION, top_k=1))["candidates"]
        with Client(server.address) as client:
            chained = LangChainRetriever(client=client, async_client=remote, top_k=1, gated=False)
            chain = chained | RunnableLambda(lambda documents: [document.page_content for document in documents])
            assert await asyncio.to_thread(chain.invoke, QUESTION) == [candidate["text"]]
            (document,) = await chained.ainvoke(QUESTION)
            assert (document.id, document.metadata["title"]) == (candidate["chunk_id"], "退货")
            indexed = LlamaIndexRetriever(client, remote, top_k=1, gated=False)
            (node,) = await asyncio.to_thread(indexed.retrieve, QUESTION)
            assert (node.node_id, node.score) == (candidate["chunk_id"], candidate["probability"])
            (same,) = await indexed.aretrieve(QueryBundle(QUESTION))
            assert same.text == candidate["text"]
            refused = LangChainRetriever(client=client, filter={"document_ids": [candidate["document_id"]]})
            assert await asyncio.to_thread(refused.invoke, "火星上有多少家门店") == []
