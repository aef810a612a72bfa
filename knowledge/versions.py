"""Which product a document is about and in which version, by the structure of its names; which of two versions is the
newer one; and which version a question names. Pure.

A version is a number that is marked as one: V2.3, 版本 3, 2023版, 第三版, 2.3.1, a folder v2. A bare 2.3 may be a
price, and a V5 a model: neither is read as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from knowledge.codes import find_codes, is_code
from knowledge.numbering import parse_number
from knowledge.types import DocumentMeta

# Of a product or a version.
MAX_CHARS = 50
_NUMBER = r"\d{1,8}(?:\.\d{1,8})*"
_DOTTED = r"\d{1,8}(?:\.\d{1,8})+"
_SUFFIX = r"(?:[-.]?[a-z]{1,8}\d{0,3})?"
_HAN_DIGITS = "一二三四五六七八九十"
_EDITION = r"版(?![权面块式图税画主])本?"
_MENTION = re.compile(
    rf"(?<![a-z0-9.])(?:v(?:er(?:sion)?)?\.?[ _-]?(?P<marked>{_DOTTED}{_SUFFIX})"
    rf"|(?:ver(?:sion)?\.?|版本号?)[ :_-]?v?(?P<called>{_NUMBER}{_SUFFIX})"
    rf"|第?(?P<edition>v?{_NUMBER}|[{_HAN_DIGITS}]{{1,3}})(?:年|[ ]?的)?[ ]?{_EDITION}"
    r"|(?P<bare>(?!(?:19|20)\d\d\.)\d{1,3}(?:\.\d{1,5}){2}))(?![a-z0-9]|\.\d)"
)
_FOLDER = re.compile(rf"v{_NUMBER}|{_DOTTED}|v?{_NUMBER}\.x|第?(?:{_NUMBER}|[{_HAN_DIGITS}]{{1,3}})年?版本?")
_FORM = re.compile(r"v?(\d+(?:[.-]\d+)*)(?:\.x)?(?:([-.]?)([a-z]+)[-.]?(\d*))?")
_EMPTY = re.compile(r"[\s\W_]+")
_BRACKETS = re.compile(r"[(\[（【]\s*[)\]）】]")

Ordered = tuple[tuple[int, ...], int, str, int]


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """excluded: ids of documents that another version of them answers for; older: those among them that were left out
    for their age alone, and not because a version was named.
    """

    excluded: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()


def find_version(title: str, name: str, folder: str) -> str:
    """Returns the version in a document's names: its title, else its file name, else the nearest of its folders."""
    for text in (title, name.rpartition(".")[0] or name):
        if found := find_versions(text):
            return found[-1]
    for part in reversed(folder.split("/")):
        if _FOLDER.fullmatch(_normalize_text(part)):
            return normalize_version(part)
    return ""


def find_product(title: str, folder: str) -> str:
    """Returns the model in the title, else in the nearest of the folders."""
    for code in find_codes(_MENTION.sub(" ", title)):
        if code.has_digit and len(code.text) <= MAX_CHARS and not find_versions(code.text):
            return code.text
    parts = (
        part for part in reversed(folder.split("/")) if is_code(part) and not _FOLDER.fullmatch(_normalize_text(part))
    )
    return next(parts, "")[:MAX_CHARS]


@lru_cache(maxsize=4096)
def find_versions(text: str) -> tuple[str, ...]:
    """Returns the versions that a text names, each once, in one form: 2.3 of V2.3, 3 of 第三版."""
    found = (next(filter(None, match.groups())) for match in _MENTION.finditer(_normalize_text(text)))
    return tuple(dict.fromkeys(normalize_version(each) for each in found))


def normalize_version(version: str) -> str:
    """Removes from a version what marks it as one; a name that is no number stays as it is."""
    plain = _normalize_text(version).strip()
    bare = re.sub(rf"^第|年?{_EDITION}$|^(?:version|ver\.?|版本号?)[ :]?", "", plain)
    if bare and set(bare) <= set(_HAN_DIGITS):
        return str(parse_number(bare))
    return bare.removeprefix("v") if _FORM.fullmatch(bare) else version.strip()


def compare_versions(one: str, other: str) -> int | None:
    """Compares two versions.

    Returns:
        A negative number if the first is older, a positive one if it is newer, 0 if they are equal; None if nobody can
            tell:
        one is not a number, or one is a year and the other is not.
    """
    first, second = _parse_version(one), _parse_version(other)
    if first is None or second is None or _is_year(first) is not _is_year(second):
        return None
    return (first > second) - (first < second)


@lru_cache(maxsize=65_536)
def get_series(document: DocumentMeta) -> tuple[str, str, str]:
    """Returns what all versions of a document share: its product, folder and title, each without the version."""
    folders = [part for part in document.folder.split("/") if not _FOLDER.fullmatch(_normalize_text(part))]
    plain = _normalize_text(document.title or document.name.rpartition(".")[0])
    title = _EMPTY.sub("", _BRACKETS.sub("", _MENTION.sub("", plain)))
    return document.product.casefold(), "/".join(folders), title


def choose_versions(
    documents: Iterable[DocumentMeta], text: str, before: Sequence[str] = (), cited: Collection[str] = ()
) -> VersionChoice:
    """Chooses which versions of documents may answer: of every manual with several versions the newest, or the named
    ones.

    Args:
        documents: The documents.
        text: The question.
        before: Versions that were named earlier in the conversation, see `find_versions`.
        cited: Ids of the documents that the last answer cited; they stay where nobody can tell which version is newer.
            Without any, all such versions stay.
    """
    series: dict[tuple[str, str, str], list[DocumentMeta]] = {}
    for document in documents:
        if document.product_version:
            series.setdefault(get_series(document), []).append(document)
    excluded, older, plain = set[str](), set[str](), _normalize_text(text)
    for several in series.values():
        wanted = _find_named(several, plain, find_versions(text)) or _find_named(several, "", before)
        late = {document.id for document in several if _is_superseded(document, several)}
        ids = {document.id for document in several}
        if wanted:
            excluded |= ids - wanted
        else:
            older |= late
            going_on = (ids - late) & set(cited)
            excluded |= ids - going_on if going_on else late
    return VersionChoice(frozenset(excluded), frozenset(older))


def format_version(version: str) -> str:
    """Returns a version as customers read and write it."""
    found = _parse_version(version)
    return version if found is None else f"{version}版" if _is_year(found) else f"V{version}"


def _find_named(several: Iterable[DocumentMeta], plain: str, named: Iterable[str]) -> set[str]:
    """Returns the ids of the documents of a named version; `plain` is the question, which may hold one that is no
    number.
    """
    return {
        document.id
        for document in several
        if (_parse_version(document.product_version) is None and _normalize_text(document.product_version) in plain)
        or any(
            compare_versions(document.product_version, version) == 0
            or document.product_version.startswith(f"{version}.")
            for version in named
        )
    }


def _is_superseded(document: DocumentMeta, several: Iterable[DocumentMeta]) -> bool:
    return any((compare_versions(document.product_version, other.product_version) or 0) < 0 for other in several)


@lru_cache(maxsize=4096)
def _parse_version(version: str) -> Ordered | None:
    found = _FORM.fullmatch(_normalize_text(version))
    if found is None:
        return None
    numbers = [int(part) for part in re.split(r"[.-]", found[1])]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    letters = found[3] or ""
    # 2.3-beta and 2.3rc1 come before 2.3, 2.3b after it.
    stage = 1 if not letters else 2 if len(letters) == 1 and not found[2] else 0
    return tuple(numbers), stage, letters, int(found[4] or 0)


def _is_year(version: Ordered) -> bool:
    return 1990 <= version[0][0] <= 2100


def _normalize_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
