"""Dialects of Markdown that are read, and by what.

| dialect | example | by |
|---|---|---|
| CommonMark | `# 标题`, `- 项`, fences, HTML | markdown-it |
| emphasis of Chinese writers | `**注意：**请`, `60*40cm` stays | `markdown_inline` |
| GFM | tables, `~~停售~~` | `markdown_tables`, markdown-it |
| tables as typed | `｜`, `|:-|—|`, no outer pipes | `markdown_tables` |
| headings without a blank | `####标题` | `markdown_blocks.parse_tight_heading` |
| front matter | `---`, `+++` | `markdown` |
| Python-Markdown, MkDocs | `!!! note "…"`, `??? tip`, `=== "…"`, `{: .x }` | plugins, `markdown_blocks.parse_tab` |
| VuePress, VitePress, Docusaurus | `::: tip 标题`, `:::warning[…]`, `::: tabs`, `@tab` | `markdown_blocks.parse_box` |
| titles of code | <code>```bash title="安装"</code>, `[npm]` | `_render_fence` |
| GitHub, Obsidian | `> [!NOTE]`, `> [!tip] 标题` | `_convert_quoted_notes` |
| GitBook, Hexo | `{% hint style="info" %}`, `{% note %}`, `{% tab title="…" %}` | `markdown_blocks.parse_tag_line` |
| Hugo | `{{% notice tip %}}`, `{{< tab "…" >}}` | `markdown_blocks.parse_tag_line`, `markdown_inline.skip_shortcodes` |
| attributes | `![图](a.png){width=50%}`, `## 标题 {#id}` | `markdown_inline.skip_attributes`, `_remove_attributes` |
| footnotes | `[^1]` and `[^1]: …` | mdit-py-plugins, `markdown_footnotes` |
| definition lists | `术语`, below it `: 说明` | mdit-py-plugins |
| formulas | `$a$`, `$$a$$` | mdit-py-plugins |
| MDX | imports, `<TabItem label="…">`, `<Note>` | `mdx` |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, zip_longest

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML, RendererProtocol
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, blockquote, heading, list_block, reference
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.admon.index import admonition
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import footnote_def

from knowledge.parsing import markdown_blocks as blocks
from knowledge.parsing import markdown_inline as inline
from knowledge.parsing.markdown_footnotes import move_footnotes
from knowledge.parsing.markdown_tables import parse_table
from knowledge.parsing.markup_runs import INLINE_TAGS, UNREAD_TAGS
from knowledge.parsing.notes import find_label

# Characters; unmatched emphasis takes 11 s at 70,000.
_MAX_INLINE = 10_000
_PARAGRAPHS = ["paragraph", "reference", "blockquote"]
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]+[A-Za-z][\w-]*(?:[ \t]+[A-Za-z][\w-]*)*[ \t]*(?:\"(.*)\"[ \t]*)?$")
_QUOTED_NOTE = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*([^\n]*)(?:\n|$)")
_AT_END = re.compile(rf"[ \t]*{inline.ATTRIBUTES.pattern}\s*$")
_CONTENTS = re.compile(r"\[\[?_?toc_?\]?\]", re.IGNORECASE)
_TAG = re.compile(r"<([A-Za-z][\w-]*)\s*>")
_KNOWN_TAGS = {*block_names, *INLINE_TAGS, *UNREAD_TAGS, "img", "br", "pre", "math", "picture", "hgroup"}
_OWN_LINE = re.compile(r"[>|#*+｜]|\[[^\[\]]+\]:|[^\s，。：:（(/]{1,10}[：:](?!//)")
_CODE_TITLE = re.compile(r"title=(?:\"([^\"]*)\"|'([^']*)')|\[([^\]]+)\]\s*$")


@cache
def make_renderer(*, indented_code: bool = True) -> MarkdownIt:
    """Creates the renderer of all dialects to HTML, as `markup` reads it. It keeps nothing of the documents."""
    md = MarkdownIt("commonmark", {"maxNesting": 100}).enable("strikethrough")
    if not indented_code:
        md.disable("code")
    _add_blocks(md)
    _add_inlines(md)
    md.core.ruler.before("inline", "quoted_notes", _convert_quoted_notes)
    md.core.ruler.before("inline", "attributes", _remove_attributes)
    md.core.ruler.before("inline", "markers", _add_markers)
    md.core.ruler.before("inline", "long_text", _limit_long_text)
    md.core.ruler.push("line_breaks", _keep_line_breaks)
    md.core.ruler.push("footnotes", move_footnotes)
    for name, rule in (
        ("html_inline", _render_html),
        ("html_block", _render_html),
        ("fence", _render_fence),
        ("footnote_ref", _render_mark),
    ):
        md.add_render_rule(name, rule)
    for name in ("math_inline", "math_block", "math_block_label"):
        md.add_render_rule(name, _render_formula)
    return md


def _add_blocks(md: MarkdownIt) -> None:
    md.use(admon_plugin).use(deflist_plugin).use(footnote_plugin, inline=False, move_to_end=False)
    md.use(dollarmath_plugin, allow_space=False, allow_digits=False, allow_blank_lines=False)
    rules = md.block.ruler
    rules.before("table", "table_as_typed", parse_table, {"alt": ["paragraph", "reference"]})
    every: RuleOptionsType = {"alt": [*_PARAGRAPHS, "list"]}
    rules.at("admonition", blocks.skip_text_lines(admonition, _is_no_admonition), every)
    rules.at("blockquote", blocks.skip_text_lines(blockquote, blocks.is_comparison), every)
    rules.at("list", blocks.skip_text_lines(list_block, blocks.is_key), {"alt": _PARAGRAPHS})
    rules.at("heading", blocks.skip_text_lines(heading, blocks.is_key), {"alt": _PARAGRAPHS})
    rules.at("reference", blocks.skip_text_lines(reference, blocks.is_no_definition))
    footnotes = blocks.skip_text_lines(footnote_def, blocks.is_unreferred_note)
    rules.at("footnote_def", footnotes, {"alt": ["paragraph", "reference"]})
    rules.after("heading", "tight_heading", blocks.parse_tight_heading, {"alt": _PARAGRAPHS})
    rules.before("fence", "box", blocks.parse_box, every)
    rules.before("fence", "tab", blocks.parse_tab, every)
    rules.before("fence", "tag_line", blocks.parse_tag_line, every)
    rules.before("paragraph", "after_item", blocks.end_item, {"alt": ["paragraph"]})


def _add_inlines(md: MarkdownIt) -> None:
    rules = md.inline.ruler
    rules.at("emphasis", inline.parse_delimiters)
    rules.before("strikethrough", "tildes", inline.parse_tildes)
    rules.before("escape", "backslashes", inline.parse_backslashes)
    rules.before("html_inline", "attributes", inline.skip_attributes)
    rules.before("html_inline", "shortcodes", inline.skip_shortcodes)


def _is_no_admonition(state: StateBlock, line: int) -> bool:
    return blocks.has_mark(state, line, "!?") and not _ADMONITION.match(blocks.get_line(state, line))


def _convert_quoted_notes(state: StateCore) -> None:
    """Turns quotations that begin with [!NOTE] into boxes, and removes the titles that the renderer makes up."""
    tokens: list[Token] = []
    closing: list[bool] = []
    for at, token in enumerate(state.tokens):
        tokens.append(token)
        if token.type == "blockquote_open":
            first = state.tokens[at + 2] if at + 2 < len(state.tokens) else token
            found = _QUOTED_NOTE.match(first.content) if first.type == "inline" else None
            label = find_label(found[1]) if found else ""
            closing.append(bool(label))
            if found and label:
                token.tag = "div"
                token.attrSet("class", f"admonition {label}")
                first.content = first.content[found.end() :]
                tokens += _build_title(found[2])
        elif token.type == "blockquote_close" and closing.pop():
            token.tag = "div"
        elif token.type == "admonition_title_open" and '"' not in state.tokens[at - 1].info:
            state.tokens[at + 1].content = ""
    state.tokens = tokens


def _build_title(text: str) -> list[Token]:
    opening, content, closing = (
        Token("paragraph_open", "p", 1),
        Token("inline", "", 0),
        Token("paragraph_close", "p", -1),
    )
    opening.attrSet("class", "admonition-title")
    content.content, content.children = text.strip(), []
    return [opening, content, closing] if text.strip() else []


def _remove_attributes(state: StateCore) -> None:
    """Removes {#id} behind headings and attribute lines behind paragraphs; empties a paragraph that asks for a table
    of contents.
    """
    for token, before in zip(state.tokens[1:], state.tokens, strict=False):
        if token.type != "inline":
            continue
        if before.type == "heading_open":
            token.content = _AT_END.sub("", token.content)
        elif before.type == "paragraph_open":
            lines = token.content.split("\n")
            if inline.ATTRIBUTES.fullmatch(lines[-1].strip()) or _CONTENTS.fullmatch(lines[-1].strip()):
                token.content = "\n".join(lines[:-1])


def _add_markers(state: StateCore) -> None:
    """Marks items with what a reader sees: 1) if typed so, rising numbers as typed, and for a single item its
    meaningful mark, as in + 86.
    """
    lists: list[tuple[Token, list[int]]] = []
    for at, token in enumerate(state.tokens):
        if token.type in ("ordered_list_open", "bullet_list_open"):
            lists.append((token, []))
        elif token.type == "list_item_open":
            lists[-1][1].append(at)
        elif token.type == "ordered_list_close":
            _number_items(*lists.pop(), state.tokens)
        elif token.type == "bullet_list_close":
            opening, places = lists.pop()
            inner = state.tokens[places[0] + 2] if len(places) == 1 else opening
            figure = inner.type == "inline" and inner.content[:1].isdecimal()
            if figure or (len(places) == 1 and opening.markup == "+"):
                opening.attrSet("data-mark", opening.markup)


def _number_items(opening: Token, places: list[int], tokens: list[Token]) -> None:
    if opening.markup == ")":
        opening.attrSet("data-mark", ")")
    items = [tokens[at] for at in places]
    numbers = [int(item.info) for item in items]
    if all(one < other for one, other in pairwise(numbers)):
        for item, number in zip(items, numbers, strict=True):
            item.attrSet("value", str(number))


def _limit_long_text(state: StateCore) -> None:
    """Takes an over-long paragraph verbatim: emphasis and brackets would cost quadratic time."""
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > _MAX_INLINE:
            token.type = "text"


def _keep_line_breaks(state: StateCore) -> None:
    """Keeps the line breaks of lines that are no wrapped prose.

    These are lines below one that is bold from end to end, and lines that begin with a mark (>50件, | a | b |) or with
    a name and a colon.
    """
    for token in state.tokens:
        line: list[Token] = []
        for child, following in zip_longest(token.children or [], (token.children or [])[1:]):
            if child.type not in ("softbreak", "hardbreak"):
                line += [child] if child.type != "text" or child.content else []
                continue
            bold = len(line) > 2 and line[0].type == "strong_open" and line[-1].type == "strong_close"
            if bold or (following is not None and following.type == "text" and _OWN_LINE.match(following.content)):
                child.type, child.tag = "hardbreak", "br"
            line = []


def _render_html(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Renders HTML verbatim; <名> in angle brackets that is no known tag and never closed is text: ssh root@<ip>."""

    def escape_unknown_tag(found: re.Match[str]) -> str:
        name = found[1].lower()
        return found[0] if name in _KNOWN_TAGS or f"</{name}" in env["source"] else escapeHtml(found[0])

    return _TAG.sub(escape_unknown_tag, tokens[at].content)


def _render_fence(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Renders code below its title, if it has one: ```bash title="安装", ```bash [npm]."""
    assert isinstance(renderer, RendererHTML)
    titled = _CODE_TITLE.search(tokens[at].info)
    title = next(filter(None, titled.groups()), "") if titled else ""
    head = f"<p><strong>{escapeHtml(title)}</strong></p>\n" if title else ""
    return head + renderer.fence(tokens, at, options, env)


def _render_formula(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """Renders a formula as typed, without emphasis in it."""
    token = tokens[at]
    text = escapeHtml(f"{token.markup}{token.content}{token.markup}")
    if token.type == "math_inline":
        return f"<span>{text}</span>"
    label = f" ({escapeHtml(token.info)})" if token.info else ""
    return f'<div class="formula">{text}{label}</div>\n'


def _render_mark(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    return f"[{escapeHtml(tokens[at].meta['label'])}]"
