"""Errors of the retrieval engine, named by what the caller can do about them.

KnowledgeError
├── InvalidDocument            permanent: the file will not get better by trying again
│   ├── UnsupportedType        no parser for this kind of file
│   ├── EmptyDocument          nothing to read in it
│   │   └── ScannedDocument    pictures alone, and nothing here reads them
│   ├── ReaderMissing          the server lacks an optional program or package; the message says what to install
│   ├── EncryptedDocument      needs a password
│   ├── BrokenDocument         cannot be parsed, or is not what its name says
│   ├── WrongEncoding          text that is not in any encoding we can tell
│   ├── HostileDocument        zip bomb, NUL bytes, hostile file name
│   │   └── ReaderDied         the process that read it ended, which may have another reason
│   ├── DocumentTooLarge       over a limit on bytes, pages or characters
│   ├── CostlyDocument         takes more time or memory to read than one file may
│   └── ParserFault            a mistake of ours, which the file may be innocent of
├── IndexMismatch              permanent until re-indexed: built by another embedder or dimension
├── InvalidConfiguration       permanent: a value that cannot work
│   └── MissingDependency      an optional package is not installed; the message names it
├── NotCalibrated              retryable: the gate has no calibration for this scorer and base yet
└── Unavailable                retryable: a model or store is out of reach now
    ├── EmbeddingUnavailable
    │   ├── EmbeddingRefused   it failed at these texts; others may do
    │   └── NotEmbedded        its vectors are being made, behind
    ├── IndexUnavailable
    ├── RerankUnavailable
    │   └── RerankRefused      it failed at these passages; others may do
    └── ParsingUnavailable
"""

from __future__ import annotations


class KnowledgeError(Exception):
    """Base of all errors of this package."""

    # What clients are told; made of the name of the class where it is empty.
    code = ""


class InvalidDocument(KnowledgeError):
    """A file that cannot be taken in. `name` is the file's name, `reason` a Chinese clause for people."""

    code = "invalid_document"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"《{name}》{reason}")
        self.name = name
        self.reason = reason


class UnsupportedType(InvalidDocument):
    code = "unsupported_type"


class EmptyDocument(InvalidDocument):
    code = "empty_document"


class ScannedDocument(EmptyDocument):
    code = "scanned_document"


class ReaderMissing(InvalidDocument):
    code = "reader_missing"


class EncryptedDocument(InvalidDocument):
    code = "encrypted_document"


class BrokenDocument(InvalidDocument):
    code = "broken_document"


class WrongEncoding(InvalidDocument):
    code = "wrong_encoding"


class HostileDocument(InvalidDocument):
    code = "hostile_document"


class ReaderDied(HostileDocument):
    """The process that read the file ended: so does one that the system ends for want of memory."""


class DocumentTooLarge(InvalidDocument):
    code = "document_too_large"


class CostlyDocument(InvalidDocument):
    code = "costly_document"


class ParserFault(InvalidDocument):
    """`frames`: where it happened, the innermost last, and the kind of error; nothing of what the file says."""

    code = "parser_fault"

    def __init__(self, name: str, reason: str, frames: tuple[str, ...] = ()) -> None:
        super().__init__(name, reason)
        self.frames = frames


class IndexMismatch(KnowledgeError):
    """The stored index was built by another embedder or dimension."""


class InvalidConfiguration(KnowledgeError):
    """A value that cannot work; the message names it and the fix."""


class MissingDependency(InvalidConfiguration):
    """An optional package is not installed; the message gives the command that installs it."""


class NotCalibrated(KnowledgeError):
    """The gate has no calibration for this scorer and base yet: fail closed, try again shortly."""


class Unavailable(KnowledgeError):
    """A model or store is out of reach now; trying again may help."""


class EmbeddingUnavailable(Unavailable):
    """The embedder failed."""


class EmbeddingRefused(EmbeddingUnavailable):
    """The embedder failed at these texts: it says nothing of others."""

    code = "embedding_unavailable"


class NotEmbedded(EmbeddingUnavailable):
    """The vectors of a knowledge base are being made, behind."""


class IndexUnavailable(Unavailable):
    """The index is not open or failed."""


class RerankUnavailable(Unavailable):
    """The reranker failed."""


class RerankRefused(RerankUnavailable):
    """The reranker failed at these passages: it says nothing of others."""

    code = "rerank_unavailable"


class ParsingUnavailable(Unavailable):
    """No process that reads files could be started."""
