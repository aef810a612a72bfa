// Background jobs: what runs when, how it went last, running one now, and its history.
import { ago, locale, moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Loaded, Table, attempt, html, toast, useLoaded } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { Choice, Listing, useListing } from "./listing.js";
import { Named, named } from "./names.js";
import { Facts, Head, Meter } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const JOBS = "/api/v1/jobs";
const AGAIN = 1000;  // ms between two looks at what is at work
const t = words({
  zh: {
    title: "定时任务", text: "知识库的例行工作。到时间自动运行，也可以现在运行；同一个任务同时只运行一次。", kind: "任务", schedule: "时间", last: "最近一次", took: "用时", state: "状态", run: "现在运行", running: "在运行", started: "已开始运行", history: "运行记录", house: "日常维护", houseText: "服务自己定期做的事，以当前进程的记录为准，重启后重新记。", daily: "每天 {hour}:00", demand: "手动", seconds: "{n} 秒", every: "每 {n} 秒", everyMinutes: "每 {n} 分钟", everyHours: "每 {n} 小时", never: "还没有运行过", error: "错误", fine: "正常", when: "开始", none: "还没有运行记录。到时间会自动运行，也可以点上面的“现在运行”。", by: "来由", timed: "定时", hand: "手动", cancel: "取消", cancelled: "已取消", back: "定时任务", progress: "进度", result: "结果", parameters: "参数", created: "提交于", finished: "结束于", ended: "完成 {done} / {total}", same: "不指定",
  },
  en: {
    title: "Background jobs", text: "Regular work on the knowledge base. It runs by itself when it is due, and now if you like; a job runs once at a time.", kind: "Job", schedule: "When", last: "Last run", took: "Took", state: "State", run: "Run now", running: "Running", started: "The job runs", history: "Runs", house: "Housekeeping", houseText: "What the server does by itself. Of this process; kept until it restarts.", daily: "Daily at {hour}:00", demand: "On demand", seconds: "{n} s", every: "Every {n} s", everyMinutes: "Every {n} min", everyHours: "Every {n} h", never: "Never yet", error: "Error", fine: "Fine", when: "Started", none: "No runs yet. They begin when they are due, or by “Run now” above.", by: "Because", timed: "Schedule", hand: "On demand", cancel: "Cancel", cancelled: "Cancelled", back: "Background jobs", progress: "Progress", result: "Result", parameters: "Parameters", created: "Asked for", finished: "Ended", ended: "{done} of {total}", same: "Not chosen",
  },
});
const open = (run) => run?.state === "queued" || run?.state === "running";
const took = (seconds) => (seconds === null ? "" : t("seconds", { n: number(seconds, seconds < 10 ? 2 : 0) }));
const choices = (kind) => Object.entries(kind.parameters?.properties || {}).filter(([, parameter]) => parameter.enum);
const needs = (kind) => (kind.parameters?.required || []).length > 0;

function when(schedule) {
  if (!schedule) return t("demand");
  if (schedule.type === "daily") return t("daily", { hour: String(schedule.hour).padStart(2, "0") });
  const seconds = schedule.seconds;
  if (seconds % 3600 === 0) return t("everyHours", { n: number(seconds / 3600) });
  return seconds % 60 === 0 ? t("everyMinutes", { n: number(seconds / 60) }) : t("every", { n: number(seconds) });
}

// Looks again while something is at work.
function useFollowed(state, working) {
  useEffect(() => {
    if (!working) return undefined;
    const timer = setTimeout(state.reload, AGAIN);
    return () => clearTimeout(timer);
  }, [state.data, working]);
}

export function Jobs(props) {
  return props.route.id ? html`<${Run} key=${props.route.id} ...${props} />` : html`<${All} ...${props} />`;
}

const Progress = ({ run }) => html`<${Named} kind="run" value=${run.state} />${run.state === "running" && run.total > 0 && html`<${Meter} share=${run.done / run.total} />`}`;

// Asks for what a run may be told, where that is one of a few things: the rest is as by schedule.
function Begin({ kind, onClose, onDone }) {
  const [parameters, setParameters] = useState({});
  const [state, setState] = useState({});
  const run = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      await server.post(`${JOBS}/${kind.name}/runs`, { parameters });
      toast(t("started"), "good");
      onDone();
    } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${named("jobKind", kind.name)} onClose=${onClose}><form class="yd-stack" onSubmit=${run}>
    ${choices(kind).map(([name, parameter]) => html`<${Field} label=${parameter.description || name}><select class="yd-input" value=${parameters[name] ?? parameter.default} onChange=${(event) => setParameters({ ...parameters, [name]: event.target.value })}>${parameter.enum.map((value) => html`<option value=${value}>${value || t("same")}</option>`)}</select><//>`)}
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("run")}</button></div></form><//>`;
}

function All({ route, manages }) {
  const state = useLoaded((signal) => server.get(JOBS, {}, { signal }), []);
  const list = useListing(route, ["kind"], (query, signal) => server.get(`${JOBS}/runs`, query, { signal }), { limit: 20, most: 100 });
  useFollowed(state, state.data?.kinds.some((kind) => open(kind.last)));
  useFollowed(list, list.data?.items.some(open));
  const [asking, setAsking] = useState(null);
  const begun = () => { setAsking(null); state.reload(); list.reload(); };
  const start = async (kind) => {
    if (choices(kind).length) return setAsking(kind);
    await attempt(() => server.post(`${JOBS}/${kind.name}/runs`, {}), t("started"));
    return begun();
  };
  const titles = Object.fromEntries((state.data?.kinds || []).map((kind) => [kind.name, named("jobKind", kind.name)]));
  const kinds = [
    { title: t("kind"), cell: (kind) => html`<span class="ad-text">${named("jobKind", kind.name)}</span><span class="ad-sub yd-mono">${kind.name}</span>` },
    { title: t("schedule"), name: "ad-wide", cell: (kind) => when(kind.schedule) },
    { title: t("last"), cell: (kind) => (kind.last ? html`<a class="ad-when" href=${link(`jobs/${kind.last.id}`)} title=${moment(kind.last.created_at)}>${ago(kind.last.created_at)}</a>` : html`<span class="yd-muted">${t("never")}</span>`) },
    { title: t("took"), name: "ad-wide", numeric: true, cell: (kind) => (kind.last ? took(kind.last.duration) : "") },
    { title: t("state"), cell: (kind) => kind.last && html`<${Progress} run=${kind.last} />${kind.last.error && html`<span class="ad-sub">${kind.last.error.message}</span>`}` },
    { title: t("run"), cell: (kind) => manages && !needs(kind) && html`<button class="yd-btn yd-btn-small" disabled=${open(kind.last)} onClick=${() => start(kind)}>${open(kind.last) ? t("running") : t("run")}</button>` },
  ];
  const house = [
    { title: t("kind"), cell: (job) => html`<span class="ad-text">${named("jobKind", job.name)}</span><span class="ad-sub yd-mono">${job.name}</span>` },
    { title: t("schedule"), name: "ad-wide", cell: (job) => when(job.schedule) },
    { title: t("last"), cell: (job) => (job.started_at ? html`<span class="ad-when" title=${moment(job.started_at)}>${ago(job.started_at)}</span>` : html`<span class="yd-muted">${t("never")}</span>`) },
    { title: t("took"), numeric: true, name: "ad-wide", cell: (job) => took(job.duration) },
    { title: t("error"), cell: (job) => (job.error ? job.error.message : job.started_at && t("fine")) },
  ];
  const runs = [
    { title: t("kind"), text: (run) => titles[run.kind] || run.kind, cell: (run) => html`<a href=${link(`jobs/${run.id}`)}>${titles[run.kind] || run.kind}</a>` },
    { title: t("state"), text: (run) => named("run", run.state), cell: (run) => html`<${Progress} run=${run} />` },
    { title: t("by"), name: "ad-wide", text: (run) => (run.scheduled ? t("timed") : t("hand")), cell: (run) => (run.scheduled ? t("timed") : t("hand")) },
    { title: t("when"), text: (run) => run.started_at || run.created_at, cell: (run) => html`<span class="ad-when" title=${moment(run.started_at || run.created_at)}>${ago(run.started_at || run.created_at)}</span>` },
    { title: t("took"), numeric: true, name: "ad-wide", text: (run) => run.duration, cell: (run) => took(run.duration) },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />${asking && html`<${Begin} kind=${asking} onClose=${() => setAsking(null)} onDone=${begun} />`}<div class="yd-stack"><${Loaded} state=${state}>${(data) => html`<div class="yd-card ad-table"><${Table} caption=${t("title")} columns=${kinds} rows=${data.kinds} keyOf=${(kind) => kind.name} /></div>`}<//>
    <h2>${t("history")}</h2><${Listing} list=${list} caption=${t("history")} columns=${runs} file="job-runs" rowsOf=${(data) => data.items} keyOf=${(run) => run.id} onOpen=${(run) => go(`jobs/${run.id}`)} empty=${t("none")} filters=${html`<${Choice} list=${list} name="kind" label=${t("kind")} options=${Object.entries(titles)} />`} />
    <div><h2>${t("house")}</h2><p class="yd-small yd-muted">${t("houseText")}</p></div><${Loaded} state=${state}>${(data) => html`<div class="yd-card ad-table"><${Table} caption=${t("house")} columns=${house} rows=${data.housekeeping} keyOf=${(job) => job.name} /></div>`}<//></div>`;
}

function Run({ route, manages }) {
  const state = useLoaded((signal) => server.get(`${JOBS}/runs/${route.id}`, {}, { signal }), []);
  useFollowed(state, open(state.data));
  const cancel = async () => { await attempt(() => server.post(`${JOBS}/runs/${route.id}/cancel`), t("cancelled")); state.reload(); };
  const json = (value) => value && Object.keys(value).length > 0 && html`<pre class="yd-mono yd-small">${JSON.stringify(value, null, 2)}</pre>`;
  const exact = (iso) => iso && new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "medium" }).format(new Date(iso));
  return html`<${Loaded} state=${state}>${(run) => html`<${Head} title=${named("jobKind", run.kind)} back=${{ href: link("jobs"), title: t("back") }}>${manages && open(run) && html`<button class="yd-btn" onClick=${cancel}>${t("cancel")}</button>`}<//>
    <div class="yd-card yd-stack"><${Facts} facts=${[[t("state"), html`<${Progress} run=${run} />`], [t("progress"), run.total > 0 && t("ended", { done: number(run.done), total: number(run.total) })], [t("by"), run.scheduled ? t("timed") : t("hand")],
      [t("created"), exact(run.created_at)], [t("when"), exact(run.started_at)], [t("finished"), exact(run.finished_at)], [t("took"), took(run.duration)], [t("error"), run.error && `${run.error.message} (${run.error.code})`], [t("parameters"), json(run.parameters)], [t("result"), json(run.result)]]} /></div>`}<//>`;
}
