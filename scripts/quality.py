"""Checks the quality of a knowledge base: `python scripts/quality.py [--tenant T] [--document ID] [--kind K] [--show]`.

A server that runs does it beside its answers; without one this command does. --show only lists what the last check
found. What was ignored is not listed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from app.errors import AppError
from app.quality.checks.types import IssueKind
from app.quality.schemas import QualityIssueOut
from app.settings import Settings
from app.wiring.quality import check_alone, check_by_server, open_issues
from knowledge.errors import KnowledgeError
from scripts.commands import lock_data_dir, parse_tenant, run_with_settings

_MARKS = {"high": "高", "medium": "中", "low": "低"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 when nothing grave is open, 1 when something is, 2 when the check failed."""
    parser = argparse.ArgumentParser(prog="scripts/quality.py", description="检查知识库的质量")
    parser.add_argument("--tenant", type=parse_tenant, default="default", metavar="T", help="租户，默认 default")
    parser.add_argument("--document", default="", metavar="ID", help="只检查这一篇")
    parser.add_argument("--kind", choices=[kind.value for kind in IssueKind], help="只列这一种问题")
    parser.add_argument("--show", action="store_true", help="不检查，只列出上一次的结果")
    options = parser.parse_args(arguments)
    return run_with_settings(lambda settings: _check_quality(settings, options), (KnowledgeError, AppError))


async def _check_quality(settings: Settings, options: argparse.Namespace) -> int:
    if not options.show:
        with lock_data_dir(settings) as held:
            await (check_alone if held else check_by_server)(settings, options.tenant, options.document)
    kind = IssueKind(options.kind) if options.kind else None
    issues = await open_issues(settings, options.tenant, kind, options.document)
    for issue in issues:
        print(_format_line(issue))
    print(f"待处理 {len(issues)} 个")
    return int(any(issue.severity == "high" for issue in issues))


def _format_line(issue: QualityIssueOut) -> str:
    return f"[{_MARKS[issue.severity]}] {issue.kind} 《{issue.title}》 {issue.detail}"


if __name__ == "__main__":
    raise SystemExit(main())
