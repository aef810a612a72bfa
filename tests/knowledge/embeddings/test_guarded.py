"""A process that breaks, and what becomes of the texts that were in it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import socket
from threading import Semaphore
from time import monotonic, sleep

import pytest

from knowledge.embeddings import guarded, process
from knowledge.embeddings.child import send
from knowledge.embeddings.guarded import GuardedEncoder
from knowledge.errors import EmbeddingUnavailable
from tests.knowledge.embeddings import crashing

SECONDS = 60.0


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[GuardedEncoder]:
    monkeypatch.setattr(guarded, "BACKOFF_SECONDS", 0.05)
    encoder = made("load")
    yield encoder
    encoder.close()


def made(factory: str) -> GuardedEncoder:
    return GuardedEncoder("test", f"{crashing.__name__}:{factory}", crashing.DIMENSION, lanes=2)


def pid_of(encoder: GuardedEncoder) -> int:
    assert encoder.pid is not None
    return encoder.pid


def until_back(encoder: GuardedEncoder) -> None:
    deadline = monotonic() + SECONDS
    while True:
        try:
            encoder.encode(["back"], "query")
            return
        except EmbeddingUnavailable:
            assert monotonic() < deadline
            sleep(0.02)


def test_vectors_come_out_of_another_process(encoder: GuardedEncoder) -> None:
    matrix = encoder.encode(["一", "二"], "passage")
    assert (matrix.shape, str(matrix.dtype), matrix.sum()) == ((2, 3), "float32", 6.0)
    assert pid_of(encoder) != os.getpid()
    matrix += 1  # its own memory


def test_a_text_that_crashed_it_twice_is_not_sent_a_third_time(encoder: GuardedEncoder, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for kind in ("query", "query", "query"):
        with pytest.raises(EmbeddingUnavailable):
            encoder.encode([f"crash {log}"], kind)
    assert log.read_text() == "xx"
    until_back(encoder)


def test_a_bystander_of_a_crash_is_answered(encoder: GuardedEncoder, tmp_path: Path) -> None:
    for kind in ("query", "passage"):
        assert encoder.encode([f"once {tmp_path / kind}"], kind).sum() == 3
        until_back(encoder)
        assert encoder.encode([f"once {tmp_path / kind}"], kind).sum() == 3
        assert (tmp_path / kind).read_text() == "xxx"


def test_killed_from_outside_questions_go_without_and_documents_wait(
    encoder: GuardedEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Semaphore(0)

    def noted(to: socket, payload: bytes) -> None:
        send(to, payload)
        sent.release()

    encoder.encode(["一"], "query")
    monkeypatch.setattr(process, "send", noted)
    os.kill(pid_of(encoder), signal.SIGSTOP)  # so that both are in it when it is killed
    with ThreadPoolExecutor(2) as pool:
        question, passage = (pool.submit(encoder.encode, ["退货"], kind) for kind in ("query", "passage"))
        assert sent.acquire(timeout=SECONDS) and sent.acquire(timeout=SECONDS)
        os.kill(pid_of(encoder), signal.SIGKILL)
        with pytest.raises(EmbeddingUnavailable):
            question.result(SECONDS)
        assert passage.result(SECONDS).sum() == 3
    assert encoder.encode(["退货"], "query").sum() == 3


@pytest.mark.acceptance(only=True)
def test_one_that_hangs_is_ended(encoder: GuardedEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ANSWER_SECONDS", 4.0)
    assert encoder.encode([f"hang {tmp_path / 'log'}"], "query").sum() == 3  # the second time
    until_back(encoder)


def test_what_the_library_raises_is_told_and_ends_nothing(encoder: GuardedEncoder) -> None:
    encoder.encode(["一"], "query")
    before = pid_of(encoder)
    with pytest.raises(EmbeddingUnavailable, match=r"ValueError: not this text"):
        encoder.encode(["fail"], "query")
    assert encoder.encode(["一"], "query").sum() == 3
    assert pid_of(encoder) == before


def test_a_model_that_cannot_be_loaded_is_an_outage_that_says_why() -> None:
    encoder = made("broken")
    with pytest.raises(EmbeddingUnavailable) as raised:
        encoder.encode(["一"], "query")
    assert "no weights" in str(raised.value.__cause__)
    encoder.close()


def test_closing_lets_those_go_who_wait_for_it() -> None:
    encoder = made("broken")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(encoder.encode, ["一"], "passage")
        sleep(0.2)
        encoder.close()
        with pytest.raises(EmbeddingUnavailable):
            waiting.result(SECONDS)
    with pytest.raises(EmbeddingUnavailable):
        encoder.encode(["一"], "query")
