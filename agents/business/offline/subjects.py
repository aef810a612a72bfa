"""The questions that can be asked without a language model: the section `questions` of a description."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from agents.business import relations
from agents.business.guard import SqlGuard, UnsafeQuery
from agents.business.schema import Schema
from agents.business.templates import load_templates
from knowledge.errors import InvalidConfiguration

LIST, SUM = "list", "sum"
# Keys of a question.
WRITTEN = frozenset(
    {
        *("table", "examples", "where", "usual", "prefer", "time", "money", "sum_where", "count", "group", "gives"),
        *("limit", "searched", "ahead", "default", "reply"),
    }
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of question, with `examples` of it. Fragments of SQL name their columns as table.column.

    `where` holds always; `usual` (and `sum_where`, of sums) unless the question names states by the same columns;
    `prefer`: the rows that are meant where none are named, without any the newest. `ahead`: its times lie in the
    future. A question that names goods goes to the subject `searched`. `limit`: rows at most, 0 all.
    """

    name: str
    table: str
    examples: tuple[str, ...]
    show: tuple[str, ...]
    source: str
    joins: str
    key: str
    where: str = ""
    usual: str = ""
    prefer: str = ""
    time: str = ""
    money: str = ""
    sum_where: str = ""
    count: str = "COUNT(*)"
    group: str = ""
    gives: str = LIST
    limit: int = 0
    searched: str = ""
    ahead: bool = False
    default: bool = False


@dataclass(frozen=True, slots=True)
class Subjects:
    """`goods`: what may be searched for -> further words that customers use for it."""

    subjects: Mapping[str, Subject]
    goods: Mapping[str, tuple[str, ...]]


def load_subjects(path: Path, schema: Schema) -> Subjects:
    """Loads the questions of a description; none without that section. Raises InvalidConfiguration, naming the
    subject.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        given = dict(data.get("questions") or {})
        goods = {str(term): tuple(map(str, words)) for term, words in (data.get("goods") or {}).items()}
    except (OSError, yaml.YAMLError, AttributeError, TypeError, ValueError) as error:
        raise InvalidConfiguration(f"业务库描述 {path} 读不懂：{error!r}") from error
    named = {name: template.list_columns() for name, template in load_templates(path).items()}
    subjects = {}
    for name, entry in given.items():
        try:
            subjects[name] = subject = _parse_subject(name, entry, named[name], schema)
            _check_subject(subject, schema)
        except (UnsafeQuery, KeyError, TypeError, AttributeError, ValueError) as error:
            raise InvalidConfiguration(f"业务库描述 {path} 的问题 {name} 不对：{error}") from error
    for subject in subjects.values():
        if subject.searched and subject.searched not in subjects:
            raise InvalidConfiguration(f"业务库描述 {path} 的问题 {subject.name}：没有 {subject.searched}")
    return Subjects(subjects, goods)


def _parse_subject(name: str, entry: Mapping[str, Any], named: Iterable[str], schema: Schema) -> Subject:
    if unknown := sorted(entry.keys() - WRITTEN):
        raise ValueError(f"没有 {'、'.join(unknown)} 这样的键")
    table = schema.tables[entry.get("table", name)]
    if not (examples := tuple(map(str, entry["examples"]))):
        raise ValueError("examples 是空的")
    one = relations.has_one_row(table)
    columns: dict[str, Any] = {
        kind: entry.get(kind) or (f"{table.name}.{column}" if column and not one else "")
        for kind, column in (("time", table.time), ("money", table.money))
    }
    key = f"{table.name}.{table.key}"
    own = f"{relations.get_singular(table.name)}_{table.key}"
    group = entry.get("group", "")
    found = dict(_find_outputs(table.name, dict.fromkeys((*named, *(() if group else (own,)))), schema))
    show = tuple(f"{_sum_column(column, group, schema)} AS {alias}" for alias, column in found.items())
    others = dict.fromkeys(column.partition(".")[0] for column in found.values())
    joins = " ".join(join for other in others if (join := relations.build_join(schema, table.name, other)))
    kept = {field.name for field in fields(Subject)} & WRITTEN
    rest: dict[str, Any] = {key: value for key, value in entry.items() if key in kept - {"table", "examples", *columns}}
    source = relations.build_base(schema, table.name)
    return Subject(name, table.name, examples, show, source, joins, key, **{**columns, **rest})


def _find_outputs(table: str, names: Iterable[str], schema: Schema) -> Iterator[tuple[str, str]]:
    """Yields the names of a template with their columns: of the subject's table, else `order_status` for the status of
    a related table `orders`, else a related table's plain name. Raises ValueError where none has it.
    """
    related = relations.list_related(schema, table)
    for name in names:
        long = [
            f"{other}.{column}"
            for other in related
            for column in schema.tables[other].columns
            if f"{relations.get_singular(other)}_{column}" == name
        ]
        short = [f"{other}.{name}" for other in related if name in schema.tables[other].columns]
        if not (found := [short[0]] if short and short[0].startswith(f"{table}.") else [*long, *short]):
            raise ValueError(f"没有 {name} 这一列")
        yield name, found[0]


def _sum_column(column: str, group: str, schema: Schema) -> str:
    table, _, name = column.partition(".")
    number = schema.tables[table].columns[name].type in ("integer", "number")
    return f"SUM({column})" if group and number and column != group else column


def _check_subject(subject: Subject, schema: Schema) -> None:
    """Checks that every statement from the fragments passes the guard. Raises UnsafeQuery."""
    guard = SqlGuard(schema, "sqlite", 1)
    for test in (subject.where, subject.usual, subject.prefer, subject.sum_where):
        guard.check(f"SELECT {subject.key} FROM {subject.source}" + (f" WHERE {test}" if test else ""))
    for output in (subject.time, subject.money, subject.count):
        guard.check(f"SELECT {output or subject.key} FROM {subject.source}")
    group = f" GROUP BY {subject.group}" if subject.group else ""
    guard.check(f"SELECT {', '.join(subject.show)} FROM {subject.source} {subject.joins}{group}")
