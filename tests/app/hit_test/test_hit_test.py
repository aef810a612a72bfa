from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.serving import Served, served

RETURNS = "# 退货说明\n\n退款在验货后 1～5 个工作日内原路退回。\n\n## 运费\n\n质量问题的退货运费由商城承担。\n"
OTHERS = "\n\n".join(f"## 第{n}条\n\n门店{n}的营业时间是{n}点开始，节假日照常营业。" for n in range(1, 13))
QUESTION = "退款在验货后几个工作日内原路退回"
PATH = "/api/v1/knowledge/search"


@pytest.fixture(scope="module")
async def product(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    folder: Path = tmp_path_factory.mktemp("hit")
    async with served(folder, vector_top_k=3, bm25_top_k=3, rerank_top_k=2) as running:
        files = [("退货.md", RETURNS.encode()), ("门店.md", f"# 门店\n\n{OTHERS}".encode())]
        assert all(r.ready for r in await running.container.ingestion.add("default", files))
        await (await running.container.tenants.of("default")).retriever.calibrate()
        yield running
