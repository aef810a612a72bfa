"""Administrative actions in words: who did what to which thing, in Chinese or English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from app.audit.actions import COMMAND_LINE, AuditAction, AuditOutcome
from knowledge.yaml_files import load_yaml

Language = Literal["zh", "en"]
# In Chinese and in English.
Words = tuple[str, str]
_ENDS: Mapping[AuditOutcome | None, Words] = {
    AuditOutcome.DONE: ("", ""),
    AuditOutcome.REFUSED: ("（被拒绝）", " (refused)"),
    AuditOutcome.FAILED: ("（出错）", " (failed)"),
    None: ("（没有做完）", " (not finished)"),
}
_SCRIPTS: Words = "命令行", "The command line"
_LOCAL: Words = "本机（未登录）", "This machine (not signed in)"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """kinds: of things. actions: kind and sentence by the name of an action, or by that and a field with its value."""

    kinds: Mapping[str, Words]
    actions: Mapping[str, tuple[str, str, str]]
    jobs: Mapping[str, Words]
    fields: Mapping[str, Words]


@cache
def load_catalogue() -> Catalogue:
    """Reads `sentences.yaml`."""
    catalogue = load_yaml((files("app") / "audit" / "sentences.yaml").read_text("utf-8"))
    return Catalogue(
        **{part: {name: tuple(words) for name, words in entries.items()} for part, entries in catalogue.items()}
    )


def find_kind(action: str) -> str:
    """Returns the kind of thing that an action is about; empty for an action of an earlier release."""
    found = load_catalogue().actions.get(action)
    return found[0] if found else ""


def list_actions(kind: str) -> list[str]:
    """Returns the actions that are about this kind of thing."""
    return [name for name, entry in load_catalogue().actions.items() if entry[0] == kind and " " not in name]


def name_actor(action: AuditAction, language: Language) -> str:
    """Returns the name of who did it, as people read it."""
    return build_actor_name(action.actor_id, action.actor, language)


def build_actor_name(actor_id: str, actor: str, language: Language) -> str:
    """Returns the same for an id and the name that goes with it."""
    if actor:
        return actor
    if actor_id == COMMAND_LINE:
        return _SCRIPTS[_find_language_index(language)]
    return actor_id or _LOCAL[_find_language_index(language)]


def build_sentence(action: AuditAction, language: Language) -> str:
    """Returns the action as a sentence, such as 小艾 把文档《退换货政策》设为停用."""
    catalogue, place = load_catalogue(), _find_language_index(language)
    variants = (f"{action.action} {field}" for field in action.changed if "=" in field)
    key = next((one for one in variants if one in catalogue.actions), action.action)
    kind, *sentences = catalogue.actions.get(key, ("", action.action, action.action))
    name = _quote_name(action, kind, language)
    text = sentences[place].format(name=name, fields=_list_fields(action.changed, language))
    text = " ".join(text.split()) if language == "en" else text.strip()
    return f"{name_actor(action, language)} {text}{_ENDS[action.outcome][place]}"


def _quote_name(action: AuditAction, kind: str, language: Language) -> str:
    name = action.subject
    if kind == "job" and name in (jobs := load_catalogue().jobs):
        name = jobs[name][_find_language_index(language)]
    if not name:
        return ""
    if language == "en":
        return f"“{name}”"
    return f"《{name}》" if kind == "document" else f"「{name}」"


def _list_fields(changed: Sequence[str], language: Language) -> str:
    known = load_catalogue().fields
    names = [
        known[field][_find_language_index(language)] for one in changed if (field := one.partition("=")[0]) in known
    ]
    if not names:
        return ""
    return f"：{'、'.join(names)}" if language == "zh" else f": {', '.join(names)}"


def _find_language_index(language: Language) -> int:
    return 0 if language == "zh" else 1
