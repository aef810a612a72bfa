"""Emphasis, strike-through and escapes as Chinese writers use them; `app/web/shared/markdown-rules.js` does the same.

A mark counts where it is paired and bounded: 60*40*30, ¥39*2, *#06#, 138****8888, a_b_c, __init__.py and 3~~5 keep
theirs; **注意：**请 and “**重要**”的 are bold, which CommonMark refuses.
"""

from __future__ import annotations

import re
import unicodedata

from markdown_it.rules_inline.state_inline import Delimiter, StateInline

# Of one mark in a row; more is a fill-in blank or a masked number.
_MOST = 3
_ENDS = "，。、；：！？,.;:!?)]}）】」』》〉”’…%"
_OPENS = "（【「『《〈“‘([{"
_IN_ADDRESS = "/\\.-@=&?#"
_TWO_BACKSLASHES = re.compile(r"\\\\(?=\w)")
_SPELT = re.compile(r"[^*]*\*")


def parse_delimiters(state: StateInline, silent: bool) -> bool:
    """Inline rule that replaces that of emphasis: the same pairing, with other conditions to open and to close."""
    mark = state.src[state.pos]
    if silent or mark not in "*_":
        return False
    start, end = state.pos, state.pos
    while end < state.posMax and state.src[end] == mark:
        end += 1
    length = end - start
    opens, closes = (
        length <= _MOST and _can_open(state.src, start, end),
        length <= _MOST and _can_close(state.src, start, end),
    )
    for _ in range(length):
        state.push("text", "", 0).content = mark
        if opens or closes:
            state.delimiters.append(Delimiter(ord(mark), length, len(state.tokens) - 1, -1, opens, closes))
    state.pos = end
    return True


def parse_tildes(state: StateInline, silent: bool) -> bool:
    """Inline rule of markdown-it: reads a run of tildes as text where it does not strike anything out.

    That is a single tilde, three or more, and two between digits (3~~5). Returns whether the rule applied, in which
    case the parser's position is behind the run.
    """
    if silent or state.src[state.pos] != "~":
        return False
    end = state.pos
    while end < state.posMax and state.src[end] == "~":
        end += 1
    before, after = _get_character(state.src, state.pos - 1), _get_character(state.src, end)
    if end - state.pos == 2 and not (before.isdecimal() and after.isdecimal()):
        return False
    state.push("text", "", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def parse_backslashes(state: StateInline, silent: bool) -> bool:
    r"""Inline rule: takes the two backslashes of \\server\share, which are no escape."""
    if not _TWO_BACKSLASHES.match(state.src, state.pos):
        return False
    if not silent:
        state.pending += "\\\\"
    state.pos += 2
    return True


def skip_attributes(state: StateInline, silent: bool) -> bool:
    """Inline rule: drops {width=50%} behind a picture, a link or a code span, as in kramdown, Python-Markdown and
    Pandoc.
    """
    if state.src[state.pos] != "{" or state.pending or not state.tokens:
        return False
    found = ATTRIBUTES.match(state.src, state.pos)
    if not found or state.tokens[-1].type not in ("image", "link_close", "code_inline"):
        return False
    if not silent:
        state.pos = found.end()
    return True


def skip_shortcodes(state: StateInline, silent: bool) -> bool:
    """Inline rule: drops {{< relref "…" >}} within a text; only Hugo knows what to make of it."""
    found = _SHORTCODE.match(state.src, state.pos) if state.src[state.pos] == "{" else None
    if not found:
        return False
    if not silent:
        state.pos = found.end()
    return True


_SHORTCODE = re.compile(r"\{\{[%<][ \t]*/?[A-Za-z][^{}\n]*[%>]\}\}")
_VALUE = r"""(?:"[^"\n]*"|'[^'\n]*'|[^\s"'{}]+)"""
# A list of attributes in braces: {#id .class key=value}.
ATTRIBUTES = re.compile(
    rf"\{{:?[ \t]*(?:[#.][\w:-]+|[\w:-]+={_VALUE})(?:[ \t]+(?:[#.][\w:-]+|[\w:-]+={_VALUE}))*[ \t]*\}}"
)


def _can_open(text: str, start: int, end: int) -> bool:
    before, after, rest = _get_character(text, start - 1), _get_character(text, end), text[end:]
    if after.isspace() or after in _ENDS:
        return False
    if text[start] == "_":
        return not _is_word(before) and before not in _IN_ADDRESS
    if end - start > 1:
        return not (before.isdecimal() and after.isdecimal())
    if _is_word(before) or "#" in (before, after):
        return False
    content = _SPELT.match(rest)
    return content is not None and any(map(str.isalpha, content[0]))


def _can_close(text: str, start: int, end: int) -> bool:
    before, after, next_one = _get_character(text, start - 1), _get_character(text, end), _get_character(text, end + 1)
    if before.isspace() or before in _OPENS:
        return False
    if text[start] == "_":
        return (
            not _is_word(after)
            and after not in _IN_ADDRESS.replace(".", "")
            and not (after == "." and _is_word(next_one))
        )
    if end - start > 1:
        return not (before.isdecimal() and after.isdecimal())
    return not (_is_word(after) or "#" in (before, after) or (after == "." and _is_word(next_one)))


def _get_character(text: str, position: int) -> str:
    return text[position] if 0 <= position < len(text) else " "


def _is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"
