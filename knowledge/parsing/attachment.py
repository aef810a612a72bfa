"""What customers and staff send each other: told by its bytes, and a picture written anew, so that nothing is left of
it but what is seen. Places, cameras and whatever hides behind a picture (EXIF, comments, a second file) go.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

from PIL import Image, ImageOps, UnidentifiedImageError

from knowledge.errors import BrokenDocument, DocumentTooLarge, EmptyDocument, HostileDocument, UnsupportedType
from knowledge.file_inspection import FILE_TYPES, PICTURE_EXTENSIONS, InspectedFile
from knowledge.parsing.limits import ParsingLimits

# Pixels; a page of small print that was photographed can be read at that.
LONGEST_SIDE = 2560
QUALITY = 85
# A larger picture is a photograph, which JPEG keeps in a tenth of it.
MAX_PNG_BYTES = 2 * 2**20
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
_PICTURE_HEADS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*")
_HEADS: Mapping[bytes, str] = {
    b"%PDF-": "application/pdf",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
    b"#!AMR": "audio/amr",
}
# Of files in boxes (ISO 14496-12); all other brands that phones write are MP4.
_BRANDS: Mapping[bytes, str] = {b"qt  ": "video/quicktime", b"M4A ": "audio/mp4"}
_HEIF = (b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif")
_OFFICE_PARTS: Mapping[str, str] = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "ppt/presentation.xml": "pptx",
}
_BY_EXTENSION = {extension: kind for kind, extensions in FILE_TYPES.items() for extension in extensions}
_MACROS = "vbaProject.bin"


def inspect_attachment(name: str, content: bytes, limits: ParsingLimits) -> InspectedFile:
    """Detects the type of a file by its bytes, and writes a picture anew.

    Raises:
        UnsupportedType: If this type is not accepted.
        BrokenDocument: If bytes and name do not agree.
        HostileDocument, EmptyDocument, DocumentTooLarge: If the file is at fault.
    """
    if not content:
        raise EmptyDocument(name, "是空文件")
    if len(content) > limits.max_bytes:
        raise DocumentTooLarge(name, f"超过 {limits.max_bytes / 2**20:.4g} MB 的上限")
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if content.startswith(_PICTURE_HEADS) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        if extension and extension not in PICTURE_EXTENSIONS:
            raise BrokenDocument(name, "的内容与扩展名不符")
        return _inspect_picture(name, content, limits)
    if content[4:8] == b"ftyp" and content[8:12] in _HEIF:
        raise UnsupportedType(name, "是 HEIC/AVIF 图片，暂不支持，请改发 JPG 或截图")
    if extension not in _BY_EXTENSION:
        raise UnsupportedType(name, "的格式不支持")
    media_type = _check_extension(name, content, extension, limits)
    if media_type != _BY_EXTENSION[extension]:
        raise BrokenDocument(name, "的内容与扩展名不符")
    return InspectedFile(media_type)


def _check_extension(name: str, content: bytes, extension: str, limits: ParsingLimits) -> str:
    """Returns the type of the bytes; empty if it is none of the known types."""
    for head, media_type in _HEADS.items():
        if content.startswith(head):
            return media_type
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "audio/wav"
    if content[4:8] == b"ftyp":
        return _BRANDS.get(content[8:12], "video/mp4")
    if content.startswith(b"PK\x03\x04"):
        return _find_office_type(name, content, limits)
    if _BY_EXTENSION[extension].startswith("text/") and _is_text(content):
        return _BY_EXTENSION[extension]
    return ""


def _find_office_type(name: str, content: bytes, limits: ParsingLimits) -> str:
    """Returns the type of a ZIP archive without unpacking it.

    Raises:
        BrokenDocument, HostileDocument: If the archive is at fault.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError) as error:
        raise BrokenDocument(name, "已损坏，打不开") from error
    unpacked = sum(entry.file_size for entry in listed)
    if len(listed) > limits.max_archive_entries or unpacked > limits.max_unpacked_bytes:
        raise HostileDocument(name, "解压后过大，已拒绝")
    names = {entry.filename for entry in listed}
    if any(entry.endswith(_MACROS) for entry in names):
        raise UnsupportedType(name, "带有宏，不支持")
    return next((_BY_EXTENSION[kind] for part, kind in _OFFICE_PARTS.items() if part in names), "")


def _is_text(content: bytes) -> bool:
    if b"\0" in content:
        return False
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return True
    return False


def _inspect_picture(name: str, content: bytes, limits: ParsingLimits) -> InspectedFile:
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > limits.max_pixels:
                raise _report_huge(name, limits)
            return _rewrite_picture(image)
    except Image.DecompressionBombError as error:
        raise _report_huge(name, limits) from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error) as error:
        raise BrokenDocument(name, "不是完好的图片") from error


def _report_huge(name: str, limits: ParsingLimits) -> HostileDocument:
    return HostileDocument(name, f"超过 {limits.max_pixels // 10**6} 百万像素，已拒绝")


def _rewrite_picture(image: Image.Image) -> InspectedFile:
    """Writes the first picture anew, upright and of limited size: as JPEG, or as PNG if it was one and stays small."""
    lossless = image.format in ("PNG", "GIF")
    if max(image.size) > 2 * LONGEST_SIDE:
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # of a JPEG: unpacks no more than that
    upright = ImageOps.exif_transpose(image)
    clear = "A" in upright.getbands() or "transparency" in upright.info
    flat = upright.convert("RGBA" if clear else "RGB")
    flat.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    flat.info = {}  # a comment or a colour profile would be written again
    if lossless:
        written = _save_picture(flat, "PNG", optimize=True)
        if len(written) <= MAX_PNG_BYTES:
            return InspectedFile("image/png", written, *flat.size)
    if clear:
        flat = Image.alpha_composite(Image.new("RGBA", flat.size, "white"), flat).convert("RGB")
    return InspectedFile("image/jpeg", _save_picture(flat, "JPEG", quality=QUALITY, optimize=True), *flat.size)


def _save_picture(image: Image.Image, kind: str, **options: object) -> bytes:
    kept = io.BytesIO()
    image.save(kept, kind, **options)
    return kept.getvalue()
