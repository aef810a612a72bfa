"""Invented names through the whole product: unfindable, one request, found. By the e5 embedder."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from app.main import create_app
from app.settings import Settings

PRODUCTS = {
    "笙豆云朵净化仓": "sdyd",
    "鹊桥暖舱二代": "QQNC",
    "白鹭伏案灯": "blf",
    "星絮磁浮枕": "软绵绵",
    "苔原静音磨": "小咕噜",
    "青梧蒸护柜": "大暖箱",
    "沉渊滤芯组": "咕咚宝",
    "拾光影音台": "小喇叭花",
    "霁月新风塔": "呼呼机",
    "松烟煮茶座": "胖墩儿",
}
FACTS = (
    "保修期是十二个月，凭订单号可以报修。",
    "清洗时先断电，再用软布擦拭外壳。",
    "充电需要三个小时，指示灯变绿就是充满。",
    "额定功率是八百瓦，不要与大功率电器共用插座。",
    "配件可以单独购买，滤网每半年更换一次。",
)


async def found(http: httpx.AsyncClient) -> list[str]:
    """Products that are first, and pass the gate, by their short names."""
    names = []
    for product, short in PRODUCTS.items():
        asked = {"query": f"{short}充电要多久"}
        searched = (await http.post("/api/v1/knowledge/search", json=asked)).json()
        best = next(iter(searched["candidates"]), None)
        if searched["verdict"] == "pass" and best and best["title"] == product:
            names.append(product)
    return names


@pytest.mark.acceptance(only=True)
async def test_ten_invented_short_names_are_found_after_one_request(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, embedder="e5", samples_enabled=False))
    files = [
        ("files", (f"{name}.md", f"# {name}\n\n" + "\n\n".join(f"{name}{fact}" for fact in FACTS))) for name in PRODUCTS
    ]
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=120)
    async with app.router.lifespan_context(app), client as http:
        await http.post("/api/v1/knowledge/documents", params={"wait": 60}, files=files)
        for _ in range(300):
            if (await http.get("/api/v1/knowledge/documents")).json()["total"] == len(PRODUCTS):
                break
            await asyncio.sleep(0.2)
        await app.state.container.base.wait_until_settled()
        assert await found(http) == []
        entries = [{"kind": "abbreviation", "term": short, "others": [name]} for name, short in PRODUCTS.items()]
        taken = await http.post("/api/v1/knowledge/vocabulary/entries", json={"entries": entries})
        assert taken.json() == {"taken": len(PRODUCTS), "refused": []}
        assert await found(http) == list(PRODUCTS)
        for product, short in PRODUCTS.items():
            told = (await http.post("/api/v1/chat", json={"message": f"{short}充电要多久"})).json()
            assert (told["outcome"], told["data"]["sources"][0]["title"]) == ("answered", product)
