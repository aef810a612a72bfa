"""Parts of a router for tests: the hash embedder knows words, not meanings, which the mechanics do not need."""

from __future__ import annotations

from collections.abc import Sequence

from agents.errors import BusinessUnavailable
from agents.router import Router, RouterParts
from agents.routing.anchors import Anchors, read_anchors
from agents.routing.head import fit_head
from agents.routing.types import Route
from agents.types import Question
from agents.understanding.entities import Entity
from agents.understanding.utterance import Utterance
from knowledge.embeddings.hash import HashEmbedder
from knowledge.types import Vector

EMBEDDER = HashEmbedder()
ANCHORS = read_anchors(
    [
        "intent: knowledge_qa\nexamples: [怎么退货, 退款多久到账, 保修期多久, 怎么开发票]\n"
        "with:\n  business_query: [我的订单能退吗，运费怎么算]",
        "intent: business_query\nexamples: [我的订单到哪了, 我的积分有多少, 查我的退款]",
        "intent: human_request\nexamples: [转人工, 找人工客服]",
        "intent: irrelevant\nexamples: [今天天气好吗, 播放一首歌, 讲讲历史]\nnot:\n  knowledge_qa: [下雨天怎么送货]",
        "intent: chitchat\nexamples: [你喜欢什么, 你几岁了, 陪我聊聊]",
    ]
)


class FixedResolver:
    """Knows these names; counts what it is asked."""

    def __init__(self, *known: str, down: bool = False) -> None:
        self._known, self._down = known, down
        self.asked: list[Entity] = []

    async def resolve(self, entities: Sequence[Entity], caller: str) -> Sequence[Entity]:
        self.asked += entities
        if self._down:
            raise BusinessUnavailable("away")
        return [entity for entity in entities if entity.value in self._known]


class FixedEvidence:
    """Any message is this near."""

    def __init__(self, closeness: float) -> None:
        self._closeness = closeness

    async def measure_closeness(self, vector: Vector) -> float:
        return self._closeness


async def router(anchors: Anchors = ANCHORS, **parts: object) -> Router:
    """A router with these parts beside a head fitted on the anchors."""
    return Router(RouterParts(await fit_head(EMBEDDER, anchors), **parts))  # type: ignore[arg-type]


async def routed(text: str, anchors: Anchors = ANCHORS, **parts: object) -> Route:
    """Where a message goes."""
    return await (await router(anchors, **parts)).route(Question(Utterance(text)), await EMBEDDER.embed_question(text))
