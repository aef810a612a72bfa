"""Reads a question by a known subject: which words narrow the rows, what is wanted, what stays unread."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from agents.business import relations
from agents.business.offline import sql_tests
from agents.business.offline.language import Language
from agents.business.offline.parsed_question import ParsedQuestion
from agents.business.offline.residue import THINGS, Odd, find_odd_words, find_only_thing
from agents.business.offline.row_request import RowRequest, Wanted
from agents.business.offline.subjects import SUM, Subject
from agents.business.offline.vocabulary import Occurrence, TermKind, TermMeaning
from agents.business.schema import Column, Schema
from agents.business.types import NUMBERS, Give
from agents.understanding.periods import Period, choose_nearest
from agents.understanding.ranks import End, Ranking

# So many characters behind a time, the word of a moment is about it: 昨天签收的.
NEAR_TIME = 5
RECENT_ROWS, RECENT_DAYS = 5, 30
_COMING = ("快", "要", "将", "会")
_BETWEEN = "的就都已经才能会要可以应该还被我预计，, "
_DAYS = ("timestamp", "date")
_AMOUNTS = ("number", "integer")
_MONEY_TOO = ("多少钱", "金额", "花了多少", "共多少", "总额", "花了", "交了多少", "压")
_SEVERAL = ("哪些", "几个", "哪几")


class SubjectReading:
    """One question read by one subject; `_used` marks the characters that were understood."""

    def __init__(self, heard: ParsedQuestion, subject: Subject, schema: Schema, language: Language, give: Give) -> None:
        """give: what the question wants of rows, judged by its form."""
        self._heard, self._subject, self._schema, self._language = heard, subject, schema, language
        self._text, self._asked = heard.text, give
        self._near = relations.list_related(schema, subject.table)
        self._used = bytearray(len(heard.text))
        self._reply_words: dict[str, str] = {}
        self._tests: list[str] = []
        self._known = True
        self._named = False
        self._by_name = False
        self._without: list[bool] = []
        self._above = ""
        self._one = relations.has_one_row(schema.tables[subject.table])

    def build_request(self, words: Collection[str]) -> RowRequest:
        """Returns the request for rows. words: of the subject's examples, which say nothing besides."""
        self._read_numbers()
        self._read_time()
        self._read_states()
        self._read_other_words()
        goods = [mention for mention in self._heard.mentions if mention.list_meanings(TermKind.GOODS)]
        self._without = [self._is_refused(mention) for mention in goods]
        money = self._find_money()
        wanted = self._decide_wanted(money)
        money = self._above or money
        self._read_amounts(money, wanted)
        everything = not (self._named or self._one or self._subject.prefer or wanted.give is not Give.LIST)
        self._known &= not (everything and self._is_modified())
        things = len(self._heard.numbers) + len(self._heard.models)
        things += sum(bool(mention.list_meanings(TermKind.GOODS)) for mention in self._heard.mentions)
        if things > 1:
            self._mark_comparisons()
        odd = self._find_odd_words(words, wanted.give in NUMBERS or everything)
        unknown = find_only_thing(odd, self._text, self._language)
        self._read_goods(unknown)
        if unknown and self._reply_words.get("search"):
            odd = []
        certain = not unknown and not self._find_odd_words(words, number=True)
        known = self._known and not (wanted.give in NUMBERS and odd)
        reply_words = self._reply_words | {"give": wanted.give}
        tests = () if self._one else tuple(self._tests)
        return RowRequest(
            self._subject,
            wanted,
            tests,
            self._named,
            self._by_name,
            money,
            self._known and certain,
            known,
            tuple(odd),
            reply_words,
        )

    def _is_modified(self) -> bool:
        """Whether a word of a column says which rows are meant in an unknown way: 忘了付款的订单."""
        own = self._subject.time
        ends = [
            mention.end
            for mention in self._heard.mentions
            if any(f"{term.table}.{term.column}" != own for term in self._list_meanings(mention, TermKind.COLUMN))
        ]
        return any(self._text.startswith(("的", "了的"), end) and end + 2 < len(self._text) for end in ends)

    def _mark_comparisons(self) -> None:
        for word in self._language.compares:
            if (start := self._text.find(word)) >= 0:
                self._mark_used(start, start + len(word))

    def _find_odd_words(self, words: Collection[str], number: bool) -> list[Odd]:
        used = bytearray(self._used)
        for mention in self._heard.mentions:
            if mention.list_meanings(TermKind.GOODS):
                used[mention.start : mention.end] = bytes([1]) * (mention.end - mention.start)
        for _, (start, end) in self._heard.models:
            used[start:end] = bytes([1]) * (end - start)
        unread = "".join(" " if given else character for character, given in zip(self._text, used, strict=True))
        return find_odd_words(self._text, unread, self._language, words, "|".join(self._subject.examples), number)

    def _mark_used(self, start: int, end: int) -> None:
        self._used[start:end] = bytes([1]) * (end - start)

    def _add_test(self, table: str, test: str) -> None:
        self._tests.append(relations.build_test(self._schema, self._subject.table, table, test))

    def _get_column(self, table: str, name: str) -> Column:
        return self._schema.tables[table].columns[name]

    def _read_numbers(self) -> None:
        numbers = self._heard.numbers
        if not numbers:
            return
        for _, span in numbers:
            self._mark_used(*span)
        self._reply_words["number"] = "、".join(number.lstrip("%") for number, _ in numbers)
        keys = [(table, f"{table}.{self._schema.tables[table].key}") for table in self._near]
        tests = [
            relations.build_test(self._schema, self._subject.table, table, sql_tests.build_number_test(key, number))
            for number, _ in numbers
            for table, key in keys
            if not relations.has_one_row(self._schema.tables[table])
        ]
        self._known &= bool(tests)
        self._tests += [" OR ".join(tests)] if tests else []
        self._named = True

    def _read_time(self) -> None:
        """Reads the days that narrow the rows, and by which of their times."""
        found, subject = self._heard.time, self._subject
        self._known &= self._heard.whole
        if found is None:
            return
        for span in ((found.start, found.end), *self._heard.days):
            self._mark_used(*span)
        self._known &= not self._text[: found.start].endswith(self._language.refuses)
        table, column = self._find_moment() or tuple(subject.time.rpartition(".")[::2])
        today = self._heard.today
        future = found.period.start is not None and found.period.start > today
        usual = (table, column) == tuple(subject.time.rpartition(".")[::2])
        asks = self._text[found.end :].startswith(("能", "会", "可以", "应该", "还能"))
        if (
            not column
            or (usual and not subject.ahead and (asks or future))
            or (asks and not self._is_narrowing(found.end))
        ):
            self._known &= self._asked not in NUMBERS
            return
        day = self._get_column(table, column).type == "date"
        is_coming = (subject.ahead or (day and not usual)) and "年" not in found.get_text(self._text)
        period = choose_nearest(found.period, today) if is_coming else found.period
        self._reply_words["period"] = found.get_text(self._text)
        self._add_test(table, sql_tests.build_period_test(period, f"{table}.{column}"))
        self._named = True

    def _is_narrowing(self, end: int) -> bool:
        """Whether the text after a place says which rows are meant: 明天能到的是哪几个."""
        return any(word in self._text[end:] for word in self._language.which)

    def _find_moment(self) -> tuple[str, str] | None:
        found = self._heard.time
        assert found is not None
        for mention in self._heard.mentions:
            between = self._text[found.end : mention.start]
            if mention.start >= found.end and len(between) <= NEAR_TIME and not between.strip(_BETWEEN):
                for term in self._list_meanings(mention, TermKind.COLUMN):
                    if self._get_column(term.table, term.column).type in _DAYS:
                        return term.table, term.column
            if 0 <= mention.start - found.end <= NEAR_TIME and mention.end - mention.start <= 2:
                for term in self._list_meanings(mention, TermKind.TABLE):
                    if relations.is_below(self._schema, self._subject.table, term.table):
                        return term.table, self._schema.tables[term.table].time
        return None

    def _list_meanings(self, mention: Occurrence, kind: TermKind) -> list[TermMeaning]:
        """Returns the meanings of a word for this subject, those of its own table first."""
        terms = [term for term in mention.list_meanings(kind) if term.table in self._near]
        return sorted(terms, key=lambda term: self._near.index(term.table))

    def _read_states(self) -> None:
        """Reads the states; those side by side, 待付款和待发货的, are alternatives."""
        subject = self._subject
        groups: list[list[tuple[TermMeaning, bool, Occurrence]]] = []
        for mention in self._heard.mentions:
            terms = self._list_meanings(mention, TermKind.STATE)
            if not terms:
                continue
            self._mark_used(mention.start, mention.end)
            refused = self._is_refused(mention)
            if not self._is_near_enough(terms[0], mention):
                continue
            if not refused and self._is_state_asked(mention):
                continue
            last = groups[-1][-1] if groups else None
            between = self._text[last[2].end : mention.start] if last else ""
            if last and between in ("和", "跟", "或", "或者", "、", ",", "与", "的和"):
                groups[-1].append((terms[0], refused, mention))
            else:
                groups.append([(terms[0], refused, mention)])
        for group in groups:
            tests = [relations.build_test(self._schema, self._subject.table, t.table, t.where) for t, _, _ in group]
            either = " OR ".join(f"({test})" for test in tests) if len(tests) > 1 else tests[0]
            self._tests.append(f"NOT ({either})" if group[0][1] else either)
        named = [("非" if refused else "") + term.say for group in groups for term, refused, _ in group]
        if named:
            prefers = subject.prefer.split(" ")[0]
            self._named |= any(
                t.table != subject.table or f"{t.table}.{t.column}" == prefers or not t.column
                for group in groups
                for t, _, _ in group
            )
            self._by_name = any(_is_row_name(term, subject, self._schema) for group in groups for term, _, _ in group)
            self._reply_words["state"] = "、".join(dict.fromkeys(named))

    def _is_near_enough(self, term: TermMeaning, mention: Occurrence) -> bool:
        """Whether a state of the parent rows narrows the rows: only where these are named after it, 取消那单的钱."""
        if term.table == self._subject.table or relations.is_below(self._schema, term.table, self._subject.table):
            return True
        behind = [other for other in self._heard.mentions if 0 <= other.start - mention.end <= 3]
        return any(term.table == named.table for other in behind for named in other.list_meanings(TermKind.TABLE))

    def _is_refused(self, mention: Occurrence) -> bool:
        """Whether the customer excludes what they mention (不要…, …以外的); the words that say so count as read."""
        before, after = self._text[: mention.start], self._text[mention.end :]
        for word in sorted(self._language.refuses, key=len, reverse=True):
            if before.endswith(word):
                self._mark_used(mention.start - len(word), mention.start)
                return True
        for word in self._language.besides:
            if after.removeprefix("的").startswith(word):
                self._mark_used(mention.end, mention.end + len(word) + after.startswith("的"))
                return True
        return False

    def _is_state_asked(self, mention: Occurrence) -> bool:
        """Whether it asks if the rows have come to a state, which does not narrow them: 发货了吗, but not
        有待发货的吗.
        """
        before, after = self._text[: mention.start], self._text[mention.end :]
        if before.endswith(_COMING):
            return True
        if any(word in before for word in self._language.which):
            return False
        tail = after.rstrip("?!.,。 啊呀呢吧哦")
        if tail in self._language.asked or after.startswith(("了吗", "了没", "没,", "吗,", "了么")):
            return True
        return before.endswith(("怎么", "为什么", "能", "会", "什么时候", "是否", "何时", "怎么还", "什么时候能"))

    def _read_other_words(self) -> None:
        """Reads words of tables and columns; one of a table that is not shown is about something else."""
        shown = {output.partition(".")[0].rpartition("(")[2] for output in self._subject.show}
        owner = relations.find_parent(self._schema, self._subject.table)
        for mention in self._heard.mentions:
            tables = self._list_meanings(mention, TermKind.TABLE)
            if tables or self._list_meanings(mention, TermKind.COLUMN) or mention.list_meanings(TermKind.GOODS):
                used = all(self._used[mention.start : mention.end])
                self._mark_used(mention.start, mention.end)
                searched = {self._subject.table, *shown, *([owner.table] if owner else [])}
                alone = tables and all(term.kind is TermKind.TABLE for term in mention.terms)
                self._known &= bool(used or not alone or searched & {term.table for term in tables})

    def _find_money(self) -> str:
        """Returns the column that is summed, compared or ranked: the subject's own, or one that the question names."""
        joined = self._near[: 1 + (relations.find_parent(self._schema, self._subject.table) is not None)]
        for mention in self._heard.mentions:
            for term in self._list_meanings(mention, TermKind.COLUMN):
                if term.table in joined and self._get_column(term.table, term.column).type in _AMOUNTS:
                    self._reply_words["measure"] = self._text[mention.start : mention.end]
                    return f"{term.table}.{term.column}"
        return self._subject.money

    def _decide_wanted(self, money: str) -> Wanted:
        subject, heard = self._subject, self._heard
        for rank in heard.ranks:
            self._mark_used(rank.start, rank.end)
        # One row, or one row a group: there is nothing to rank or to count.
        if self._one or subject.group:
            self._known &= not heard.ranks and not (self._one and any(word in self._text for word in _SEVERAL))
            return Wanted(Give.LIST)
        if heard.ranks:
            self._known &= len(heard.ranks) == 1
            rank = heard.ranks[0]
            by_time = rank.by in (End.LATEST, End.EARLIEST)
            if not by_time and (above := self._find_parent_money(rank)):
                self._above = above
            if not heard.numbers and (subject.time if by_time else money):
                if not by_time and "花" in self._text and subject.sum_where:
                    self._tests.append(subject.sum_where)
                return Wanted(Give(rank.by), rank.number, rank.skip)
            self._known &= bool(heard.numbers) or rank.by is End.LATEST
        # Rows that are named by number are shown, whatever else is asked of them.
        if heard.numbers:
            return Wanted(Give.LIST)
        give = self._asked
        if subject.gives == SUM and give in (Give.LIST, Give.COUNT):
            give = Give.SUM
        # 几笔一共花了多少钱 asks for the sum, which is told with the count.
        if give is Give.COUNT and money and any(word in self._text for word in _MONEY_TOO):
            give = Give.SUM
        if give in (Give.SUM, Give.AVERAGE) and not money:
            give = Give.LIST
        if "最近" in heard.text and not heard.time and subject.time:
            if give is Give.LIST and not self._named and not subject.prefer:
                return Wanted(Give.LATEST, RECENT_ROWS)
            if give in (Give.SUM, Give.AVERAGE):
                self._reply_words["period"] = f"最近 {RECENT_DAYS} 天"
                self._add_test(
                    subject.table,
                    sql_tests.build_period_test(Period(heard.today - timedelta(RECENT_DAYS - 1), None), subject.time),
                )
        return Wanted(give)

    def _find_parent_money(self, rank: Ranking) -> str:
        """Returns the amount column of the parent rows, where these are ranked: 最贵的一单买了什么; empty otherwise."""
        owner = relations.find_parent(self._schema, self._subject.table)
        if owner is None:
            return ""
        own = any(t.table == self._subject.table for m in self._heard.mentions for t in m.list_meanings(TermKind.TABLE))
        named = (not own and self._text[rank.end - 1 : rank.end] in "笔单次") or any(
            -1 <= mention.start - rank.end <= 3
            and any(term.table == owner.table for term in mention.list_meanings(TermKind.TABLE))
            for mention in self._heard.mentions
        )
        column = self._schema.tables[owner.table].money
        return f"{owner.table}.{column}" if named and column else ""

    def _read_amounts(self, money: str, wanted: Wanted) -> None:
        found = self._heard.amounts
        for comparison in found:
            self._mark_used(comparison.start, comparison.end)
        if found:
            self._known &= bool(money) and len(found) == 1
            self._reply_words["amount"] = self._text[found[0].start : found[0].end].removesuffix("的")
            if money:
                self._tests.append(found[0].to_sql(money))
                self._named = True

    def _read_goods(self, unknown: Odd | None) -> None:
        """Reads what rows are named by: goods, models, and one unexplained word where a thing is named."""
        named = [
            (mention.list_meanings(TermKind.GOODS)[0].say, (mention.start, mention.end))
            for mention in self._heard.mentions
            if mention.list_meanings(TermKind.GOODS)
        ]
        named += [(model.lower(), span) for model, span in self._heard.models]
        places = self._find_searched_columns("" if unknown is None else "thing" if unknown.tag in THINGS else "place")
        if unknown and places:
            named.append((unknown.text, (unknown.start, unknown.start + len(unknown.text))))
        if not named:
            return
        for _, span in named:
            self._mark_used(*span)
        if not places:
            self._known = False
            return
        named.sort(key=lambda item: item[1])
        things: list[list[str]] = []
        end = -9
        for term, span in named:
            if things and self._text[end : span[0]].strip(" 的那这个款台副") == "":
                things[-1].append(term)
            else:
                things.append([term])
            end = span[1]
        self._known &= not any(self._without) or self._without[0]
        self._reply_words["search"] = "、".join(self._text[start:end] for _, (start, end) in named)
        tests = [
            relations.build_test(
                self._schema,
                self._subject.table,
                table,
                " OR ".join(
                    f"({sql_tests.build_like_test(f'{table}.{column}', thing)})"
                    for thing in things
                    for column in columns
                ),
            )
            for table, columns in places.items()
        ]
        either = " OR ".join(f"({test})" for test in tests)
        self._tests.append(f"NOT ({either})" if any(self._without) else either)

    def _find_searched_columns(self, kind: str) -> dict[str, list[str]]:
        """Returns the columns that rows are named by: their own, or those of the next table that has some."""
        found: dict[str, list[str]] = {}
        for table in self._near:
            named = (column for column in self._schema.tables[table].columns.values() if column.named)
            columns = [column.name for column in named if kind in ("", column.named)]
            if columns and not found:
                found[table] = columns
        return found


def _is_row_name(term: TermMeaning, subject: Subject, schema: Schema) -> bool:
    """Whether a state is the name of a row of the subject's own table: 运费券."""
    return (
        term.table == subject.table and bool(term.column) and bool(schema.tables[term.table].columns[term.column].named)
    )
