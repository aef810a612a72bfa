"""What the server and a worker say to each other: frames of a length and that many bytes, JSON but for the file.

JSON and not pickle, because a worker that a file has taken over must not be able to take over the server.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, TypeVar

from knowledge import errors
from knowledge.blocks import validate_layout
from knowledge.chunking import ChunkOptions
from knowledge.errors import InvalidDocument, ParserFault
from knowledge.extraction import ReadDocument
from knowledge.file_inspection import FILE_TYPES, PICTURES, InspectedFile
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.links import MAX_LINK, MAX_LINKS, PageLinks
from knowledge.sheets import SheetOptions, SheetRow, Spreadsheet
from knowledge.types import Chunk, DocumentMeta, FaqColumns, Notice, NoticeCode
from knowledge.versions import MAX_CHARS

Result = ReadDocument | PageLinks | Spreadsheet | InspectedFile
T = TypeVar("T")
LENGTH = struct.Struct(">I")
READY = b"ready"
# The error that stands for a MemoryError.
MEMORY = "memory"
# Characters of an error's reason.
MAX_REASON = 200
# Places that a fault tells of.
MAX_FRAMES = 20
# Characters of a notice's message.
MAX_MESSAGE = 1000
_OVERHEAD = 2**20
_ENTRY = re.compile(r"-q?\d{1,8}")
_ERRORS: dict[str, type[InvalidDocument]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, InvalidDocument)
}


class InvalidReply(ValueError):
    """A reply that no honest worker sends."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to read.

    seconds: limit on CPU time; links: only the links of this page are wanted; sheet: how to read it as a table;
    attachment: it is an attachment of a conversation, which is inspected.
    """

    name: str
    content: bytes
    limits: ParsingLimits
    options: ChunkOptions
    seconds: int
    columns: FaqColumns | None = None
    links: bool = False
    sheet: SheetOptions | None = None
    attachment: bool = False

    def encode(self) -> bytes:
        """Encodes the job for the pipe: a head; the file follows it."""
        head = {
            "name": self.name,
            "limits": asdict(self.limits),
            "options": asdict(self.options),
            "seconds": self.seconds,
            "columns": self.columns and asdict(self.columns),
            "links": self.links,
            "sheet": self.sheet and asdict(self.sheet),
            "attachment": self.attachment,
        }
        return add_length(json.dumps(head).encode()) + LENGTH.pack(len(self.content))

    @classmethod
    def receive(cls, stream: BinaryIO) -> Job | None:
        """Reads the next job; None once nobody sends any more."""
        head = _receive_frame(stream)
        content = _receive_frame(stream) if head is not None else None
        if head is None or content is None:
            return None
        fields = json.loads(head)
        return cls(
            fields["name"],
            content,
            ParsingLimits(**fields["limits"]),
            ChunkOptions(**fields["options"]),
            fields["seconds"],
            FaqColumns(**columns) if (columns := fields["columns"]) else None,
            fields["links"],
            SheetOptions(**sheet) if (sheet := fields["sheet"]) else None,
            fields["attachment"],
        )


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The reply of a worker. `retires`: it takes no further job."""

    result: Result | InvalidDocument | MemoryError
    retires: bool


def compute_longest_reply(limits: ParsingLimits) -> int:
    """Returns the most bytes of a reply; a character takes up to four, and the layout of a text up to three times
    the text.
    """
    return 4 * 4 * limits.max_indexed_characters + _OVERHEAD


def add_length(payload: bytes) -> bytes:
    """Puts the length of a payload in front of it."""
    return LENGTH.pack(len(payload)) + payload


def encode_reply(reply: ParsedReply) -> bytes:
    """Encodes a reply as the payload of a frame. Heading paths, which many chunks share, are sent once."""
    fields: dict[str, Any] = {"retires": reply.retires}
    match reply.result:
        case MemoryError():
            fields["error"] = MEMORY
        case InvalidDocument() as error:
            fields |= {"error": type(error).__name__, "reason": error.reason[:MAX_REASON]}
            if isinstance(error, ParserFault):
                fields["frames"] = [frame[:MAX_REASON] for frame in error.frames[:MAX_FRAMES]]
        case PageLinks() as page:
            fields |= {"page": asdict(page)}
        case InspectedFile(media_type, picture, width, height):
            fields["file"] = [media_type, base64.b64encode(picture).decode(), width, height]
        case Spreadsheet(columns, rows, delimiter, header):
            fields["sheet"] = {"columns": columns, "delimiter": delimiter, "header": header}
            fields["rows"] = [(row.number, [row.cells.get(name) for name in columns], row.beyond) for row in rows]
        case ReadDocument(title, chunks, notices, product, version, dated):
            paths: dict[tuple[str, ...], int] = {}
            fields["chunks"] = [
                (
                    chunk.text,
                    paths.setdefault(chunk.heading_path, len(paths)),
                    chunk.page,
                    chunk.question,
                    chunk.entry,
                    chunk.layout,
                )
                for chunk in chunks
            ]
            fields |= {"title": title, "about": [product, version, dated], "paths": list(paths)}
            fields["notices"] = [
                (notice.code, notice.message[:MAX_MESSAGE], notice.pages, notice.part[:MAX_REASON], notice.characters)
                for notice in notices
            ]
    return json.dumps(fields, ensure_ascii=False).encode()


def decode_reply(payload: bytes, name: str) -> ParsedReply:
    """Decodes a reply. Everything that a worker sends is checked.

    Raises:
        InvalidReply: If anything is wrong with it.
    """
    try:
        fields = json.loads(payload)
        retires = _require_type(bool, fields["retires"])
        if "error" in fields:
            return ParsedReply(_read_error(fields, name), retires)
        if "page" in fields:
            return ParsedReply(_read_page(**fields["page"]), retires)
        if "file" in fields:
            return ParsedReply(_read_file(*fields["file"]), retires)
        if "sheet" in fields:
            return ParsedReply(_read_sheet(fields["rows"], **fields["sheet"]), retires)
        paths = [tuple(_require_type(str, heading) for heading in path) for path in fields["paths"]]
        document = DocumentMeta("", name, _require_type(str, fields["title"]))
        rows = enumerate(fields["chunks"])
        chunks = tuple(_read_chunk(document, ordinal, row, paths) for ordinal, row in rows)
        if not chunks:
            raise InvalidReply("no chunks")
        notices = tuple(_read_notice(*row) for row in fields["notices"])
        product, version, dated = (_require_type(str, text)[:MAX_CHARS] for text in fields["about"])
        return ParsedReply(ReadDocument(document.title, chunks, notices, product, version, dated), retires)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise InvalidReply(str(error)) from error


def _read_error(fields: Mapping[str, Any], name: str) -> InvalidDocument | MemoryError:
    if fields["error"] == MEMORY:
        return MemoryError()
    kind, reason = _ERRORS[fields["error"]], _require_type(str, fields["reason"])[:MAX_REASON]
    if issubclass(kind, ParserFault):
        frames = _require_type(list, fields["frames"])[:MAX_FRAMES]
        return kind(name, reason, tuple(_require_type(str, frame)[:MAX_REASON] for frame in frames))
    return kind(name, reason)


def _read_chunk(document: DocumentMeta, ordinal: int, row: Any, paths: list[tuple[str, ...]]) -> Chunk:
    text, path, page, question, entry, layout = row
    if not _ENTRY.fullmatch(entry):
        raise InvalidReply("entry")
    return Chunk(
        id=f"-{ordinal}",
        document=document,
        ordinal=ordinal,
        text=_require_type(str, text),
        heading_path=paths[_require_type(int, path)],
        page=None if page is None else _require_type(int, page),
        question=None if question is None else _require_type(str, question),
        entry=entry,
        layout=None if layout is None else validate_layout(layout, len(text)),
    )


def _read_page(links: Any, base: Any, canonical: Any, index: Any, follow: Any) -> PageLinks:
    found = tuple(_require_type(str, link) for link in links)
    texts = _require_type(str, base), _require_type(str, canonical)
    if len(found) > MAX_LINKS or any(len(text) > MAX_LINK for text in (*found, *texts)):
        raise InvalidReply("links")
    return PageLinks(found, *texts, _require_type(bool, index), _require_type(bool, follow))


def _read_sheet(rows: Any, columns: Any, delimiter: Any, header: Any) -> Spreadsheet:
    names = tuple(_require_type(str, name) for name in columns)
    found = []
    for number, values, beyond in rows:
        cells = zip(names, values, strict=True)
        said = {name: _require_type(str, value) for name, value in cells if value is not None}
        found.append(SheetRow(_require_type(int, number), said, tuple(_require_type(str, cell) for cell in beyond)))
    return Spreadsheet(names, tuple(found), _require_type(str, delimiter), _require_type(int, header))


def _read_file(media_type: Any, picture: Any, width: Any, height: Any) -> InspectedFile:
    try:
        content = base64.b64decode(_require_type(str, picture), validate=True)
    except binascii.Error as error:
        raise InvalidReply("picture") from error
    if media_type not in (PICTURES if content else FILE_TYPES):
        raise InvalidReply("media type")
    return InspectedFile(media_type, content, _require_type(int, width), _require_type(int, height))


def _read_notice(code: Any, message: Any, pages: Any, part: Any, characters: Any) -> Notice:
    return Notice(
        NoticeCode(code),
        _require_type(str, message)[:MAX_MESSAGE],
        tuple(_require_type(int, page) for page in pages),
        _require_type(str, part)[:MAX_REASON],
        _require_type(int, characters),
    )


def _require_type(kind: type[T], value: Any) -> T:
    """Returns the value if it is of this type.

    Raises:
        InvalidReply: If it is not.
    """
    if not isinstance(value, kind):
        raise InvalidReply(f"{type(value).__name__} where {kind.__name__} belongs")
    return value


def _receive_frame(stream: BinaryIO) -> bytes | None:
    """Returns the payload of the next frame; None at the end of the stream, also in the middle of a frame."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None
