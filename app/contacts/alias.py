"""Short names for customers of whom nothing is known: the same conversation always has the same."""

from __future__ import annotations

from hashlib import sha256

from app.contacts.types import Alias

# Colours of the page that a name may have.
COLOURS = 8
_TREES = (
    ("云杉", "Spruce"), ("白桦", "Birch"), ("银杏", "Ginkgo"), ("青松", "Pine"), ("红枫", "Maple"), ("香樟", "Camphor"),
    ("垂柳", "Willow"), ("梧桐", "Plane"), ("翠竹", "Bamboo"), ("丹桂", "Osmanthus"), ("海棠", "Crabapple"),
    ("玉兰", "Magnolia"), ("石榴", "Pomegranate"), ("紫藤", "Wisteria"), ("木槿", "Hibiscus"), ("山茶", "Camellia"),
    ("蜡梅", "Wintersweet"), ("樱花", "Cherry"), ("桃李", "Peach"), ("合欢", "Silk-tree"), ("水杉", "Redwood"),
    ("冬青", "Holly"), ("雪松", "Cedar"), ("橡树", "Oak"), ("榉木", "Beech"), ("白杨", "Poplar"), ("榆树", "Elm"),
    ("核桃", "Walnut"), ("栗树", "Chestnut"), ("橄榄", "Olive"), ("柠檬", "Lemon"), ("棕榈", "Palm"),
)  # fmt: skip
_NUMBERS = 90
_FIRST = 10


def build_alias(tenant: str, session_id: str) -> Alias:
    """Returns the short name of an unknown customer: one of 2,880, such as 云杉-42, which reveals nothing of the id."""
    drawn = int.from_bytes(sha256(f"{tenant}\0{session_id}".encode()).digest()[:8])
    drawn, tree = divmod(drawn, len(_TREES))
    drawn, number = divmod(drawn, _NUMBERS)
    zh, en = _TREES[tree]
    return Alias(f"{zh}-{number + _FIRST}", f"{en}-{number + _FIRST}", drawn % COLOURS)
