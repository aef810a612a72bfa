// Reports of the team: pictures first, a table behind each, and the conversations behind every number.
import { locale, moment, number, percent, words } from "../shared/i18n.js";
import { Empty, Loaded, Table, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Figure } from "./figure.js";
import { Listing, useListing } from "./listing.js";
import { named } from "./names.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { personName, teamName, useAssignees } from "./ticket-parts.js";

const REPORTS = "/api/v1/reports";
const RANGES = { week: 7, fortnight: 14, month: 28, quarter: 84 };
const t = words({
  zh: {
    title: "团队报表", text: "人工服务快不快、好不好，什么时候忙，大家在问什么。点数字看背后的会话。", range: "时间范围", week: "近 7 天", fortnight: "近 14 天", month: "近 4 周", quarter: "近 12 周",
    requested: "请求人工", requestedText: "接入 {served}，等不及离开 {left}，还在等或没接入就结束 {rest}", response: "首次响应（中位数）", responseText: "平均 {mean}", resolution: "解决用时（中位数）", resolutionText: "平均 {mean}，解决 {n} 个", sla: "按时响应", slaText: "超时 {missed} 个", score: "满意度", scoreText: "{n} 人评价，{bad} 人不满意", deflected: "智能客服独自答完", deflectedText: "{n} 个会话，共 {total} 个", none: "—",
    heat: "什么时候有人在等", heatText: "一周里每个小时等过人工的顾客数，颜色越深越多；时间按 {zone}", hour: "时", days: "每天怎样结束", daysText: "每天的轮数，按结论分", answered: "答了", refused: "没能回答", handed_over: "转人工", other: "反问等", topics: "大家在问什么", topicsText: "深色是这段时间，浅色是之前同样长的时间", now: "这段时间", before: "之前", people: "客服", teams: "客服组", agent: "客服", team: "客服组", served: "接入", resolved: "解决", firstMean: "首次响应", resolutionMean: "解决用时", slaShare: "按时响应", ratings: "评价",
    scores: "满意度分布", scoresText: "1 到 5 分各有几次", points: "{n} 分", asTable: "看表格", csv: "导出 CSV", day: "日期", nothing: "这段时间里没有数据。", count: "次数", name: "名称", listed: "会话", listedOf: "「{name}」背后的会话", back: "回到报表", at: "时间", ending: "结果", comment: "评价", e_: "进行中", e_resolve: "已解决", e_leave: "顾客离开", e_close: "已结束", e_expire: "超时结束", bot: "智能客服", empty: "没有符合的会话。", minutes: "{n} 分钟", seconds: "{n} 秒", hours: "{n} 小时", stars: "{n} / 5",
    m_requested: "请求人工", m_served: "接入", m_resolved: "解决", m_left: "等不及离开", m_sla_met: "按时响应", m_sla_missed: "超时响应", m_rated: "有评价", m_unhappy: "不满意", m_waiting: "在等人工", m_conversations: "全部会话", m_deflected: "智能客服独自答完", m_answered: "答了", m_refused: "没能回答", m_handed_over: "转人工", m_topic: "问到",
  },
  en: {
    title: "Team reports", text: "How fast and how well people serve, when it is busy, what is asked. Numbers lead to their conversations.", range: "Range", week: "7 days", fortnight: "14 days", month: "4 weeks", quarter: "12 weeks",
    requested: "Asked for a person", requestedText: "{served} accepted, {left} left the queue, {rest} waiting or ended unaccepted", response: "First response (median)", responseText: "{mean} on average", resolution: "Resolution (median)", resolutionText: "{mean} on average, {n} resolved", sla: "In time", slaText: "{missed} late", score: "Satisfaction", scoreText: "{n} ratings, {bad} unhappy", deflected: "Answered by the bot alone", deflectedText: "{n} of {total} conversations", none: "—",
    heat: "When customers wait", heatText: "Customers who waited for a person in each hour of the week; darker is more. Times are of {zone}", hour: "h", days: "How days ended", daysText: "Turns a day by how they ended", answered: "Answered", refused: "Refused", handed_over: "Handed over", other: "Asked back and so on", topics: "What people ask about", topicsText: "Dark is this time, light as long a time before", now: "This time", before: "Before", people: "People", teams: "Teams", agent: "Person", team: "Team", served: "Accepted", resolved: "Resolved", firstMean: "First response", resolutionMean: "Resolution", slaShare: "In time", ratings: "Ratings",
    scores: "Ratings", scoresText: "How many of 1 to 5", points: "{n}", asTable: "As a table", csv: "Export CSV", day: "Day", nothing: "Nothing in this time.", count: "Count", name: "Name", listed: "Conversations", listedOf: "Conversations behind “{name}”", back: "Back to the report", at: "Time", ending: "Outcome", comment: "Rating", e_: "going on", e_resolve: "resolved", e_leave: "customer left", e_close: "closed", e_expire: "expired", bot: "bot", empty: "No such conversations.", minutes: "{n} min", seconds: "{n} s", hours: "{n} h", stars: "{n} / 5",
    m_requested: "Asked for a person", m_served: "Accepted", m_resolved: "Resolved", m_left: "Left the queue", m_sla_met: "In time", m_sla_missed: "Late", m_rated: "Rated", m_unhappy: "Unhappy", m_waiting: "Waiting", m_conversations: "All conversations", m_deflected: "Answered by the bot alone", m_answered: "Answered", m_refused: "Refused", m_handed_over: "Handed over", m_topic: "Asked about",
  },
});
const time = (seconds) => (seconds === null ? t("none") : seconds < 90 ? t("seconds", { n: number(seconds) }) : seconds < 5400 ? t("minutes", { n: number(seconds / 60, 1) }) : t("hours", { n: number(seconds / 3600, 1) }));
const share = (met, missed) => (met + missed ? percent(met / (met + missed), 0) : t("none"));
const weekday = (day, style) => new Intl.DateTimeFormat(locale(), { weekday: style, timeZone: "UTC" }).format(new Date(Date.UTC(2024, 0, day + 1)));
const dayName = (iso, zone) => new Intl.DateTimeFormat(locale(), { month: "numeric", day: "numeric", timeZone: zone }).format(new Date(iso));

// Those that were late are what one looks for; where there are none, those in time.
const slaSide = (row) => (row.sla_missed ? "sla_missed" : "sla_met");

// Where the conversations behind a number are listed.
const behind = (query) => link("reports/list", query);
const Behind = ({ query, children }) => html`<a href=${behind(query)}>${children}</a>`;

export function Reports(props) {
  return props.route.id === "list" ? html`<${Behinds} ...${props} />` : html`<${Report} ...${props} />`;
}

function Report({ route }) {
  const range = RANGES[route.query.get("range")] ? route.query.get("range") : "week";
  const state = useLoaded((signal) => {
    const to = new Date();
    return server.get(REPORTS, { from: new Date(to - RANGES[range] * 86400e3).toISOString(), to: to.toISOString() }, { signal });
  }, [range]);
  return html`<${Head} title=${t("title")} text=${t("text")}><div class="ad-ranges" role="group" aria-label=${t("range")}>${Object.keys(RANGES).map((name) => html`<button aria-pressed=${name === range} onClick=${() => go("reports", { range: name === "week" ? "" : name }, { replace: true })}>${t(name)}</button>`)}</div><//>
    <${Loaded} state=${state}>${(report) => html`<div class="yd-stack" aria-busy=${state.loading}><${Pictures} report=${report} at=${{ from: report.start, to: report.end }} /></div>`}<//>`;
}

function Pictures({ report, at }) {
  const { total, conversations } = report;
  const to = (measure, extra) => ({ ...at, measure, ...extra });
  const figure = (name, query, value, text) => html`<a class="ad-figure-link" href=${behind(query)}><${Figure} title=${t(name)} value=${value} text=${text} /></a>`;
  return html`<div class="ad-figures">
      ${figure("requested", to("requested"), number(total.requested), t("requestedText", { ...total, rest: Math.max(0, total.requested - total.served - total.left) }))}
      ${figure("response", to("served", { as: "response" }), time(report.response_median_s), t("responseText", { mean: time(total.response_s) }))}
      ${figure("resolution", to("resolved", { as: "resolution" }), time(report.resolution_median_s), t("resolutionText", { mean: time(total.resolution_s), n: number(total.resolved) }))}
      ${figure("sla", to(slaSide(total)), share(total.sla_met, total.sla_missed), t("slaText", { missed: number(total.sla_missed) }))}
      ${figure("score", to("rated"), total.score === null ? t("none") : t("stars", { n: number(total.score, 1) }), t("scoreText", { n: number(total.ratings), bad: number(report.scores[0] + report.scores[1]) }))}
      ${figure("deflected", to("deflected"), conversations.total ? percent(conversations.deflected / conversations.total, 0) : t("none"), t("deflectedText", { n: number(conversations.deflected), total: number(conversations.total) }))}</div>
    <div class="ad-charts"><${Heat} report=${report} to=${to} /><${Days} report=${report} /><${Topics} report=${report} to=${to} /><${Scores} report=${report} to=${to} /></div>
    <${People} title=${t("people")} name="agent" table="agents" rows=${report.agents} at=${at} to=${to} /><${People} title=${t("teams")} name="team" table="teams" rows=${report.teams} at=${at} to=${to} />`;
}

// A picture with its table behind it, and the same as a file.
function Card({ title, text, table, at, empty, picture, children }) {
  const [open, setOpen] = useState(false);
  const file = table && `${REPORTS}/export?${new URLSearchParams({ table, ...at })}`;
  return html`<section class="yd-card"><div class="ad-card-title"><div><h2>${title}</h2>${text && html`<p class="yd-small yd-muted">${text}</p>`}</div></div>
    ${empty ? html`<${Empty}>${t("nothing")}<//>` : html`${picture}<div class="yd-row yd-wrap ad-behind">${children && html`<button class="yd-btn yd-btn-quiet yd-btn-small" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t("asTable")}</button>`}
      ${file && html`<a class="yd-btn yd-btn-quiet yd-btn-small" href=${file} download>${t("csv")}</a>`}</div>${open && children}`}</section>`;
}

function Heat({ report, to }) {
  const most = Math.max(...report.waiting);
  const rows = [...Array(7).keys()], hours = [...Array(24).keys()];
  const label = (day, hour, n) => `${weekday(day, "long")} ${hour}:00 — ${number(n)}`;
  const cell = (day, hour) => {
    const n = report.waiting[day * 24 + hour];
    const style = { "--heat": n ? 0.15 + 0.85 * (n / most) : 0 };
    return n ? html`<a class="ad-heat-cell" style=${style} href=${behind(to("waiting", { cell: String(day * 24 + hour) }))} title=${label(day, hour, n)} aria-label=${label(day, hour, n)}></a>` : html`<span class="ad-heat-cell" style=${style}></span>`;
  };
  const picture = html`<div class="ad-heat">${rows.map((day) => html`<span class="ad-heat-day" aria-hidden="true">${weekday(day, "narrow")}</span>${hours.map((hour) => cell(day, hour))}`)}
    <span></span>${hours.map((hour) => html`<span class="ad-heat-hour" aria-hidden="true">${hour % 6 ? "" : hour}</span>`)}</div>`;
  return html`<${Card} title=${t("heat")} text=${t("heatText", { zone: report.timezone })} table="waiting" at=${{ from: report.start, to: report.end }} empty=${!most} picture=${picture}>
    <${Table} caption=${t("heat")} rows=${rows} keyOf=${String} columns=${[{ title: t("day"), cell: (day) => weekday(day, "short") }, ...hours.map((hour) => ({ title: `${hour}`, numeric: true, cell: (day) => { const n = report.waiting[day * 24 + hour]; return n ? html`<${Behind} query=${to("waiting", { cell: String(day * 24 + hour) })}>${number(n)}<//>` : "0"; } }))]} /><//>`;
}

const ENDS = ["answered", "refused", "handed_over", "other"];
function Days({ report }) {
  const all = (day) => ENDS.reduce((sum, end) => sum + day[end], 0);
  const most = Math.max(1, ...report.days.map(all));
  const name = (day) => dayName(day.start, report.timezone);
  const query = (day, measure) => ({ from: day.start, to: day.end, measure });
  const picture = html`<div class="ad-days-picture" role="img" aria-label=${t("daysText")}>${report.days.map((day, index) => html`<div class="ad-daybar" title=${`${name(day)}：${ENDS.map((end) => `${t(end)} ${day[end]}`).join("，")}`}><div class="ad-daybar-stack" style=${{ height: `${100 * all(day) / most}%` }}>
      ${ENDS.toReversed().map((end) => day[end] > 0 && html`<span data-end=${end} style=${{ flexGrow: day[end] }}></span>`)}</div><span class="ad-daybar-name">${index % Math.ceil(report.days.length / 8) ? "" : name(day)}</span></div>`)}</div>
    <ul class="ad-legend">${ENDS.map((end) => html`<li><span data-end=${end}></span>${t(end)}</li>`)}</ul>`;
  return html`<${Card} title=${t("days")} text=${t("daysText")} table="days" at=${{ from: report.start, to: report.end }} empty=${!report.days.some(all)} picture=${picture}>
    <${Table} caption=${t("days")} rows=${report.days} keyOf=${(day) => day.start} columns=${[{ title: t("day"), cell: name }, ...ENDS.map((end) => ({ title: t(end), numeric: true, cell: (day) => (day[end] && end !== "other" ? html`<${Behind} query=${query(day, end)}>${number(day[end])}<//>` : number(day[end])) }))]} /><//>`;
}

function Topics({ report, to }) {
  const most = Math.max(1, ...report.topics.flatMap((topic) => [topic.turns, topic.before]));
  const name = (topic) => (topic.intent ? named("intent", topic.name) : topic.name);
  const bar = (n, kind) => html`<div class="ad-topic-bar" data-kind=${kind} style=${{ width: `${Math.max(1, 100 * n / most)}%` }}></div>`;
  const picture = html`<ul class="ad-topics">${report.topics.map((topic) => html`<li key=${topic.name}><div class="yd-row"><a class="yd-grow yd-clip yd-small" href=${behind(to("topic", { topic: topic.name }))}>${name(topic)}</a><span class="yd-small yd-nums">${number(topic.turns)}<span class="yd-muted"> / ${number(topic.before)}</span></span></div>${bar(topic.turns, "now")}${bar(topic.before, "before")}</li>`)}</ul>`;
  return html`<${Card} title=${t("topics")} text=${t("topicsText")} table="topics" at=${{ from: report.start, to: report.end }} empty=${!report.topics.length} picture=${picture}>
    <${Table} caption=${t("topics")} rows=${report.topics} keyOf=${(topic) => topic.name} columns=${[{ title: t("name"), cell: name }, { title: t("now"), numeric: true, cell: (topic) => number(topic.turns) }, { title: t("before"), numeric: true, cell: (topic) => number(topic.before) }]} /><//>`;
}

function Scores({ report, to }) {
  const most = Math.max(1, ...report.scores);
  const picture = html`<ul class="ad-topics">${[5, 4, 3, 2, 1].map((score) => html`<li key=${score}><div class="yd-row yd-small"><span class="yd-grow">${t("points", { n: score })}</span><span class="yd-nums">${number(report.scores[score - 1])}</span></div><div class="ad-topic-bar" data-kind=${score > 2 ? "now" : "bad"} style=${{ width: `${Math.max(1, 100 * report.scores[score - 1] / most)}%` }}></div></li>`)}</ul>
    <p class="yd-small"><${Behind} query=${to("unhappy")}>${t("m_unhappy")}：${number(report.scores[0] + report.scores[1])}<//></p>`;
  return html`<${Card} title=${t("scores")} text=${t("scoresText")} empty=${!report.total.ratings} picture=${picture} />`;
}

function People({ title, name, table, rows, at, to }) {
  if (!rows.length) return null;
  const cell = (measure, value) => (row) => (value(row) ? html`<${Behind} query=${to(measure, { [name]: row.id })}>${number(value(row))}<//>` : "0");
  const columns = [
    { title: t(name), cell: (row) => row.name },
    { title: t("served"), numeric: true, cell: cell("served", (row) => row.served) },
    { title: t("resolved"), numeric: true, cell: cell("resolved", (row) => row.resolved) },
    { title: t("firstMean"), numeric: true, cell: (row) => time(row.response_s) },
    { title: t("resolutionMean"), numeric: true, name: "ad-wide", cell: (row) => time(row.resolution_s) },
    { title: t("slaShare"), numeric: true, name: "ad-wide", cell: (row) => html`<${Behind} query=${to(slaSide(row), { [name]: row.id })}>${share(row.sla_met, row.sla_missed)}<//>` },
    { title: t("ratings"), numeric: true, cell: (row) => (row.ratings ? html`<${Behind} query=${to("rated", { [name]: row.id })}>${number(row.score, 1)}（${number(row.ratings)}）<//>` : t("none")) },
  ];
  return html`<${Card} title=${title} table=${table} at=${at} picture=${html`<${Table} caption=${title} columns=${columns} rows=${rows} keyOf=${(row) => row.id} />`} />`;
}

// Figures whose name is not that of what is counted.
const FIGURES = ["response", "resolution"];
const KEYS = ["measure", "from", "to", "agent", "team", "cell", "topic"];
function Behinds({ route }) {
  const list = useListing(route, KEYS, (query, signal) => server.get(`${REPORTS}/conversations`, query, { signal }));
  const { measure, topic, agent, team } = list.asked;
  const as = route.query.get("as");
  const assignees = useAssignees();
  const colleague = (id) => personName(assignees, id);
  const name = [t(FIGURES.includes(as) ? as : `m_${measure || "requested"}`), topic && named("intent", topic), agent && colleague(agent), team && teamName(assignees, team)].filter(Boolean).join(" · ");
  const columns = [
    { title: t("listed"), cell: (one) => html`<a class="yd-mono" href=${link(`conversations/${encodeURIComponent(one.session_id)}`)}>${one.session_id}</a>` },
    { title: t("at"), cell: (one) => html`<span class="ad-when">${moment(one.at)}</span>` },
    { title: t("agent"), name: "ad-wide", cell: (one) => (one.agent_id ? colleague(one.agent_id) : t("bot")) },
    { title: t("ending"), name: "ad-wide", cell: (one) => (one.agent_id || one.ending ? t(`e_${one.ending}`) : t("none")) },
    { title: t("firstMean"), name: "ad-wide", numeric: true, cell: (one) => time(one.response_s) },
    { title: t("comment"), cell: (one) => (one.score === null ? t("none") : html`${t("stars", { n: one.score })}${one.comment && html`<span class="ad-sub">${one.comment}</span>`}`) },
  ];
  return html`<${Head} title=${t("listedOf", { name })} text=${list.asked.from && `${moment(list.asked.from)} – ${moment(list.asked.to)}`} back=${{ href: link("reports"), title: t("back") }} />
    <${Listing} list=${list} caption=${t("listed")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(one) => one.session_id + one.at} empty=${t("empty")} />`;
}
