"""Compressed bytes of a stranger, let out as far as a bound and no further."""

from __future__ import annotations

import zlib


class TooLong(Exception):
    """There is more than may be."""


# Bytes that are fed at once: what follows the end of a member is copied, each time.
_STEP = 2**14
# Of one file; an empty one has 20 bytes.
_MAX_MEMBERS = 10_000


class Inflater:
    """Of gzip or zlib, in pieces. most: bytes let out in all; a megabyte can hold a gigabyte of zeros."""

    _EITHER = 32 + zlib.MAX_WBITS

    def __init__(self, most: int) -> None:
        self._left = most
        self._members = 1
        self._stream = zlib.decompressobj(self._EITHER)

    def feed(self, data: bytes) -> bytes:
        """Decompresses some bytes. Raises TooLong, zlib.error."""
        return b"".join(self._let_out(data[start : start + _STEP]) for start in range(0, len(data), _STEP))

    def _let_out(self, data: bytes) -> bytes:
        out = b""
        while data:
            if self._stream.eof:  # another member of the same file
                self._members += 1
                if self._members > _MAX_MEMBERS:
                    raise TooLong
                self._stream = zlib.decompressobj(self._EITHER)
            piece = self._stream.decompress(data, self._left + 1)
            if len(piece) > self._left:
                raise TooLong
            self._left -= len(piece)
            out += piece
            data = self._stream.unused_data
        return out

    @property
    def complete(self) -> bool:
        """Whether what was fed ends where it should."""
        return self._stream.eof


def inflate(data: bytes, most: int) -> bytes:
    """Decompresses a whole file. Raises TooLong, zlib.error."""
    inflater = Inflater(most)
    out = inflater.feed(data)
    if not inflater.complete:
        raise zlib.error("cut short")
    return out
