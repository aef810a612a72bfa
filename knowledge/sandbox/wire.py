"""What the server and a worker say to each other: frames of a length and that many bytes, JSON but for the file.

JSON and not pickle, because a worker that a file has taken over must not be able to take over the server.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Annotated, Any, BinaryIO

import msgspec
from msgspec import Meta, Struct

from knowledge import errors
from knowledge.blocks import Layout, validate_layout
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
_ERRORS: dict[str, type[InvalidDocument]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, InvalidDocument)
}
_Short = Annotated[str, Meta(max_length=MAX_REASON)]
_Fact = Annotated[str, Meta(max_length=MAX_CHARS)]
# Code, message, pages, part and characters.
_NoticeRow = tuple[NoticeCode, Annotated[str, Meta(max_length=MAX_MESSAGE)], tuple[int, ...], _Short, int]
# Text, number of the heading path, which many chunks share, page, question, entry and layout.
_Entry = Annotated[str, Meta(pattern=r"^-q?[0-9]{1,8}\Z")]
_ChunkRow = tuple[str, Annotated[int, Meta(ge=0)], int | None, str | None, _Entry, Any]
# Number, the value of each column, and what is beyond them.
_SheetRow = tuple[int, tuple[str | None, ...], tuple[str, ...]]


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
        name = self.name.encode(errors="replace").decode()  # not every name of a file is Unicode
        return add_length(msgspec.json.encode(replace(self, name=name, content=b""))) + LENGTH.pack(len(self.content))

    @classmethod
    def receive(cls, stream: BinaryIO) -> Job | None:
        """Reads the next job; None once nobody sends any more."""
        head = _receive_frame(stream)
        content = _receive_frame(stream) if head is not None else None
        if head is None or content is None:
            return None
        return replace(msgspec.json.decode(head, type=cls), content=content)


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The reply of a worker."""

    result: Result | InvalidDocument | MemoryError
    # It takes no further job.
    retires: bool


def compute_longest_reply(limits: ParsingLimits) -> int:
    """Returns the most bytes of a reply; a character takes up to four, and the layout of a text up to three times
    the text.
    """
    return 4 * 4 * limits.max_indexed_characters + _OVERHEAD


def add_length(payload: bytes) -> bytes:
    """Puts the length of a payload in front of it."""
    return LENGTH.pack(len(payload)) + payload


class _TableHead(Struct):
    columns: tuple[str, ...]
    delimiter: str
    header: int


class _Payload(Struct, omit_defaults=True):
    """What is known of a result of one kind."""

    retires: bool
    error: str = ""
    reason: _Short | None = None
    frames: Annotated[tuple[_Short, ...], Meta(max_length=MAX_FRAMES)] = ()
    page: PageLinks | None = None
    file: InspectedFile | None = None
    sheet: _TableHead | None = None
    rows: tuple[_SheetRow, ...] = ()
    title: str = ""
    paths: tuple[tuple[str, ...], ...] = ()
    chunks: tuple[_ChunkRow, ...] = ()
    about: tuple[_Fact, _Fact, _Fact] = ("", "", "")
    notices: tuple[_NoticeRow, ...] = ()


_DECODER = msgspec.json.Decoder(_Payload)


def encode_reply(reply: ParsedReply) -> bytes:
    """Encodes a reply as the payload of a frame."""
    payload = _Payload(reply.retires)
    match reply.result:
        case MemoryError():
            payload.error = MEMORY
        case InvalidDocument() as error:
            payload.error, payload.reason = type(error).__name__, error.reason[:MAX_REASON]
            if isinstance(error, ParserFault):
                payload.frames = tuple(frame[:MAX_REASON] for frame in error.frames[:MAX_FRAMES])
        case PageLinks() as page:
            payload.page = page
        case InspectedFile() as file:
            payload.file = file
        case Spreadsheet(columns, rows, delimiter, header):
            payload.sheet = _TableHead(columns, delimiter, header)
            payload.rows = tuple((row.number, tuple(map(row.cells.get, columns)), row.beyond) for row in rows)
        case ReadDocument(title, chunks, notices, product, version, dated):
            payload.title, payload.about = title, (product[:MAX_CHARS], version[:MAX_CHARS], dated[:MAX_CHARS])
            ids: dict[tuple[str, ...], int] = {}
            payload.chunks = tuple(
                (one.text, ids.setdefault(one.heading_path, len(ids)), one.page, one.question, one.entry, one.layout)
                for one in chunks
            )
            payload.paths = tuple(ids)
            payload.notices = tuple(
                (one.code, one.message[:MAX_MESSAGE], one.pages, one.part[:MAX_REASON], one.characters)
                for one in notices
            )
    return msgspec.json.encode(payload)


def decode_reply(payload: bytes, name: str) -> ParsedReply:
    """Decodes a reply. Everything that a worker sends is checked.

    Raises:
        InvalidReply: If anything is wrong with it.
    """
    try:
        fields = _DECODER.decode(payload)
        return ParsedReply(_read_result(fields, name), fields.retires)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise InvalidReply(str(error)) from error


def _read_result(fields: _Payload, name: str) -> Result | InvalidDocument | MemoryError:
    if fields.error == MEMORY:
        return MemoryError()
    if fields.error:
        kind, reason = _ERRORS[fields.error], fields.reason
        if reason is None:
            raise InvalidReply("an error without a reason")
        return kind(name, reason, fields.frames) if issubclass(kind, ParserFault) else kind(name, reason)
    if page := fields.page:
        if len(page.links) > MAX_LINKS or any(
            len(text) > MAX_LINK for text in (*page.links, page.base, page.canonical)
        ):
            raise InvalidReply("links")
        return page
    if file := fields.file:
        if file.media_type not in (PICTURES if file.picture else FILE_TYPES):
            raise InvalidReply("media type")
        return file
    if sheet := fields.sheet:
        rows = tuple(_read_row(sheet.columns, *row) for row in fields.rows)
        return Spreadsheet(sheet.columns, rows, sheet.delimiter, sheet.header)
    if not fields.chunks:
        raise InvalidReply("no chunks")
    document, paths = DocumentMeta("", name, fields.title), fields.paths
    chunks = tuple(
        Chunk(f"-{ordinal}", document, ordinal, text, paths[path], page, question, entry, _read_layout(layout, text))
        for ordinal, (text, path, page, question, entry, layout) in enumerate(fields.chunks)
    )
    return ReadDocument(fields.title, chunks, tuple(Notice(*row) for row in fields.notices), *fields.about)


def _read_row(
    columns: tuple[str, ...], number: int, values: tuple[str | None, ...], beyond: tuple[str, ...]
) -> SheetRow:
    cells = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
    return SheetRow(number, cells, beyond)


def _read_layout(layout: object, text: str) -> Layout | None:
    return None if layout is None else validate_layout(layout, len(text))


def _receive_frame(stream: BinaryIO) -> bytes | None:
    """Returns the payload of the next frame; None at the end of the stream, also in the middle of a frame."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None
