"""What is kept of a played turn, the figures of many, and what a person reads about a failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, TypedDict

from app.evaluation.dialogues import Expectation, LabelledTurn
from app.evaluation.grounding import find_unfounded
from app.evaluation.judgement import FACTS, CitedDocument, JudgedReply, TurnVerdict, find_right_sources, judge_reply
from app.evaluation.types import ProductReply
from knowledge.evaluation.metrics import compute_mean, compute_percentiles, group_by


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One labelled turn and what came of it. case and turn: the id of its conversation, and its number there from 1.

    unfounded: what the answer made up, None where it was none. precision: share of the cited documents that are right;
    recall: 1.0 where one of the right ones is cited, else 0.0; both None where no document is labelled, or none is
    cited. faithfulness: share of the sentences that the cited passages say, relevance: 0 to 1, both as a model judges,
    None where none did. probability: the confidence of the reply. degraded: what was out of order, "error" where there
    was no reply at all.
    """

    case: str
    turn: int
    say: str
    tag: str
    verdict: TurnVerdict
    why: str
    outcome: str
    reply: str
    sources: tuple[CitedDocument, ...] = ()
    rows: bool = False
    unfounded: tuple[str, ...] | None = None
    swallowed: bool = False
    false_answer: bool = False
    brush_off: bool = False
    probability: float = 0.0
    seconds: float = 0.0
    precision: float | None = None
    recall: float | None = None
    faithfulness: float | None = None
    relevance: float | None = None
    trace: str = ""
    degraded: tuple[str, ...] = ()

    @property
    def correct(self) -> bool:
        return self.verdict is TurnVerdict.CORRECT


class ResultQuery(TypedDict, total=False):
    """Which results of a report are listed; see `repository.list_results`."""

    verdict: TurnVerdict | None
    text: str
    tag: str
    limit: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A labelled turn, what came back, and what is kept of both."""

    labelled: LabelledTurn
    response: ProductReply
    reply: JudgedReply
    result: TurnResult


def build_result(
    case: str, labelled: LabelledTurn, message: str, response: ProductReply, reply: JudgedReply, seconds: float
) -> TurnResult:
    """Builds the result of a turn, without what a model may judge besides.

    case: the id of the conversation; message: as it was sent; seconds: until the whole reply was there.
    """
    data = response.body.get("data") or {}
    precision, recall = _measure_citations(labelled.expect, reply)
    return TurnResult(
        case=case,
        turn=int(labelled.id.rpartition(".")[2]),
        say=message,
        tag=labelled.tag,
        outcome=reply.outcome,
        reply=reply.text,
        sources=reply.documents,
        rows=reply.rows,
        unfounded=find_unfounded(reply.text, response.grounds, rows=reply.rows) if reply.kinds & FACTS else None,
        probability=float(data.get("confidence") or 0.0),
        seconds=round(seconds, 4),
        precision=precision,
        recall=recall,
        trace=data.get("trace_id") or "",
        degraded=tuple(data.get("degraded") or ()) if response.answer else ("error",),
        **asdict(judge_reply(labelled.expect, reply)),
    )


def compute_figures(results: Sequence[TurnResult]) -> dict[str, Any]:
    """The figures of a file or set of conversations; shares are of all turns but where said otherwise.

    hallucination_rate: share of the answers from documents or rows, `answers`, that state a quantity or code which
    nothing they lean on holds. citation_precision, citation_recall, faithfulness and relevance: means of the turns that
    have them, None where none has; judged: answers of which a model said so. degraded: turns at which something was
    out of order, which says nothing of the knowledge base. seconds: median and 95th percentile.
    """
    by_tag, by_case = (group_by(results, attrgetter(name)) for name in ("tag", "case"))
    answers = [one for one in results if one.unfounded is not None]
    return {
        "conversations": len(by_case),
        "turns": len(results),
        "correct": _count_correct(results),
        "partly": sum(one.verdict is TurnVerdict.PARTLY for one in results),
        "accuracy": compute_mean(one.correct for one in results) or 0.0,
        "false_answers": compute_mean(one.false_answer for one in results) or 0.0,
        "brush_offs": sum(one.brush_off for one in results),
        "swallowed": sum(one.swallowed for one in results),
        "conversations_clean": sum(_count_correct(turns) == len(turns) for turns in by_case.values()),
        "answers": len(answers),
        "hallucination_rate": compute_mean(bool(one.unfounded) for one in answers) or 0.0,
        "citation_precision": compute_mean(one.precision for one in results),
        "citation_recall": compute_mean(one.recall for one in results),
        "judged": sum(one.faithfulness is not None for one in results),
        "degraded": sum(bool(one.degraded) for one in results),
        "faithfulness": compute_mean(one.faithfulness for one in results),
        "relevance": compute_mean(one.relevance for one in results),
        "seconds": compute_percentiles([one.seconds for one in results]),
        "by_tag": {tag: {"correct": _count_correct(turns), "turns": len(turns)} for tag, turns in by_tag.items()},
    }


def build_turn_row(turn: PlayedTurn) -> dict[str, Any]:
    """Builds the JSON of one turn with all that is known of it."""
    data, kept = turn.response.body.get("data") or {}, turn.result
    return {
        "id": turn.labelled.id,
        **{name: getattr(kept, name) for name in ("tag", "say", "verdict", "why", "outcome", "reply")},
        "sources": [cited.place for cited in kept.sources] + ["[SQL]"] * kept.rows,
        "unfounded": list(kept.unfounded or ()),
        "trace": {
            "route": turn.response.route,
            **{
                name: data[name] for name in ("intent", "agent", "confidence", "decision", "degraded") if data.get(name)
            },
        },
    }


def describe_failures(played: Iterable[PlayedTurn]) -> list[str]:
    """Describes each turn that is not correct, one paragraph each."""
    return [_write_paragraph(build_turn_row(turn)) for turn in played if not turn.result.correct]


def check_report(report: Mapping[str, Any], fail_under: float | None, fail_over: float | None) -> list[str]:
    """Returns why the figures of conversations are not good enough, in Chinese; empty if they are.

    fail_under: the least share of correct turns; fail_over: the largest share of false answers; None sets no bound.
    """
    reasons = []
    if fail_under is not None and report["accuracy"] < fail_under:
        reasons.append(f"没有通过：正确 {report['accuracy']:.4f}，低于 --fail-under {fail_under:g}")
    if fail_over is not None and report["false_answers"] > fail_over:
        reasons.append(f"没有通过：误答 {report['false_answers']:.4f}，高于 --fail-over {fail_over:g}")
    return reasons


def _measure_citations(expect: Expectation, reply: JudgedReply) -> tuple[float | None, float | None]:
    if not (expect.sources or expect.documents) or not reply.kinds & FACTS:
        return None, None
    right = find_right_sources(expect, reply)
    return (sum(right) / len(right) if right else None), float(any(right))


def _count_correct(results: Iterable[TurnResult]) -> int:
    return sum(one.correct for one in results)


def _write_paragraph(row: Mapping[str, Any]) -> str:
    trace = "，".join(f"{name} {value}" for name, value in row["trace"].items() if value)
    lines = [
        f"{row['id']} {row['verdict']} [{row['tag']}] {row['say']}",
        row["why"],
        f"{row['outcome']}：{row['reply']}",
        f"来源：{'；'.join(row['sources']) or '无'}",
        *([f"没有依据：{'、'.join(row['unfounded'])}"] if row["unfounded"] else []),
        trace,
    ]
    return "\n  ".join(line.replace("\n", "\n    ") for line in lines)
