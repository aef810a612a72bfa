"""Reads pictures and scans (PNG, JPEG, TIFF, BMP, WebP) with a recogniser."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps, ImageSequence

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument, DocumentTooLarge, EmptyDocument, HostileDocument, ScannedDocument
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.omissions import Omissions
from knowledge.parsing.page_pieces import build_pieces, extract_body
from knowledge.parsing.pieces import Heading, ParsedTable, Piece
from knowledge.parsing.recognition import (
    LONGEST_SIDE,
    build_lines,
    build_recognised_notice,
    compute_scale,
    normalize_sizes,
)

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Pixels

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
_SIGNATURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"BM", b"RIFF")


class PictureParser(Parser):
    """A picture is a page; a TIFF may have several."""

    def _check_signature(self, source: SourceFile) -> None:
        if not source.content.startswith(_SIGNATURES):
            raise BrokenDocument(source.name, "的内容与扩展名不符，或文件开头已损坏")

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        if source.recogniser is None:
            raise ScannedDocument(source.name, "是图片，要做文字识别（OCR）才能读出文字")
        with _open_picture(source) as image:
            count = getattr(image, "n_frames", 1)
            if count > source.limits.max_recognised_pages:
                most = source.limits.max_recognised_pages
                raise DocumentTooLarge(source.name, f"要做文字识别的页超过 {most} 页的上限，请拆分后再上传")
            pages = []
            for number, frame in enumerate(islice(ImageSequence.Iterator(image), count), start=1):
                pixels = read_pixels(source, frame)
                pages.append(build_lines(source.recogniser.recognise_texts(pixels), number))
        left_out = Omissions()
        kept = extract_body(normalize_sizes(pages), left_out)
        if not any(kept):
            raise EmptyDocument(source.name, "里没有认出文字")
        yield build_recognised_notice([number for number, page in enumerate(kept, start=1) if page])
        for piece in build_pieces(kept, {}):
            if count == 1 and isinstance(piece, Heading | Block | ParsedTable):
                yield replace(piece, page=None)
            else:
                yield piece
        yield from left_out.build_notices()


def _open_picture(source: SourceFile) -> Image.Image:
    """Opens a picture; only its head is read.

    Raises:
        HostileDocument: If it is huge.
        Exception: Whatever Pillow raises on broken input.
    """
    try:
        return Image.open(io.BytesIO(source.content), formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise _report_huge(source) from error


def _report_huge(source: SourceFile) -> HostileDocument:
    return HostileDocument(source.name, f"的图片超过 {source.limits.max_pixels // 10**6} 百万像素，已拒绝")


def read_pixels(source: SourceFile, image: Image.Image) -> Pixels:
    """Returns the picture upright, on white, of limited size.

    Raises:
        HostileDocument: If it is huge; raised before it is unpacked.
    """
    width, height = image.size
    if width * height > source.limits.max_pixels:
        raise _report_huge(source)
    scale = compute_scale(width, height)
    if scale < 1:
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # of a JPEG: unpacks no more than that
    upright = ImageOps.exif_transpose(image)
    if "A" in upright.getbands() or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    flat = upright.convert("RGB")
    if scale < 1:
        flat.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return np.ascontiguousarray(np.asarray(flat)[:, :, ::-1])
