"""Moves footnotes directly behind the block that refers to them."""

from __future__ import annotations

from markdown_it.common.utils import escapeHtml
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# Blocks that hold running text: a note stands behind the one that refers to it.
_CLOSED_BY = {"paragraph_close", "heading_close", "table_close", "dt_close"}


def move_footnotes(state: StateCore) -> None:
    """Moves definitions to where they are referred to; each becomes a <div class="footnote"> that begins with its
    mark.
    """
    notes, rest = _split_definitions(state.tokens)
    placed: list[Token] = []
    waiting: list[str] = []
    in_table = 0
    for token in rest:
        placed.append(token)
        in_table += (token.type == "table_open") - (token.type == "table_close")
        waiting += [label for label in _list_labels(token) if label in notes and label not in waiting]
        if token.type in _CLOSED_BY and not in_table:
            placed += _take_notes(waiting, notes)
            waiting = []
    state.tokens = [*placed, *_take_notes([*waiting, *notes], notes)]


def _split_definitions(tokens: list[Token]) -> tuple[dict[str, list[Token]], list[Token]]:
    """Returns the tokens of each definition by its label (the first one counts), and all other tokens."""
    notes: dict[str, list[Token]] = {}
    rest: list[Token] = []
    label: str | None = None
    for token in tokens:
        if token.type == "footnote_reference_open":
            label = token.meta["label"]
            if label in notes:
                notes[label].append(_build_html("<br>"))
            notes.setdefault(label, [])
        elif token.type == "footnote_reference_close":
            label = None
        elif label is not None:
            notes[label].append(token)
        else:
            rest.append(token)
    return notes, rest


def _list_labels(token: Token) -> list[str]:
    return [child.meta["label"] for child in token.children or [] if child.type == "footnote_ref"]


def _take_notes(labels: list[str], notes: dict[str, list[Token]]) -> list[Token]:
    """Takes notes out of `notes`, together with those that they refer to."""
    found: list[Token] = []
    waiting = list(labels)
    while waiting:
        label = waiting.pop(0)
        tokens = notes.pop(label, None)
        if tokens is None:
            continue
        mark = _build_html('<div class="footnote" data-mark="')
        mark.content += f'{escapeHtml(label)}">'
        found += [mark, *tokens, _build_html("</div>")]
        waiting += [inner for token in tokens for inner in _list_labels(token)]
    return found


def _build_html(text: str) -> Token:
    token = Token("html_block", "", 0)
    token.content = text
    return token
