"""What may belong into a vocabulary, by what the knowledge base says and what customers ask in vain. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from agents.understanding.entities import load_shipped_extractor
from knowledge.coined_words import find_coined_words
from knowledge.spelling import get_initials
from knowledge.text import Analyzer, fold, is_chinese_word, normalize_term
from knowledge.types import Chunk
from knowledge.vocabulary import VocabularyKind

# Read for words: two seconds, in a thread.
MAX_CHUNKS = 3000
MAX_MODEL_CHUNKS = 1000
# Of each kind.
MOST = 100
MIN_MODEL_COUNT = 2
MIN_ASKED = 2
_SHORT = range(2, 5)
_LONG = range(3, 17)
_LETTERS = range(2, 7)
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class VocabularySuggestion:
    """An entry that may help. count: how often its term stands in the base, or was asked; examples: where."""

    kind: VocabularyKind
    term: str
    others: tuple[str, ...]
    count: int
    examples: tuple[str, ...]


def find_suggestions(
    chunks: Sequence[Chunk], analyzer: Analyzer, asked: Sequence[tuple[str, int]], known: Iterable[str]
) -> list[VocabularySuggestion]:
    """Finds words that the vocabulary may need.

    asked: questions that were not answered, and how often; known: terms of the vocabulary, which are not suggested.
    """
    known = set(map(normalize_term, known))
    texts = [fold(chunk.indexed_text) for chunk in chunks[:MAX_CHUNKS]]
    found = [
        *_find_words(texts, analyzer),
        *_find_models(chunks[:MAX_MODEL_CHUNKS]),
        *_find_short_names(chunks, texts, analyzer, asked),
    ]
    return [one for one in found if normalize_term(one.term) not in known]


def _find_words(texts: Sequence[str], analyzer: Analyzer) -> list[VocabularySuggestion]:
    return [
        VocabularySuggestion(VocabularyKind.WORD, word.term, (), word.count, ("/".join(word.parts),))
        for word in find_coined_words(texts, analyzer, MOST)
    ]


def _find_models(chunks: Sequence[Chunk]) -> list[VocabularySuggestion]:
    counts: Counter[str] = Counter()
    titles: dict[str, dict[str, None]] = defaultdict(dict)
    for chunk in chunks:
        for name in {
            item.value for item in load_shipped_extractor().extract(chunk.text).certain if item.kind == "product_model"
        }:
            counts[name] += 1
            titles[name][chunk.document.title] = None
    return [
        VocabularySuggestion(VocabularyKind.PROTECTED, name, (), count, tuple(titles[name])[:_EXAMPLES])
        for name, count in counts.most_common(MOST)
        if count >= MIN_MODEL_COUNT
    ]


def _find_short_names(
    chunks: Sequence[Chunk], texts: Sequence[str], analyzer: Analyzer, asked: Sequence[tuple[str, int]]
) -> list[VocabularySuggestion]:
    """Words of missed questions that no document holds, and whose characters stand, in their order, in a name."""
    names = list(dict.fromkeys(name for chunk in chunks for name in (chunk.document.title, *chunk.heading_path)))
    names = [name for name in names if len(name) in _LONG]
    letters = {name: get_initials(name) for name in names}
    everything = "\n".join(texts)
    counts: Counter[str] = Counter()
    questions: dict[str, list[str]] = defaultdict(list)
    for question, count in asked:
        for word in _find_unknown(fold(question), analyzer):
            counts[word] += count
            questions[word].append(question)
    found: list[VocabularySuggestion] = []
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], -len(item[0]), item[0])):
        if count < MIN_ASKED or word in everything or len(found) >= MOST:
            continue
        full = [name for name in names if letters[name].startswith(word) or _is_within(word, fold(name))]
        if full and not any(word in better.term for better in found):
            examples = tuple(questions[word][:_EXAMPLES])
            found.append(
                VocabularySuggestion(VocabularyKind.ABBREVIATION, word, (min(full, key=len),), count, examples)
            )
    return found


def _find_unknown(question: str, analyzer: Analyzer) -> set[str]:
    """Words that no dictionary has: those it guesses, runs of single characters, and letters."""
    words = analyzer.split_words(question)
    found = {word for word in words if word.isascii() and word.isalpha() and len(word) in _LETTERS}
    found |= {
        word for word in words if is_chinese_word(word) and len(word) in _SHORT and not analyzer.get_frequency(word)
    }
    for single, run in groupby(words, key=lambda word: is_chinese_word(word) and len(word) == 1):
        if single:
            joined = "".join(run)
            found |= {joined[start : start + size] for size in _SHORT for start in range(len(joined) - size + 1)}
    return found


def _is_within(word: str, name: str) -> bool:
    """Whether the characters of a word stand in a name in this order."""
    rest = iter(name)
    return is_chinese_word(word) and all(character in rest for character in word)
