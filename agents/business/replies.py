"""Writes rows as a reply that cites `[SQL]`: by the templates of a subject, or by the descriptions of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from agents.business.schema import Schema
from agents.business.templates import FILTERS, Template, load_templates
from agents.business.types import Field, Give, Plan, Rows, Value
from agents.business.wording import fill_template, format_value, get_label

CITED = "[SQL]"
MOST_SHOWN = 5
NOTHING = f"没有查到符合条件的记录 {CITED}。"
LIMITED = "您话里的「{unread}」我没有听懂，下面的结果没有把它算进去。"


class DeclaredReplies:
    """Writes rows as a text that cites `[SQL]`. Thread-safe."""

    def __init__(self, templates: Mapping[str, Template], schema: Schema) -> None:
        self._templates = templates
        self._schema = schema

    def write(self, rows: Rows, plan: Plan | None, today: date) -> str:
        """Writes one row, a list or none (没有查到…). plan: None for a statement that a language model wrote."""
        template = self._templates.get(plan.subject) if plan else None
        if plan is None or template is None:
            return _describe_rows(rows, self._schema, today)
        reply = _ReplyWriter(template, rows, plan.words, self._schema, today).write()
        unread = plan.words.get("unread")
        return f"{LIMITED.format(unread=unread)}\n{reply}" if unread else reply


def load_replies(path: Path, schema: Schema) -> DeclaredReplies:
    """Loads the templates of a business description. Raises InvalidConfiguration, naming the subject."""
    return DeclaredReplies(load_templates(path), schema)


class _ReplyWriter:
    """Writes the rows of one declared question."""

    def __init__(self, template: Template, rows: Rows, words: Mapping[str, str], schema: Schema, today: date) -> None:
        self._template, self._rows, self._words = template, rows, words
        self._schema, self._today = schema, today
        self._open = words.get("give", Give.LIST) == Give.LIST and not words.keys() & {*FILTERS}
        self._columns = {column.name: (index, column) for index, column in enumerate(rows.fields)}

    def write(self) -> str:
        template, values = self._template, self._rows.values
        give = self._words.get("give", Give.LIST)
        over_all = {Give.COUNT: template.count, Give.SUM: template.sum, Give.AVERAGE: template.average}.get(Give(give))
        if not values or (over_all is not None and not self._find_value(values[:1], "count")):
            return f"{self._fill_template(template.none, ()).rstrip('。')} {CITED}。"
        if over_all is not None:
            return f"{self._fill_template(over_all, values)} {CITED}。"
        entries = self._group_entries()
        if len(entries) == 1:
            return f"{self._write_opening(entries)}{self._write_entry(entries[0])} {CITED}。"
        return self._write_list(entries)

    def _write_list(self, entries: list[list[tuple[Value, ...]]]) -> str:
        template, more = self._template, self._rows.more
        number = f"{'不止' if more else '共有'} {len(entries)} {template.unit}"
        opening = (self._open and template.intro) or f"您{self._join_filters()}的{template.thing}"
        head = f"{opening}{number} {CITED}："
        lines = [
            f"{position}. {self._write_entry(entry)}" for position, entry in enumerate(entries[:MOST_SHOWN], start=1)
        ]
        if remaining := len(entries) - MOST_SHOWN:
            rest = f"还有 {'至少 ' if more else ''}{remaining} {template.unit}，"
            lines += [f"{rest}可以说个时间范围再查。"] if remaining > 0 else []
        return "\n".join([head, *lines])

    def _write_opening(self, entries: list[list[tuple[Value, ...]]]) -> str:
        """Says so where none of the preferred rows is there."""
        template = self._template
        if not template.otherwise or not self._open:
            return ""
        for name, codes in template.preferred.items():
            if self._get_raw(entries[0], name) not in codes:
                return self._fill_template(template.otherwise, ())
        return ""

    def _group_entries(self) -> list[list[tuple[Value, ...]]]:
        grouped: dict[Value, list[tuple[Value, ...]]] = {}
        index = self._columns[self._template.each][0]
        for row in self._rows.values:
            grouped.setdefault(row[index], []).append(row)
        return list(grouped.values())

    def _write_entry(self, entry: list[tuple[Value, ...]]) -> str:
        template = self._template
        text = self._fill_template(template.head, entry)
        if not template.rows:
            return text
        index = self._columns[template.rows][0]
        different = {row[index]: row for row in reversed(entry)}
        lines = [line for row in reversed(different.values()) if (line := self._write_row(row))]
        return f"{text}：{'；'.join(lines)}" if lines else text

    def _write_row(self, row: tuple[Value, ...]) -> str:
        for kind in self._template.row:
            if all(self._get_raw([row], name) in codes for name, codes in kind.when.items()):
                return self._fill_template(kind.say, [row])
        return ""

    def _fill_template(self, template: str, rows: Sequence[tuple[Value, ...]]) -> str:
        return fill_template(template, lambda name, form: self._find_value(rows, name, form))

    def _find_value(self, rows: Sequence[tuple[Value, ...]], name: str, form: str = "") -> str:
        """Returns the different values of a column in these rows, or a word of the question."""
        if name in ("filters", "thing", "unit"):
            return self._join_filters() if name == "filters" else str(getattr(self._template, name))
        if name == "counted":
            return self._words.get("unit") or self._template.counted or self._template.unit
        if name not in self._columns or not rows:
            return self._words.get(name, self._template.meant if name == "state" else "")
        index, column = self._columns[name]
        values = dict.fromkeys(format_value(row[index], column, self._schema, self._today, form) for row in rows)
        if name == "count" and values.keys() == {"0"}:
            return ""
        return "、".join(value for value in values if value)

    def _get_raw(self, rows: Sequence[tuple[Value, ...]], name: str) -> Value:
        return rows[0][self._columns[name][0]]

    def _join_filters(self) -> str:
        """Returns what the rows were narrowed by, in the customer's words."""
        filters = [self._words[name] for name in FILTERS if self._words.get(name)]
        text = "".join(" " * word[0].isascii() + word + " " * word[-1].isascii() for word in filters)
        return text.removesuffix("的")


def _describe_rows(rows: Rows, schema: Schema, today: date) -> str:
    """Writes rows of any statement by the descriptions of their columns."""
    texts = [written for row in rows.values if (written := _write_pairs(row, rows.fields, schema, today))]
    if not texts:
        return NOTHING
    if len(texts) == 1 and not rows.more:
        return f"查到的结果：{texts[0]} {CITED}。"
    lines = [f"{number}. {text}" for number, text in enumerate(texts[:MOST_SHOWN], start=1)]
    if (remaining := len(texts) - MOST_SHOWN) > 0:
        lines.append(f"还有 {'至少 ' if rows.more else ''}{remaining} 条，可以说得再具体些。")
    return "\n".join([f"查到{'不止' if rows.more else ''} {len(texts)} 条结果 {CITED}：", *lines])


def _write_pairs(row: tuple[Value, ...], fields: tuple[Field, ...], schema: Schema, today: date) -> str:
    pairs = [
        f"{get_label(column, schema)} {text}"
        for value, column in zip(row, fields, strict=True)
        if (text := format_value(value, column, schema, today))
    ]
    return "，".join(pairs)
