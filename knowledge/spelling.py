"""Homophone typos, put right in the tenant's own words: 退宽 -> 退款, 发飘 -> 发票.

Chinese is typed by sound, and what comes out wrong sounds right. A stretch that is no word becomes a word of the
tenant's documents that sounds the same (tones aside), if the sentence as a whole then reads more probably.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from knowledge.codes import is_code
from knowledge.index import Index, Snapshot
from knowledge.stores.recent_results import RecentResults
from knowledge.text import Analyzer, fold, simplify
from knowledge.vocabulary import AnalyzerHistory

LENGTHS = (4, 3, 2)
# Seen more often than this, a stretch is a word that somebody may mean: 收集 is not a wrong 手机. jieba's dictionary
# lists slips of the pen too, all below (发飘 3, 时侯 10).
KNOWN = 10
# What a word of the tenant counts at least: rare in general, frequent here.
OWN_FREQUENCY = 500
# What only one chunk says may be a name.
MIN_CHUNKS = 2
# Of a larger vocabulary those that occur most: what a process keeps of it is 10 MB at most.
MAX_TERMS = 50_000
# Natural logarithm: the sentence has to become e^3 times as probable.
MIN_GAIN = 3.0
# Characters to either side in which a sentence is weighed: what is further off reads the same with either word.
NEAR = 24
# Sum of jieba's frequencies, which a tenant's words hardly change.
_TOTAL = 60_000_000
# Of a code that is written with blanks.
MAX_PIECES = 3
_SPACED = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?: [A-Za-z0-9]+)+(?![A-Za-z0-9])")
_RUN = re.compile(r"[\u4e00-\u9fa5]{2,}")
_WORD = re.compile(r"[\u4e00-\u9fa5]{2,4}")
# Numerals and negations: no typo is worth one of them.
_MEANT = frozenset("零一二两三四五六七八九十百千万亿几半不没无未非别勿否莫")
# Stand beside a word more often than within one.
_FUNCTION = frozenset("的了是有在到哪那于为要因何做出")
# A character that the dictionary has met less often is typed on purpose where the tenant's documents have it too.
RARE = 300
# Words of customers that the dictionary lacks: of 65 words of service 退会 alone became another one, 退回.
_NO_TYPOS = frozenset({"退会", "入会"})


@dataclass(frozen=True, slots=True)
class Correction:
    """A corrected text."""

    text: str
    # What stood there, and what replaces it.
    changes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Change:
    start: int
    word: str
    gain: float

    @property
    def end(self) -> int:
        return self.start + len(self.word)


class Speller:
    """Corrects typos with a tenant's words. Thread-safe after construction.

    counts: in how many chunks each term of the tenant's index occurs; typos become those that the dictionary knows.
    """

    def __init__(self, analyzer: Analyzer, counts: Mapping[str, int]) -> None:
        self._analyzer = analyzer
        self._terms = {term: count for term, count in counts.items() if _WORD.fullmatch(term)}
        self._codes = {_join_characters(term): term for term in counts if _can_be_code(term)}
        self._characters = frozenset("".join(self._terms))
        self._by_sound: dict[tuple[str, ...], list[str]] = {}
        for word in sorted(self._terms):
            if self._terms[word] >= MIN_CHUNKS and analyzer.get_frequency(word):
                self._by_sound.setdefault(_spell_sound(word), []).append(word)
        self._recent: RecentResults[str, Correction] = RecentResults()

    def correct(self, text: str) -> Correction:
        """Corrects homophone typos in a text, and puts the signs of a tenant's code in place of blanks.

        Everything else stays as written. Results are remembered briefly: a turn is routed and searched by the same
        words.
        """
        return self._recent.get(text, self._correct_text)

    def _correct_text(self, text: str) -> Correction:
        text, joined = self._correct_codes(text)
        found = self._correct_words(text)
        return Correction(found.text, (*joined, *found.changes))

    def _correct_codes(self, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Rewrites A2B C3 as A2B-C3 if the documents have that: without the sign nobody knows whether two names are
        one code.
        """
        changes: list[tuple[str, str]] = []

        def replace_code(match: re.Match[str]) -> str:
            pieces = match.group().split(" ")
            for size in range(min(len(pieces), MAX_PIECES), 1, -1):
                for start in range(len(pieces) - size + 1):
                    written = " ".join(pieces[start : start + size])
                    term = self._codes.get(_join_characters(written.lower()))
                    if term is not None and not is_code(written):
                        shown = term.upper() if written.upper() == written else term
                        changes.append((written, shown))
                        return " ".join((*pieces[:start], shown, *pieces[start + size :]))
            return match.group()

        return (_SPACED.sub(replace_code, text), tuple(changes)) if self._codes else (text, ())

    def _correct_words(self, text: str) -> Correction:
        folded = simplify(text)
        proposals = [
            replace(change, start=run.start() + change.start)
            for run in _RUN.finditer(folded)
            for change in self._list_proposals(run.group())
        ]
        kept = self._find_protected(text)
        proposals = [
            change for change in proposals if all(change.end <= start or end <= change.start for start, end in kept)
        ]
        chosen: list[_Change] = []
        for change in sorted(proposals, key=lambda change: (-change.gain, change.start)):
            if all(change.end <= other.start or other.end <= change.start for other in chosen):
                chosen.append(change)
        changes = []
        for change in sorted(chosen, key=lambda change: change.start):
            changes.append((text[change.start : change.end], change.word))
            text = text[: change.start] + change.word + text[change.end :]
        return Correction(text, tuple(changes))

    def _list_proposals(self, run: str) -> Iterator[_Change]:
        for length in LENGTHS:
            for start in range(len(run) - length + 1):
                stretch = run[start : start + length]
                if not self._is_known(stretch):
                    yield from self._list_better(run, start, stretch)

    def _find_protected(self, text: str) -> list[tuple[int, int]]:
        """Returns the places of the tenant's words that must not be corrected."""
        folded = fold(text)
        if len(folded) != len(text):  # full-width ligatures and the like: places would be others
            return [(0, len(text))] if any(term in folded for term in self._analyzer.protected) else []
        return [
            (match.start(), match.end())
            for term in self._analyzer.protected
            for match in re.finditer(re.escape(term), folded)
        ]

    def _is_known(self, stretch: str) -> bool:
        own = stretch in self._terms or stretch in self._analyzer.words
        return own or stretch in _NO_TYPOS or self._analyzer.get_frequency(stretch) > KNOWN

    def _list_better(self, run: str, start: int, stretch: str) -> Iterator[_Change]:
        for word in self._list_homophones(stretch):
            if (gain := self._compute_gain(run, start, word)) >= MIN_GAIN:
                yield _Change(start, word, gain)

    def _list_homophones(self, stretch: str) -> Iterator[str]:
        """Yields known words that sound the same and differ in one character, which is neither a numeral nor a
        negation.
        """
        if sum(character in self._characters for character in stretch) < len(stretch) - 1:
            return  # all others stay as they are, and a reading that was never asked for takes 0.1 ms
        for word in self._by_sound.get(tuple(map(_spell_character, stretch)), ()):
            changed = [pair for pair in zip(stretch, word, strict=True) if pair[0] != pair[1]]
            if len(changed) == 1 and _MEANT.isdisjoint(changed[0]) and not self._is_on_purpose(changed[0][0]):
                yield word

    def _is_on_purpose(self, character: str) -> bool:
        rare = self._analyzer.get_frequency(character) < RARE
        return character in _FUNCTION or (rare and character in self._characters)

    def _compute_gain(self, run: str, start: int, word: str) -> float:
        probability = self._analyzer.compute_log_probability
        own = math.log(max(self._analyzer.get_frequency(word), OWN_FREQUENCY * self._terms[word]) / _TOTAL)
        end = start + len(word)
        before, after = run[max(start - NEAR, 0) : start], run[end : end + NEAR]
        return probability(before) + own + probability(after) - probability(before + run[start:end] + after)


class BaseSpeller:
    """Corrects questions with the words of an index, which are read again when its revision has changed."""

    def __init__(self, index: Index, analyzers: AnalyzerHistory) -> None:
        self._index, self._analyzers = index, analyzers
        self._revision = -1
        self._speller = Speller(analyzers.get_analyzer(-1), {})

    async def correct(self, text: str, snapshot: Snapshot | None = None) -> Correction:
        """Corrects a text, see `Speller.correct`.

        Args:
            text: The text.
            snapshot: The view whose words count; the current one by default.
        """
        if snapshot is None:
            snapshot = self._index.get_snapshot()
        if snapshot.revision != self._revision:
            analyzer = self._analyzers.get_analyzer(snapshot.revision)
            self._speller = await asyncio.to_thread(lambda: Speller(analyzer, snapshot.list_frequent_terms(MAX_TERMS)))
            self._revision = snapshot.revision
        return self._speller.correct(text)


def _can_be_code(term: str) -> bool:
    """Returns whether a term that is kept whole contains signs, as codes do."""
    return term.isascii() and not term.isalnum() and is_code(term)


def _join_characters(written: str) -> str:
    return "".join(filter(str.isalnum, written))


def get_initials(text: str) -> str:
    """Returns the first letters of the sounds of Chinese characters, as people shorten names: 花呗分期 -> hbfq."""
    return "".join(sound[0] for sound in _spell_sound(text) if sound)


def _spell_sound(word: str) -> tuple[str, ...]:
    from pypinyin import lazy_pinyin

    return tuple(lazy_pinyin(word))


@cache
def _spell_character(character: str) -> str:
    return _spell_sound(character)[0]
