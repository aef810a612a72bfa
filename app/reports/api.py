"""Reports of the team: numbers, the conversations behind each, and files."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, Self

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from app.db.base import now
from app.errors import InvalidRequest
from app.http.deps import LeadTenant, Wired
from app.http.fields import Moment, Offset
from app.http.routes import GuardedRoute
from app.http.schemas import Page, ResponseBody
from app.profiles.hours import parse_zone
from app.reports.service import build_report
from app.reports.sheets import write_report
from app.reports.types import Measure, Report, ReportRange, Service, Wanted
from app.spreadsheets import CSV

if TYPE_CHECKING:
    from app.desk.human_desk import HumanDesk
    from app.profiles.repository import ProfileRepository
    from app.reports.repository import ReportRepository
    from app.settings import Settings


class Parts(Protocol):
    """What these routes are served by."""

    desk: HumanDesk
    profiles: ProfileRepository
    reports_of_team: ReportRepository
    settings: Settings


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/reports", tags=["reports"], route_class=GuardedRoute)

MAX_DAYS, DEFAULT_DAYS = 92, 7
# Those of `sheets`.
Table = Literal["agents", "teams", "days", "topics", "waiting"]


class ServiceOut(ResponseBody):
    """What people did: of everybody, or of one agent or team."""

    id: str = Field(description="客服编号或客服组编号；合计为空")
    name: str = Field(description="名字；合计为空")
    requested: int = Field(description="请求人工的次数")
    served: int = Field(description="有客服接入的次数")
    resolved: int = Field(description="客服点了解决的次数")
    left: int = Field(description="顾客等不及退出排队的次数")
    response_s: float | None = Field(description="首次响应的平均秒数，服务时间之外不计；没有时为 null")
    resolution_s: float | None = Field(description="从开始等到结束的平均秒数；没有时为 null")
    sla_met: int = Field(description="首次响应在 DESK_RESPONSE_MINUTES 之内的次数")
    sla_missed: int = Field(description="首次响应超时或一直没有响应的次数")
    ratings: int = Field(description="顾客评了几次")
    score: float | None = Field(description="平均分，1 到 5；没有评价时为 null")


class ConversationsOut(ResponseBody):
    """What the bot did, in conversations."""

    total: int = Field(description="有过提问的会话数")
    deflected: int = Field(description="智能客服答了、之后没有找人工的会话数")


class TeamDayOut(ResponseBody):
    """A local day and how its turns ended."""

    start: datetime
    end: datetime
    answered: int
    refused: int
    handed_over: int
    other: int = Field(description="反问等其余的轮数")


class TopicOut(ResponseBody):
    """What people asked about."""

    name: str = Field(description="引用的文档标题；没有引用时为意图")
    intent: bool = Field(description="name 是不是意图")
    turns: int
    before: int = Field(description="再往前同样长的时间里的轮数")


class TeamReportOut(ResponseBody):
    """A report of the team."""

    start: datetime
    end: datetime
    timezone: str
    total: ServiceOut
    response_median_s: float | None = Field(description="首次响应的中位秒数")
    resolution_median_s: float | None = Field(description="从开始等到结束的中位秒数")
    conversations: ConversationsOut
    scores: list[int] = Field(description="1 到 5 分各有几次")
    days: list[TeamDayOut]
    waiting: list[int] = Field(description="一周 168 个小时（周一 0 点起）里等过人工的顾客数")
    topics: list[TopicOut] = Field(description="问得最多的，最多十个")
    agents: list[ServiceOut]
    teams: list[ServiceOut]

    @classmethod
    def from_report(cls, asked: ReportRange, report: Report, names: dict[str, str], teams: dict[str, str]) -> Self:
        """names, teams: of agents and of teams, by id."""
        return cls.build_from(
            report,
            start=asked.start,
            end=asked.end,
            timezone=str(asked.zone),
            total=_build_named(report.total, {}),
            agents=[_build_named(one, names) for one in report.agents],
            teams=[_build_named(one, teams) for one in report.teams],
        )


class ListedOut(ResponseBody):
    """A conversation behind a number; of one that the bot had alone, what people did is empty."""

    session_id: str
    at: datetime = Field(description="何时请求人工；智能客服独自接待的为最后一问")
    agent_id: str
    team: str
    ending: str = Field(description="怎样结束的：resolve、leave、close、expire；还没有结束为空")
    response_s: float | None
    resolution_s: float | None
    score: int | None
    comment: str = Field(description="顾客评价时写的话")


class ListedPage(Page[ListedOut]):
    """The latest first."""


async def build_range(
    tenant: LeadTenant,
    wiring: Wiring,
    since: Annotated[Moment | None, Query(alias="from", description="从何时起；默认 7 天前")] = None,
    until: Annotated[Moment | None, Query(alias="to", description="到何时为止，不含；默认现在；最长 92 天")] = None,
) -> ReportRange:
    """Raises InvalidRequest for a range that is none, or too long."""
    end = until or now()
    start = since or end - timedelta(days=DEFAULT_DAYS)
    if not timedelta(0) < end - start <= timedelta(days=MAX_DAYS):
        raise InvalidRequest(f"from 须早于 to，最长 {MAX_DAYS} 天。", code="range_out_of_bounds")
    zone = parse_zone((await wiring.profiles.get(tenant)).timezone)
    return ReportRange(tenant, start, end, zone, wiring.settings.desk_response_minutes * 60)


Asked = Annotated[ReportRange, Depends(build_range)]


@router.get("")
async def read_report(asked: Asked, wiring: Wiring) -> TeamReportOut:
    """Numbers of the team within a range."""
    return await _load_report(asked, wiring)


@router.get("/conversations")
async def list_reported(
    asked: Asked,
    wiring: Wiring,
    measure: Annotated[Measure, Query(description="哪个数字")],
    agent: Annotated[str | None, Query(max_length=64, description="只看这位客服")] = None,
    team: Annotated[str | None, Query(max_length=32, description="只看这个客服组")] = None,
    cell: Annotated[int | None, Query(ge=0, lt=168, description="waiting：一周里的第几个小时，周一 0 点为 0")] = None,
    topic: Annotated[str, Query(max_length=500, description="topic：文档标题或意图")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> ListedPage:
    """The conversations behind a number of the report."""
    wanted = Wanted(measure, agent, team, cell, topic)
    found, total = await wiring.reports_of_team.list_conversations(asked, wanted, limit, offset)
    items = [ListedOut.model_validate(one) for one in found]
    return ListedPage(items=items, total=total, offset=offset, limit=limit)


@router.get("/export", responses={200: {"content": {CSV: {"schema": {"type": "string"}}}}}, response_class=Response)
async def export_report(asked: Asked, wiring: Wiring, table: Annotated[Table, Query(description="哪张表")]) -> Response:
    """A table of the report as a CSV file, safe to open in a spreadsheet."""
    report = await _load_report(asked, wiring)
    named = {"Content-Disposition": f'attachment; filename="yingda-{table}.csv"'}
    return Response(write_report(table, report.model_dump(mode="json")), media_type=CSV, headers=named)


async def _load_report(asked: ReportRange, wiring: Wiring) -> TeamReportOut:
    report = await build_report(wiring.reports_of_team, asked)
    names = {member.agent_id: member.name for member in await wiring.desk.staff.list_all(asked.tenant)}
    teams = {team.id: team.name for team in await wiring.desk.teams.list_teams(asked.tenant)}
    return TeamReportOut.from_report(asked, report, names, teams)


def _build_named(service: Service, names: dict[str, str]) -> ServiceOut:
    return ServiceOut.build_from(service, name=names.get(service.id, service.id))
