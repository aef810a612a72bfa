"""Files of this folder: three scanned pages, and a photo of the second. 110 dots an inch, black and white."""

from __future__ import annotations

from pathlib import Path

PAGES = Path(__file__).parent / "pages"
SCANNED = (PAGES / "scanned.pdf").read_bytes()
PHOTO = (PAGES / "photo.png").read_bytes()
SECOND = (
    "大型家电可以预约上门维修，工程师在四十八小时内联系客户。",
    "三环以内免收上门费，三环以外每次收取六十元上门费。",
    "维修完成后请在维修单上签字，凭维修单保修九十天。",
)
