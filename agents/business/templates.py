"""The templates of answers to declared questions: the `reply` of each subject of a business description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from agents.business.relations import get_singular
from agents.business.wording import list_placeholders
from knowledge.errors import InvalidConfiguration

# Words of a question that narrow the rows, in the order in which a reply says them.
FILTERS = ("period", "amount", "state", "search", "number")
# What a template may name besides the columns that are shown.
WORDS = frozenset({*FILTERS, "filters", "thing", "unit", "sum", "average", "count", "counted", "measure"})


@dataclass(frozen=True, slots=True)
class Row:
    """The text of a row, where the codes of `when` hold."""

    say: str
    when: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Template:
    """How the rows of a subject are written. Rows with the same `each` are one entry: `head` for it, `row` for each
    different `rows` of it.
    """

    each: str
    head: str
    none: str = "没有查到您{filters}的{thing}。"
    rows: str = ""
    row: tuple[Row, ...] = ()
    thing: str = "记录"
    # What an entry is called.
    unit: str = "条"
    # What is counted, where that is another.
    counted: str = ""
    intro: str = ""
    count: str = "您{filters}的{thing}共有 {count} {counted}"
    sum: str = "您{filters}的{thing}合计 {sum}（{count} {unit}）"
    average: str = "您{filters}的{thing}平均每{unit} {average} 元（{count} {unit}）"
    # The codes that were meant; `otherwise` says that only others were found.
    preferred: Mapping[str, Sequence[str]] = field(default_factory=dict)
    meant: str = ""
    otherwise: str = ""

    def list_columns(self) -> list[str]:
        """Returns the columns that it shows, in order."""
        texts = (self.head, *(row.say for row in self.row), self.none)
        columns = [name for text in texts for name in list_placeholders(text) if name not in WORDS]
        return list(dict.fromkeys((*_list_columns(self), *columns)))


def load_templates(path: Path) -> dict[str, Template]:
    """Loads the templates by subject. Raises InvalidConfiguration, naming the subject."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        questions, tables = data.get("questions") or {}, data.get("tables") or {}
    except (OSError, yaml.YAMLError, AttributeError) as error:
        raise InvalidConfiguration(f"业务库描述 {path} 读不懂：{error!r}") from error
    templates = {}
    for name, entry in questions.items():
        try:
            table = entry.get("table", name)
            key = f"{get_singular(table)}_{(tables.get(table) or {}).get('key', 'id')}"
            templates[name] = template = _parse_template({"each": key, **entry["reply"]})
            _check_template(template)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidConfiguration(f"业务库描述 {path} 的问题 {name}：reply 不对：{error!r}") from error
    return templates


def _parse_template(given: dict[str, Any]) -> Template:
    rows = given.pop("row", ())
    rows = [{"say": rows}] if isinstance(rows, str) else rows
    return Template(row=tuple(Row(**row) for row in rows), **given)


def _check_template(template: Template) -> None:
    """Raises ValueError for a name that is no word of the question where no rows are shown."""
    texts = (template.count, template.sum, template.average, template.otherwise, template.intro)
    if unknown := sorted({name for text in texts for name in list_placeholders(text)} - WORDS):
        raise ValueError(f"没有 {'、'.join(unknown)} 可说")


def _list_columns(template: Template) -> Iterator[str]:
    yield template.each
    yield from (template.rows,) if template.rows else ()
    yield from template.preferred
    for row in template.row:
        yield from row.when
