"""Decides whether a rule that sets a period, 签收后 7 天内, applies to what a message says.

It applies where the message says that just this event happened to the customer on a day, and nothing else in it meets a
condition of the rule. In doubt it does not apply: the rule is quoted anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from agents.answering.events import (
    DatedClause,
    extract_features,
    find_dated_clauses,
    find_nouns,
    find_verb_pairs,
    find_verbs,
    is_denied,
    is_verb,
    list_statements,
)
from agents.answering.periods import Rule
from agents.heads.events import JudgedTexts
from agents.understanding.dates import DateMention
from agents.verification.quantities import convert_numerals
from agents.verification.wording import extract_pairs
from knowledge.text import fold

# By so much of a head's scores nothing may outweigh the event of a clause that has the rule's own verb.
DOUBT = 0.6
# By so much where the clause has but a character of that verb: 开 of 开通 stands in 开发票, too.
LITTLE_DOUBT = 0.1
# And so much the event has to outweigh nothing where the two say it in different words.
SURE = 0.35
# A score from which a word is taken for a thing of a kind.
LIKELY = 0.2
_CLAUSE = re.compile(r"[,。;!?\n]")
_FORBIDS = re.compile(
    r"不(?!超|得超|少|满|足|含|计|论|限|管)|无法|除外|恕|谢绝|未|仅限|为准|\b(?:not?|exclud\w+|except|unless)\b"
)
_DEMANDS = re.compile("[不须需限仅凭且]")
# What becomes of those who miss the period is no condition.
_TOO_LATE = re.compile("超时|逾期|过期")
# What is granted under a condition.
_RESULT = re.compile("[可能].*")
# A lack is what a rule is for, 佩戴不适可重配, and excludes nothing.
_GROUND = re.compile("不[^可能,]+(?=[可能])")
_COMPLETED = re.compile("(?:完成|完毕|成功|结束)$")
# What may follow a verb besides what it is done to: 修好的, 充了五百.
_COUNTED = re.compile(r"[的了过完好成]|[\d一二两三四五六七八九十百千万几半]+[一-鿿]?")


def list_judgeable_texts(messages: Sequence[tuple[str, Sequence[DateMention]]], rules: Sequence[Rule]) -> list[str]:
    """Returns the texts to be judged before a rule can count as one that applies to the messages of a customer."""
    clauses = [clause for message, mentions in messages for clause in find_dated_clauses(message, mentions)]
    rules = [rule for rule in rules if rule.anchor]
    if not clauses or not rules:
        return []
    parts = [part for clause in clauses for rule in rules for part in _split_at_event(clause, rule.anchor)]
    stated = [one for message, mentions in messages for one in list_statements(message, mentions)]
    named = (*(rule.sentence for rule in rules), *map(str, clauses), *stated)
    words = [word for one in named for word in find_nouns(one)]
    return list(dict.fromkeys([*parts, *(rule.anchor for rule in rules), *stated, *words]))


def is_event(clause: DatedClause, rule: Rule, today: date, judged: JudgedTexts) -> bool:
    """Whether a clause says that the event of a rule happened to the customer on its day; where the rule ends with the
    event, that it will happen.
    """
    if not rule.before and not clause.is_past(today):
        return False
    who, what = _split_at_event(clause, rule.anchor)
    own, kinds, wanted = (
        judged.get_scores(*one) for one in (("subjects", who), ("kinds", what), ("kinds", rule.anchor))
    )
    if not kinds or not wanted or (who and own["others"] > own["own"]):
        return False
    # These two classes are not events: nothing happened, or it is only imagined.
    nothing, unreal = kinds.pop("nothing"), kinds.pop("unreal")
    kind = max(kinds, key=kinds.__getitem__)
    alike = wanted[kind] == max(wanted[name] for name in kinds)
    shared = extract_features(who + what) & extract_features(rule.anchor)
    _, verb = _find_shared_verb(clause, rule.anchor)
    # Without a common verb the meaning alone has to be clear; with one it may be weak, but must not speak against it.
    if not verb:
        return alike and kind != "own" and kinds[kind] - max(nothing, unreal) > SURE
    if kinds[kind] < max(nothing - (DOUBT if len(verb) > 1 else LITTLE_DOUBT), unreal):
        return False
    if alike and kind != "own":
        return True
    verbs = find_verbs(_strip_completion(rule.anchor))
    last = verbs[-1] if verbs else verb
    if verb == last and len(verb) > 1:
        return alike or all(clause.find_verb(one) is not None for one in verbs)
    foreign = extract_features(_COUNTED.sub("", what[1:])) - extract_features(rule.sentence)
    return bool(set(last) & set(what)) and (len(shared) > 1 + (not alike) or (alike and not foreign))


def is_excluded(
    messages: Sequence[tuple[str, Sequence[DateMention]]],
    clause: DatedClause,
    rule: Rule,
    quoted: Sequence[str],
    judged: JudgedTexts,
) -> bool:
    """Whether something else that the customer says may meet a condition of the rule, or is forbidden by the documents.

    messages: of the customer, with their times.
    """
    if any(is_denied(message, rule.anchor) for message, _ in messages):
        return True
    stated = [
        one
        for message, mentions in messages
        for one in list_statements(message, mentions, clause.mention if clause.mention in mentions else None)
    ]
    own = _list_pairs(",".join((str(clause), *stated))) - _list_pairs(f"{rule.clause},{rule.anchor}")
    parts = (part for text in quoted for part in _CLAUSE.split(convert_numerals(fold(text))))
    if any(_FORBIDS.search(part) and own & _list_pairs(part) for part in parts):
        return True
    conditions = [part for part in _CLAUSE.split(rule.sentence) if _is_condition(part, rule)]
    if not conditions:
        return False
    forbidden = ",".join(_RESULT.sub("", part) for part in conditions if _FORBIDS.search(_GROUND.sub("", part)))
    met = (
        extract_features(forbidden)
        - extract_features(rule.anchor)
        - extract_features(",".join(_RESULT.findall(rule.clause)))
    )
    if any(extract_features(text) & met or _is_change(text, judged) for text in stated):
        return True
    excluded = {_find_goods_kind(word, judged) for word in find_nouns(",".join(conditions))} - {""}
    return any(_find_goods_kind(word, judged) in excluded for one in (str(clause), *stated) for word in find_nouns(one))


def _strip_completion(anchor: str) -> str:
    """Returns an event without the word for its end: 维修 of 维修完成."""
    bare = _COMPLETED.sub("", anchor)
    return bare if find_verbs(bare) else anchor


def _find_shared_verb(clause: DatedClause, anchor: str) -> tuple[int, str]:
    """Returns the place and the first verb of a rule's event that a clause has too, or one character of it that is a
    verb; an empty verb at place 0 without one.
    """
    verbs = find_verbs(_strip_completion(anchor)) or find_verb_pairs(_strip_completion(anchor))
    single = [one for verb in verbs for one in verb if is_verb(one) or clause.begins_with(one)]
    found = [(position, verb) for verb in (*verbs, *single) if (position := clause.find_verb(verb)) is not None]
    return min(found, key=lambda one: (one[0], -len(one[1])), default=(0, ""))


def _split_at_event(clause: DatedClause, anchor: str) -> tuple[str, str]:
    """Returns what a clause says before the event of a rule, and the rest."""
    return clause.split_at(_find_shared_verb(clause, anchor)[0])


def _is_condition(part: str, rule: Rule) -> bool:
    """Whether a clause of a rule's sentence says when the rule does not hold."""
    if _TOO_LATE.search(part):
        return False
    return bool(_FORBIDS.search(_GROUND.sub("", part)) or (part not in rule.clause and _DEMANDS.search(part)))


def _list_pairs(text: str) -> set[str]:
    """Returns pairs of Chinese characters, and words of other letters."""
    return {*extract_pairs(text), *(one for one in extract_features(text) if len(one) > 1)}


def _is_change(text: str, judged: JudgedTexts) -> bool:
    """Whether the customer may have done what a rule excludes: used a thing, opened it, had it made."""
    scores = judged.get_scores("conditions", text)
    return not scores or scores["changed"] > scores["other"]


def _find_goods_kind(word: str, judged: JudgedTexts) -> str:
    """Returns which kind of excluded things a word is; empty for any other word."""
    scores = judged.get_scores("goods", word)
    kind = max(scores, key=scores.__getitem__, default="other")
    return "" if kind == "other" or scores[kind] < LIKELY else kind
