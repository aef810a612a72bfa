"""The process that reads strangers' files: jobs in at its standard input, replies out at its standard output.

`python -c BOOT MEMORY_MB PARENT_ID RECOGNISES`, see `process.Worker`. It knows parsing and chunking, nothing of the
server.
"""

from __future__ import annotations

import os
import sys

from knowledge.errors import InvalidDocument
from knowledge.extraction import read_document
from knowledge.parsing.attachment import inspect_attachment
from knowledge.parsing.links import read_page_links
from knowledge.parsing.recognition import Recogniser
from knowledge.parsing.registry import LEGACY, PARSERS, PICTURES, load_parser
from knowledge.sandbox.confinement import allow_cpu, limit_worker, measure_address_space
from knowledge.sandbox.wire import READY, Job, ParsedReply, Result, add_length, encode_reply
from knowledge.sheets import read_sheet

# A worker retires after so many, whatever leaks in a library.
MAX_FILES = 200
# Bytes of address space; a worker that keeps more than this retires, so that each file finds the same room.
MAX_GROWTH = 64 * 2**20

_MAX_FILE = 2**16


def main() -> None:
    """Serves jobs until the input ends."""
    memory_mb, parent, recognises = (int(argument) for argument in sys.argv[1:])
    os.closerange(3, _MAX_FILE)  # not every event loop closes what was open in the server
    jobs = sys.stdin.buffer
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no reply
    _load_parsers()
    recogniser = _load_recogniser() if recognises else None
    limit_worker(memory_mb, parent)
    at_start, files, retires = measure_address_space(), 0, False
    replies.write(add_length(READY))
    replies.flush()
    while not retires and (job := Job.receive(jobs)) is not None:
        files += 1
        result = _run_job(job, recogniser)
        del job
        retires = (
            files >= MAX_FILES or isinstance(result, MemoryError) or measure_address_space() - at_start > MAX_GROWTH
        )
        replies.write(add_length(encode_reply(ParsedReply(result, retires))))
        replies.flush()


def _load_parsers() -> None:
    """Imports what parsers use, so that a file's limits do not count it and no file pays for it."""
    import charset_normalizer  # noqa: F401

    for suffix in (*PARSERS, *PICTURES, *LEGACY):
        load_parser(suffix)
    for encoding in ("gb18030", "big5", "utf-16"):
        "".encode(encoding)


def _load_recogniser() -> Recogniser:
    """Returns a recogniser with its models in memory, which a file's limits do not count."""
    from knowledge.recognition.rapid import RapidRecogniser

    return RapidRecogniser()


def _run_job(job: Job, recogniser: Recogniser | None) -> Result | InvalidDocument | MemoryError:
    allow_cpu(job.seconds)
    try:
        if job.attachment:
            return inspect_attachment(job.name, job.content, job.limits)
        if job.links:
            return read_page_links(job.name, job.content)
        if job.sheet is not None:
            return read_sheet(job.name, job.content, job.sheet)
        return read_document(job.name, job.content, job.limits, job.options, job.columns, recogniser)
    except InvalidDocument as error:
        return error
    except MemoryError:
        return MemoryError()
