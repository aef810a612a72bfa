"""What recognising a scanned page takes and how much of it is read right, on pages drawn here from a folder's text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from knowledge.errors import KnowledgeError, MissingDependency
from knowledge.parsing.recognition import build_lines
from knowledge.parsing.registry import PARSERS, parse
from knowledge.recognition.rapid import REQUIREMENTS, RapidRecogniser, is_installed

PAGES = 4
# Lines of a page, and characters of a line at most.
_LINES, _WIDE = 34, 36
_FONTS = ("wqy-zenhei.ttc", "NotoSansCJK-Regular.ttc", "NotoSerifCJK-Regular.ttc", "msyh.ttc", "PingFang.ttc")
# Inches of A4.
_PAPER = 8.27, 11.69


def run_ocr(folder: Path, pages: int, font: Path | None = None) -> dict[str, Any]:
    """Characters right and seconds of CPU of clean pages, and of noisy ones that lie aslant.

    Raises MissingDependency without the recogniser or a Chinese font.
    """
    if not is_installed():
        raise MissingDependency(f"要先安装文字识别组件：pip install -r {REQUIREMENTS}")
    drawn = _find_font(font)
    started = process_time()
    recogniser = RapidRecogniser()
    loading = process_time() - started
    said = _read_sentences(folder)
    report: dict[str, Any] = {"pages": pages, "load_cpu_seconds": round(loading, 2)}
    for name, dpi, noise, angle in (("clean_150dpi", 150, 0, 0.0), ("noisy_200dpi_aslant", 200, 12, 0.7)):
        rights, seconds = [], []
        for number in range(pages):
            lines = _build_page_text(said, number)
            picture = _draw_page(lines, drawn, dpi, noise, angle)
            started = process_time()
            found = build_lines(recogniser.recognise_texts(picture), 1)
            seconds.append(process_time() - started)
            rights.append(_compute_right("".join(lines), "".join(line.text for line in found)))
        report[name] = {"characters_right": round(mean(rights), 4), "cpu_seconds_a_page": round(mean(seconds), 2)}
    return report


def _read_sentences(folder: Path) -> Sequence[str]:
    texts: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in PARSERS:
            texts += [block.text for block in parse(path.name, path.read_bytes()).blocks if len(block.text) > _WIDE]
    if not texts:
        raise KnowledgeError(f"{folder} 里没有够长的文字")
    return texts


def _build_page_text(said: Sequence[str], number: int) -> list[str]:
    """Lines of sentences in an order of this page's own."""
    lines: list[str] = []
    for text in random.Random(number).sample(said, min(len(said), _LINES)):
        flat = " ".join(text.split())
        lines += [flat[start : start + _WIDE] for start in range(0, len(flat), _WIDE)]
    return lines[:_LINES]


def _draw_page(lines: Sequence[str], font: str, dpi: int, noise: int, angle: float) -> np.ndarray[Any, Any]:
    page = Image.new("L", (int(_PAPER[0] * dpi), int(_PAPER[1] * dpi)), 245)
    face = ImageFont.truetype(font, int(10.5 / 72 * dpi))
    for row, line in enumerate(lines):
        ImageDraw.Draw(page).text((0.9 * dpi, 0.8 * dpi + row * int(20 / 72 * dpi)), line, fill=40, font=face)
    page = page.rotate(angle, fillcolor=245, resample=Image.Resampling.BICUBIC)
    if noise:
        page = page.filter(ImageFilter.GaussianBlur(0.8))
    pixels = np.asarray(page, np.float32) + np.random.default_rng(1).normal(0, noise, (page.height, page.width))
    return np.repeat(pixels.clip(0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def _compute_right(wanted: str, found: str) -> float:
    """Share of the characters, white space aside, that are found in their order."""
    wanted, found = "".join(wanted.split()), "".join(found.split())
    blocks = SequenceMatcher(None, wanted, found, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(wanted)


def _find_font(given: Path | None) -> str:
    for name in (str(given),) if given else _FONTS:
        try:
            return ImageFont.truetype(name, 12).path  # type: ignore[return-value]
        except OSError:
            continue
    raise MissingDependency("找不到中文字体：Debian 上 apt-get install fonts-wqy-zenhei，或用 --font 指定")
