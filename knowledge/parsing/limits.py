"""Limits on what one file may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParsingLimits:
    """A file over any of these is refused as a whole.

    `max_characters` counts the text that comes out, so that a small file cannot unfold into a huge one (a shared string
    of a spreadsheet may be used a million times). `max_cells` counts empty cells too: it bounds time.
    `max_indexed_characters` counts what is embedded, where titles, headings and answers are repeated in every chunk.
    """

    max_bytes: int = 20 * 2**20
    max_pages: int = 2000
    max_recognised_pages: int = 100
    max_pixels: int = 80_000_000
    max_characters: int = 5_000_000
    max_rows: int = 100_000
    max_cells: int = 20_000_000
    max_unpacked_bytes: int = 200 * 2**20
    max_archive_entries: int = 10_000
    max_compression_ratio: int = 200
    max_chunks: int = 150_000
    max_indexed_characters: int = 20_000_000
