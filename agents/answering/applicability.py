"""Whether a rule that sets a period, 签收后 7 天内, is about what a message says.

It is where the message says that just this event happened to the customer on a day, and nothing else that it says meets
a condition of the rule. Whatever is in doubt is taken not to be: the rule is quoted anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from agents.answering.events import (
    DONE,
    DatedClause,
    dated_clauses,
    features,
    is_denied,
    is_verb,
    statements,
    verbs_of,
    words_of,
)
from agents.answering.periods import Rule
from agents.heads.events import JudgedTexts
from agents.understanding.dates import Said
from agents.verification.quantities import in_digits
from agents.verification.wording import pairs_of
from knowledge.text import fold

DOUBT = 0.6
"""By so much of a head's scores nothing may outweigh the event of a clause that has the rule's own verb."""
SURE = 0.2
"""And so much the event has to outweigh nothing where the two say it in different words."""
_CLAUSE = re.compile(r"[,。;!?\n]")
_FORBIDS = re.compile(
    r"不(?!超|得超|少|满|足|含|计|论|限|管)|无法|除外|恕|谢绝|未|仅限|为准|\b(?:not?|exclud\w+|except|unless)\b"
)
_DEMANDS = re.compile("[不须需限仅凭且]")
_TOO_LATE = re.compile("超时|逾期|过期")
"""What becomes of those who miss the period is no condition."""


def judgeable_texts(message: str, said: Sequence[Said], rules: Sequence[Rule]) -> list[str]:
    """The texts that have to be judged before one of the rules can be told to be about a message."""
    clauses, rules = dated_clauses(message, said), [rule for rule in rules if rule.anchor]
    if not clauses or not rules:
        return []
    parts = [part for clause in clauses for rule in rules for part in _parted(clause, rule.anchor)]
    stated = statements(message, clauses)
    named = (*(rule.sentence for rule in rules), *map(str, clauses), *stated)
    words = [word for one in named for word in words_of(one)]
    return [*parts, *(rule.anchor for rule in rules), *stated, *words]


def is_event(clause: DatedClause, rule: Rule, today: date, judged: JudgedTexts) -> bool:
    """Whether a clause says that the event of a rule happened, to the customer, on its day; where the rule ends
    with the event, that it will.
    """
    day = clause.said.first
    if not rule.before and (day > today or (day == today and not DONE.search(clause.text))):
        return False
    who, what = _parted(clause, rule.anchor)
    own, kinds, wanted = (judged.scores(*one) for one in (("subjects", who), ("kinds", what), ("kinds", rule.anchor)))
    if not kinds or not wanted or (who and own["others"] > own["own"]):
        return False
    nothing, unreal = kinds.pop("nothing"), kinds.pop("unreal")
    kind = max(kinds, key=kinds.__getitem__)
    alike = wanted[kind] == max(wanted[name] for name in kinds)
    shared = features(who + what) & features(rule.anchor)
    if not _shared(clause, rule.anchor)[1]:
        return alike and kind != "own" and kinds[kind] - max(nothing, unreal) > SURE and not shared & features(who)
    whole = all(clause.place_of(verb) is not None for verb in verbs_of(rule.anchor))
    named = whole or len(shared) > 1 + (not alike)
    likely = kinds[kind] > nothing - DOUBT and kinds[kind] > unreal
    return likely and (named or (alike and kind != "own"))


def is_excluded(
    message: str, clauses: Sequence[DatedClause], rule: Rule, quoted: Sequence[str], judged: JudgedTexts
) -> bool:
    """Whether what else the customer says may meet a condition of the rule, or what the documents forbid."""
    if is_denied(message, rule.anchor):
        return True
    stated = statements(message, clauses)
    own = _pairs(",".join((*map(str, clauses), *stated))) - _pairs(f"{rule.clause},{rule.anchor}")
    parts = (part for text in quoted for part in _CLAUSE.split(in_digits(fold(text))))
    if any(_FORBIDS.search(part) and own & _pairs(part) for part in parts):
        return True
    conditions = ",".join(part for part in _CLAUSE.split(rule.sentence) if _is_condition(part, rule))
    if not conditions:
        return False
    met = features(conditions) - features(rule.anchor)
    if any(features(text) & met or _is_change(text, judged) for text in stated):
        return True
    excluded = {_goods(word, judged) for word in words_of(conditions)} - {""}
    return any(_goods(word, judged) in excluded for one in (*map(str, clauses), *stated) for word in words_of(one))


def _shared(clause: DatedClause, anchor: str) -> tuple[int, str]:
    """The first verb of a rule's event that a clause has, too, or one character of it that is a verb by itself; and
    where. Empty, at the beginning, where it has none.
    """
    verbs = verbs_of(anchor)
    single = [one for verb in verbs for one in verb if is_verb(one)]
    found = [(place, verb) for verb in (*verbs, *single) if (place := clause.place_of(verb)) is not None]
    return min(found, key=lambda one: (one[0], -len(one[1])), default=(0, ""))


def _parted(clause: DatedClause, anchor: str) -> tuple[str, str]:
    """What a clause says before the event of a rule, and from there on."""
    return clause.split_at(_shared(clause, anchor)[0])


def _is_condition(part: str, rule: Rule) -> bool:
    """Whether a clause of a rule's sentence says for what the rule does not hold."""
    if _TOO_LATE.search(part):
        return False
    return bool(_FORBIDS.search(part) or (part not in rule.clause and _DEMANDS.search(part)))


def _pairs(text: str) -> set[str]:
    """Pairs of Chinese characters, and words of other letters."""
    return {*pairs_of(text), *(one for one in features(text) if len(one) > 1)}


def _is_change(text: str, judged: JudgedTexts) -> bool:
    """Whether the customer may have done what a rule excludes: used a thing, opened it, had it made."""
    scores = judged.scores("conditions", text)
    return not scores or scores["changed"] > scores["other"]


def _goods(word: str, judged: JudgedTexts) -> str:
    """Which of the kinds of things that rules exclude a word is; empty of any other."""
    scores = judged.scores("goods", word)
    kind = max(scores, key=scores.__getitem__, default="other")
    return "" if kind == "other" or scores[kind] < 0 else kind
