"""The real models on a photo; longer files are measured, see the page on the knowledge base."""

from __future__ import annotations

from knowledge.parsing.registry import parse
from knowledge.recognition.rapid import RapidRecogniser
from tests.knowledge.recognition.scanned import PHOTO, SECOND


def test_what_is_printed_is_read() -> None:
    parsed = parse("照片.png", PHOTO, recogniser=RapidRecogniser())
    assert parsed.title == "上门维修"
    assert tuple(block.text for block in parsed.blocks) == SECOND
