"""Twenty saved pages in which every text that an article says is marked with ✓, and how much of it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
_MARK = "✓"
_UNREAD = {"script", "style", "title", "button"}


@dataclass(frozen=True, slots=True)
class Figures:
    """`lost`: texts of the article that were not read; `kept`: furniture that was. `wanted`: how many there are."""

    wanted: int
    lost: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def recall(self) -> float:
        """Share of the article's texts that were read."""
        return 1 - len(self.lost) / self.wanted

    @property
    def precision(self) -> float:
        """Share of the article's texts among all that were read."""
        read = self.wanted - len(self.lost)
        return read / (read + len(self.kept) or 1)


def measure(page: Path, extract: Callable[[bytes], str]) -> Figures:
    """`extract`: all that is read of a page, without its title element."""
    html = page.read_text("utf-8")
    body = LexborHTMLParser(html).body
    assert body is not None
    wanted, furniture = [], []
    for node in body.traverse(include_text=True):
        text = _squeeze(node.text_content or "") if node.is_text_node else (node.attributes.get("alt") or "")
        parents = node.parent.tag if node.parent else ""
        if text.startswith(_MARK):
            wanted.append(text.removeprefix(_MARK))
        elif len(text) > 1 and parents not in _UNREAD:
            furniture.append(text)
    found = _squeeze(extract(html.replace(_MARK, "").encode()))
    lost = tuple(text for text in wanted if text not in found)
    for text in sorted(wanted, key=len, reverse=True):
        found = found.replace(text, "\n")
    return Figures(len(wanted), lost, tuple(text for text in furniture if text in found))


def _squeeze(text: str) -> str:
    return "".join(text.split())
