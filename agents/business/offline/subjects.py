"""What may be asked of a database without a language model: the section `questions` of its description."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml
from sqlglot import exp

from agents.business.guard import SqlGuard, UnsafeQuery
from agents.business.schema import Schema
from knowledge.errors import InvalidConfiguration
from knowledge.text import fold

OUTSIDE = frozenset({"reply"})
"""Keys of a subject that are for whoever writes the reply."""
SUM = "sum"


@dataclass(frozen=True, slots=True)
class State:
    """Words that narrow the rows to some: 没付款 -> orders.status = 'unpaid'. `say` names them in a reply."""

    words: re.Pattern[str]
    where: str
    say: str


@dataclass(frozen=True, slots=True)
class Moment:
    """Another time of a row than its usual one: `words` beside a time say that it is meant. `where` is the test around
    the comparison `{}` of the column; `ahead`: of times to come alone.
    """

    words: re.Pattern[str]
    column: str
    where: str = "{}"
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """Another amount of a row, or number of rows, than its usual one: words for it, the SQL, and what one is called."""

    words: re.Pattern[str]
    column: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of question. Fragments of SQL name their columns as table.column.

    A cue is enough to know the subject by, a word only where nothing else is asked, `also` is heard and says nothing; a
    question that matches `claims` is for this subject whatever it says besides (哪些单没开发票 asks for orders);
    `never` are words of other questions, `although` those that a question about rules may share with this one. `source`
    and `where` hold always, `usual` (and `sum_where`, of sums) unless the question names states by the same columns,
    `joins` only where rows are listed. `prefer` are the rows that are meant where none are named; if there are none,
    the newest is given. `time_if` has to follow a time for it to narrow the rows; `ahead`: these lie in the future. A
    question that names what to `search` for goes to the subject `searched`. `limit`: rows at most, 0 all. `tells`:
    other questions that the rows of this one answer too (多少钱，买的什么).
    """

    name: str
    cues: tuple[re.Pattern[str], ...]
    words: tuple[re.Pattern[str], ...]
    also: tuple[re.Pattern[str], ...]
    source: str
    show: tuple[str, ...]
    key: str
    joins: str = ""
    where: str = ""
    usual: str = ""
    prefer: str = ""
    time: str = ""
    times: tuple[Moment, ...] = ()
    time_if: re.Pattern[str] | None = None
    ahead: bool = False
    money: str = ""
    measures: tuple[Measure, ...] = ()
    sum: str = ""
    sum_where: str = ""
    sum_cues: re.Pattern[str] | None = None
    count: str = ""
    counts: tuple[Measure, ...] = ()
    numbers: tuple[str, ...] = ()
    number_like: re.Pattern[str] | None = None
    search: str = ""
    searched: str = ""
    states: tuple[State, ...] = ()
    group: str = ""
    order: str = ""
    gives: str = "list"
    limit: int = 0
    tells: tuple[str, ...] = ()
    claims: re.Pattern[str] | None = None
    never: re.Pattern[str] | None = None
    although: re.Pattern[str] | None = None
    default: bool = False


@dataclass(frozen=True, slots=True)
class Subjects:
    """`goods`: what may be searched for -> the words that customers use for it; `aliases`: a word of the patterns ->
    others for the same.
    """

    subjects: Mapping[str, Subject]
    goods: Mapping[str, re.Pattern[str]]
    aliases: Mapping[str, re.Pattern[str]]

    def plain(self, text: str) -> str:
        """A folded text in the words of the patterns."""
        for word, others in self.aliases.items():
            text = others.sub(word, text)
        return text


def load_subjects(path: Path, schema: Schema) -> Subjects:
    """The questions of a description; none without that section. Raises InvalidConfiguration, naming the subject."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        given = data.get("questions") or {}
        goods = {str(term): _any([term, *words]) for term, words in (data.get("goods") or {}).items()}
        aliases = {str(word): _any(others) for word, others in (data.get("aliases") or {}).items()}
    except (OSError, yaml.YAMLError, AttributeError, TypeError, re.error) as error:
        raise InvalidConfiguration(f"业务库描述 {path} 读不懂：{error!r}") from error
    subjects = {}
    for name, entry in given.items():
        try:
            subjects[name] = subject = _subject(name, entry, schema)
            _check(subject, schema)
        except (UnsafeQuery, KeyError, TypeError, AttributeError, ValueError, re.error) as error:
            raise InvalidConfiguration(f"业务库描述 {path} 的问题 {name} 不对：{error}") from error
    for subject in subjects.values():
        if subject.searched and subject.searched not in subjects:
            raise InvalidConfiguration(f"业务库描述 {path} 的问题 {subject.name}：没有 {subject.searched}")
    return Subjects(subjects, goods, aliases)


def _subject(name: str, entry: Mapping[str, Any], schema: Schema) -> Subject:
    known = {field.name for field in fields(Subject)} - {"name", "source"} | {"from", "status"} | OUTSIDE
    if unknown := sorted(entry.keys() - known):
        raise ValueError(f"没有 {'、'.join(unknown)} 这样的键")
    given = {key: value for key, value in entry.items() if key not in OUTSIDE | {"from", "status"}}
    for key in ("cues", "words", "also"):
        given[key] = tuple(re.compile(fold(item)) for item in given.get(key, ()))
    for key in ("time_if", "sum_cues", "number_like", "claims", "never", "although"):
        if key in given:
            given[key] = re.compile(fold(given[key]))
    for key in ("show", "numbers", "tells"):
        given[key] = tuple(given.get(key, ()))
    states = [State(_any(state["words"]), state["where"], state["say"]) for state in given.get("states", ())]
    status = entry.get("status", ())
    columns = [status] if isinstance(status, str) else status
    given["states"] = (*states, *(state for column in columns for state in _states_of(column, schema)))
    given["times"] = tuple(Moment(**{**time, "words": _any(time["words"])}) for time in given.get("times", ()))
    for key in ("measures", "counts"):
        given[key] = tuple(Measure(**{**item, "words": _any(item["words"])}) for item in given.get(key, ()))
    if not given["cues"] + given["words"]:
        raise ValueError("cues 和 words 都没有")
    return Subject(name=name, source=entry["from"], **given)


def _states_of(status: str, schema: Schema) -> Iterator[State]:
    """The codes of a column and their meanings are words for them."""
    table, column = status.split(".")
    for code, meaning in schema.tables[table].columns[column].values.items():
        yield State(
            _any([*_ways(meaning), rf"(?<![a-z]){re.escape(code)}(?![a-z])"]), f"{status} = {literal(code)}", meaning
        )


def _ways(meaning: str) -> list[str]:
    """How else the meaning of a code is said: 待付款 -> 还没付款的, 已完成 -> 已经完成, 处理中 -> 正在处理."""
    word = re.escape(meaning)
    if meaning.startswith("待"):
        return [word, f"(?:未|没有?){word[1:]}"]
    if meaning.startswith(("已", "未")):
        return [word, f"{word[0]}经{word[1:]}", f"{'没' if word[0] == '未' else ''}{word[1:]}了?的"]
    return [word, rf"(?:正在|(?<!现)在){word[:-1]}"] if meaning.endswith("中") else [word]


def _any(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(fold(str(word)) for word in sorted(words, key=len, reverse=True)))


def _check(subject: Subject, schema: Schema) -> None:
    """Every statement that can be made of the fragments passes the guard. Raises UnsafeQuery."""
    guard = SqlGuard(schema, "sqlite", 1)
    tests = [subject.search, *subject.numbers, *(state.where for state in subject.states)]
    tests += [subject.where, subject.usual, subject.prefer, subject.sum_where]
    tests += [moment.where.replace("{}", f"{moment.column} >= '2000-01-01'") for moment in subject.times]
    for test in tests:
        where = f" WHERE {test.replace('{}', literal('x'))}" if test else ""
        guard.check(f"SELECT {subject.key} FROM {subject.source}{where}")
    amounts = [measure.column for measure in (*subject.measures, *subject.counts)]
    for output in (subject.time, subject.money, subject.count, f"SUM({subject.sum})" if subject.sum else "", *amounts):
        guard.check(f"SELECT {output or subject.key} FROM {subject.source}")
    listing = f"SELECT {', '.join(subject.show)} FROM {subject.source} {subject.joins}"
    group = f" GROUP BY {subject.group}" if subject.group else ""
    guard.check(listing + group + (f" ORDER BY {subject.order}" if subject.order else ""))


def literal(text: str) -> str:
    """A text as SQL."""
    return exp.Literal.string(text).sql()
