"""Real files in every format, built here byte by byte or with the libraries that office users' tools resemble."""

from __future__ import annotations

import hashlib
import io
import random
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import docx

from knowledge.blocks import Block
from knowledge.types import ParsedDocument

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")

# x, y, font size in points, and the text.
Text = tuple[float, float, float, str]


def page(*lines: str, top: float = 780, size: float = 10) -> list[Text]:
    """A page of lines under each other."""
    return [(60, top - index * 1.6 * size, size, line) for index, line in enumerate(lines)]


def pdf(
    *pages: Sequence[Text],
    bookmarks: Sequence[tuple[int, str]] = (),
    password: str = "",
    padding: int = 0,
    scanned: Sequence[int] = (),
) -> bytes:
    """A PDF with compressed pages; bookmarks are (page from 0, title); `padding` spaces are added to each page.

    Pages of `scanned` (from 0) show a picture.
    """
    first_page = 5
    kids = " ".join(f"{first_page + 2 * index} 0 R" for index in range(len(pages)))
    first_mark = first_page + 2 * len(pages)
    outlines = f"/Outlines {first_mark} 0 R" if bookmarks else ""
    objects = [
        f"<</Type/Catalog/Pages 2 0 R{outlines}>>".encode(),
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UTF16-H/DescendantFonts[4 0 R]>>",
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000"
        b"/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>>>",
    ]
    for index, texts in enumerate(pages):
        content = "\n".join(
            f"BT /F1 {size} Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET" for x, y, size, text in texts
        ).encode()
        if index in scanned:
            content += b"\nq 500 0 0 700 50 70 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q"
        packed = zlib.compress(content + b" " * padding, 9)
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {first_page + 2 * index + 1} 0 R>>".encode()
        )
        objects.append(b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed))
    if bookmarks:
        objects.extend(_outline(first_mark, first_page, bookmarks))
    return _assemble(objects, password)


def form(texts: Sequence[Text], annotations: Sequence[str]) -> bytes:
    """A PDF of one page with annotations, see `widget`; those of one name and kind Btn are one group of buttons."""
    plain = pdf(texts)
    first = plain.count(b" obj\n") + 1
    bodies = [annotation.replace("APPEARANCE", f"{first + len(annotations)} 0 R") for annotation in annotations]
    drawn = b"/Tx BMC q BT /F1 12 Tf 2 5 Td <%s> Tj ET Q EMC" % "外观".encode("utf-16-be").hex().encode()
    head = b"<</Type/XObject/Subtype/Form/BBox[0 0 150 20]/Resources<</Font<</F1 3 0 R>>>>/Length %d>>"
    appearance = head % len(drawn) + b"stream\n%s\nendstream" % drawn
    listed = " ".join(f"{first + number} 0 R" for number in range(len(bodies)))
    objects = [body.partition(b" obj\n")[2] for body in plain.partition(b"xref\n")[0].split(b"\nendobj\n")[:-1]]
    objects[0] = objects[0].replace(
        b"/Catalog", f"/Catalog/AcroForm<</Fields[{listed}]/DR<</Font<</F1 3 0 R>>>>>>".encode()
    )
    objects[4] = objects[4].replace(b"/Type/Page/", f"/Type/Page/Annots[{listed}]/".encode())
    return _assemble([*objects, *(body.encode() for body in bodies), appearance], "")


def widget(
    name: str,
    box: tuple[float, float, float, float],
    *,
    kind: str = "Tx",
    value: str = "",
    title: str = "",
    state: str = "",
    on: bool = False,
    options: Sequence[tuple[str, str]] = (),
    flags: int = 0,
    hidden: bool = False,
    appearance: str = "/F1 12 Tf 0 g",
    drawn: bool = False,
) -> str:
    """A field of a form where it is shown. state: of a button, what a tick stands for; on: it has one.

    options: code and label. drawn: it has an appearance stream.
    """

    def coded(text: str) -> str:
        return "<feff" + text.replace("\\r", "\r").encode("utf-16-be").hex() + ">"

    more = f"/V{coded(value)}" if value else ""
    more += f"/TU{coded(title)}" if title else ""
    if options:
        more += "/Opt[" + "".join(f"[{coded(code)}{coded(label)}]" for code, label in options) + "]"
    if state:
        chosen = state if on else "Off"
        more += f"/V/{chosen}/AS/{chosen}/AP<</N<</{state} APPEARANCE/Off APPEARANCE>>>>"
    elif drawn:
        more += "/AP<</N APPEARANCE>>"
    left, bottom, right, top = box
    return (
        f"<</Type/Annot/Subtype/Widget/FT/{kind}/T{coded(name)}/Ff {flags}/F {2 if hidden else 4}/P 5 0 R"
        f"/Rect[{left} {bottom} {right} {top}]/DA({appearance}){more}>>"
    )


def _outline(first: int, first_page: int, bookmarks: Sequence[tuple[int, str]]) -> Iterable[bytes]:
    last = first + len(bookmarks)
    yield f"<</First {first + 1} 0 R/Last {last} 0 R/Count {len(bookmarks)}>>".encode()
    for index, (target, title) in enumerate(bookmarks):
        number = first + 1 + index
        links = (f"/Prev {number - 1} 0 R" if index else "") + (f"/Next {number + 1} 0 R" if number < last else "")
        text = "feff" + title.encode("utf-16-be").hex()
        yield f"<</Title<{text}>/Parent {first} 0 R{links}/Dest[{first_page + 2 * target} 0 R/Fit]>>".encode()


def _assemble(objects: list[bytes], password: str) -> bytes:
    extra = b""
    if password:
        objects.append(_encryption(password))
        extra = b"/Encrypt %d 0 R/ID[<00><00>]" % len(objects)
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, extra, start)
    return bytes(out)


def _encryption(password: str) -> bytes:
    """The standard security handler, revision 2 (RC4, 40 bits): PDF 1.4, section 3.5."""
    padded = (password.encode() + _PADDING)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    permissions = -4
    key = hashlib.md5(padded + owner + permissions.to_bytes(4, "little", signed=True) + b"\0").digest()[:5]
    user = _rc4(key, _PADDING)
    return f"<</Filter/Standard/V 1/R 2/O<{owner.hex()}>/U<{user.hex()}>/P {permissions}>>".encode()


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    other = 0
    for index in range(256):
        other = (other + state[index] + key[index % len(key)]) % 256
        state[index], state[other] = state[other], state[index]
    out = bytearray()
    first = second = 0
    for byte in data:
        first = (first + 1) % 256
        second = (second + state[first]) % 256
        state[first], state[second] = state[second], state[first]
        out.append(byte ^ state[(state[first] + state[second]) % 256])
    return bytes(out)


def word(document: docx.document.Document) -> bytes:
    """A python-docx document as a file."""
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def rezip(content: bytes, entries: dict[str, bytes]) -> bytes:
    """The archive with these entries added or replaced."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            if entry.filename not in entries:
                new.writestr(entry.filename, old.read(entry))
        for name, data in entries.items():
            new.writestr(name, data)
    return buffer.getvalue()


def damaged(content: bytes, seeds: Iterable[int]) -> Iterable[bytes]:
    """The file cut short, with bytes flipped, with a piece overwritten and with a piece repeated."""
    for seed in seeds:
        random_ = random.Random(seed)
        yield content[: random_.randrange(len(content))]
        flipped = bytearray(content)
        for _ in range(random_.randrange(1, 12)):
            flipped[random_.randrange(len(flipped))] ^= 1 << random_.randrange(8)
        yield bytes(flipped)
        start, end = sorted(random_.randrange(len(content)) for _ in range(2))
        yield content[:start] + random_.randbytes(end - start) + content[end:]
        yield content[:end] + content[start:]


def in_order(texts: Sequence[str], whole: str) -> bool:
    """Whether all texts occur in `whole`, one after the other begins."""
    places = [whole.find(text) for text in texts]
    return all(place >= 0 for place in places) and all(left <= right for left, right in pairwise(places))


def texts_of(parsed: ParsedDocument) -> tuple[Block, ...]:
    """The blocks by their text and place alone, as paragraphs."""
    return tuple(Block(block.text, block.heading_path, block.page) for block in parsed.blocks)
