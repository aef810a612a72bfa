from __future__ import annotations

import asyncio

from app.db.engine import Database
from app.generations.repository import GenerationRepository
from app.generations.types import StoredGeneration


async def test_of_those_who_make_the_same_generation_one_does(database: Database) -> None:
    stored = GenerationRepository(database)
    for number in (1, 2):
        made = await asyncio.gather(*(stored.put("t", StoredGeneration(number, f"e{n}")) for n in range(6)))
        assert sorted(made) == [False] * 5 + [True]
        assert await stored.load_all() == {"t": StoredGeneration(number, f"e{made.index(True)}")}
    assert not await stored.put("t", StoredGeneration(1, "e5"))
    assert not await stored.put("t", StoredGeneration(4, "e5"))
