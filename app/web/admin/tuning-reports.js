// Calibrations and sweeps: begun with a file or a set of labelled questions, looked at, adopted.
import { moment, number, percent, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Loaded, Table, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { Listing, useListing } from "./listing.js";
import { Named, named } from "./names.js";
import { Meter } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { Plot } from "./tuning-plot.js";
import { Judged, Judging, VerdictsInForce } from "./tuning-verdicts.js";

const TUNER = "/api/v1/tuner";
const AGAIN = 1500;  // ms between two looks at what is at work
const t = words({
  zh: {
    judge: "让大模型出题校准", judgement: "大模型出题", useVerdicts: "按这些判断校准门槛",
    calibrate: "校准门槛", sweep: "扫描参数", name: "名称", kind: "种类", calibration: "校准", state: "状态", when: "时间", none: "还没有做过。准备一份标注的题：知识库答得了的和答不了的各二十道以上。", file: "标注文件（JSONL）", fileHint: "每行 {\"question\", \"answerable\", \"documents\"?}", set: "评测集", own: "用文件", refusal: "至少拒掉答不了的（%）", refusalHint: "不填则两种题一起最准", begin: "开始", back: "全部", answered: "能答的答了", refused: "该拒的拒了", current: "现在", recommended: "建议", interval: "建议值的 95% 区间：{low} – {high}", difference: "判断正确的比例多了 {value}（95% 区间 {low} 到 {high}，p = {p}）", better: "差别显著。", luck: "差别不显著，可能只是运气。", worse: "判断正确的反而少了：这是多拒的代价。", apply: "采用建议", applyTitle: "采用建议的参数？", applyText: "{values}。下一个回答起生效，可以在历史里退回。", applied: "已生效", adopted: "已采用为第 {n} 版", keep: "现在的参数就很好，没有建议改动。", unreached: "没有哪个门槛能拒掉这么多，这里是最接近的。", right: "正确", hit1: "首位命中", point: "向量权重 / k / 条数", best: "最好", remove: "删除", removed: "已删除", alpha: "向量权重", questions: "{n} 道题", line: "k = {k}，{width} 条", wrongFile: "文件里有读不懂的行：第 {n} 行",
  },
  en: {
    judge: "Have the model calibrate", judgement: "Model's questions", useVerdicts: "Calibrate the gate by these",
    calibrate: "Calibrate the gate", sweep: "Sweep parameters", name: "Name", kind: "Kind", calibration: "Calibration", state: "State", when: "When", none: "Nothing yet. Prepare labelled questions: twenty or more that the base answers, and as many that it does not.", file: "Labelled file (JSONL)", fileHint: "{\"question\", \"answerable\", \"documents\"?} a line", set: "Evaluation set", own: "From a file", refusal: "Refuse at least (%) of what has no answer", refusalHint: "Empty: as right as can be on both kinds", begin: "Begin", back: "All", answered: "Answered of the answerable", refused: "Refused of the others", current: "Now", recommended: "Recommended", interval: "95 % interval of the recommendation: {low} – {high}", difference: "{value} more come out right (95 % interval {low} to {high}, p = {p})", better: "Significant.", luck: "Not significant: it may be luck.", worse: "Fewer come out right: that is the price of refusing more.", apply: "Adopt", applyTitle: "Adopt these parameters?", applyText: "{values}. In force from the next answer on; the history leads back.", applied: "In force", adopted: "Adopted as version {n}", keep: "What is in force is fine; nothing is recommended.", unreached: "No threshold refuses that many; this one comes nearest.", right: "Right", hit1: "First hit", point: "Vector weight / k / width", best: "Best", remove: "Delete", removed: "Deleted", alpha: "Vector weight", questions: "{n} questions", line: "k = {k}, width {width}", wrongFile: "The file has a line that cannot be read: line {n}",
  },
});
const open = (report) => report?.state === "queued" || report?.state === "running";
const share = (value) => (value === null ? "–" : percent(value, 1));

export function Reports({ route, may }) {
  const [id] = route.rest;
  return id ? html`<${Report} id=${id} may=${may} />` : html`<${All} route=${route} may=${may} />`;
}

function useAgain(state, working) {
  useEffect(() => {
    if (!working) return undefined;
    const timer = setTimeout(state.reload, AGAIN);
    return () => clearTimeout(timer);
  }, [state.data, working]);
}

function All({ route, may }) {
  const [adding, setAdding] = useState("");
  const list = useListing(route, [], (query, signal) => server.get(`${TUNER}/reports`, query, { signal }), { limit: 20 });
  useAgain(list, list.data?.items.some(open));
  const columns = [
    { title: t("name"), cell: (one) => html`<a href=${link(`tuning/reports/${one.id}`)}>${one.title || t(one.kind)}</a>` },
    { title: t("kind"), cell: (one) => t(one.kind) },
    { title: t("state"), cell: (one) => html`${one.state && html`<${Named} kind="run" value=${one.state} />`}${open(one) && one.total > 0 && html`<${Meter} share=${one.done / one.total} />`}` },
    { title: t("when"), name: "ad-wide", cell: (one) => html`<span class="ad-when">${moment(one.created_at)}</span>` },
  ];
  return html`<div class="yd-stack">${may && html`<div class="yd-row"><button class="yd-btn yd-btn-primary" onClick=${() => setAdding("calibration")}>${t("calibrate")}</button><button class="yd-btn" onClick=${() => setAdding("sweep")}>${t("sweep")}</button><button class="yd-btn" onClick=${() => setAdding("judgement")}>${t("judge")}</button></div>`}
    <${VerdictsInForce} may=${may} />
    <${Listing} list=${list} caption=${t("calibrate")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(one) => one.id} onOpen=${(one) => go(`tuning/reports/${one.id}`)} empty=${t("none")} />
    ${adding && html`<${adding === "judgement" ? Judging : Beginning} kind=${adding} onClose=${(made) => { setAdding(""); if (made) list.reload(); }} />`}</div>`;
}

async function lines(file) {
  const rows = (await file.text()).split("\n").map((row) => row.trim());
  return rows.flatMap((row, place) => {
    if (!row) return [];
    try { const { question, answerable, documents = [] } = JSON.parse(row); return [{ question, answerable, documents }]; } catch { throw new Error(t("wrongFile", { n: place + 1 })); }
  });
}

function Beginning({ kind, onClose }) {
  const sets = useLoaded((signal) => server.get("/api/v1/evaluation/sets", {}, { signal }), []);
  const [chosen, setChosen] = useState("");
  const [file, setFile] = useState(null);
  const [refusal, setRefusal] = useState("");
  const [state, setState] = useState({});
  const begin = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      const asked = chosen ? { set: chosen } : { questions: await lines(file) };
      const also = kind === "calibration" && refusal ? { refusal: Number(refusal) / 100 } : {};
      await server.post(`${TUNER}/${kind}s`, { ...asked, ...also });
      onClose(true);
    } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${t(kind === "sweep" ? "sweep" : "calibrate")} onClose=${() => onClose(false)}><form class="yd-stack" onSubmit=${begin}>
    <${Field} label=${t("set")}><select class="yd-input" name="set" value=${chosen} onChange=${(event) => setChosen(event.target.value)}><option value="">${t("own")}</option>${(sets.data?.sets || []).map((one) => html`<option value=${one.id}>${one.name}</option>`)}</select><//>
    ${!chosen && html`<${Field} label=${t("file")} hint=${t("fileHint")}><input class="yd-input" type="file" name="file" accept=".jsonl,.json" required onChange=${(event) => setFile(event.target.files[0])} /><//>`}
    ${kind === "calibration" && html`<${Field} label=${t("refusal")} hint=${t("refusalHint")}><input class="yd-input" type="number" name="refusal" min="1" max="100" value=${refusal} onInput=${(event) => setRefusal(event.target.value)} /><//>`}
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("begin")}</button></div></form><//>`;
}

function Report({ id, may }) {
  const state = useLoaded((signal) => server.get(`${TUNER}/reports/${id}`, {}, { signal }), [id]);
  useAgain(state, open(state.data));
  const values = (found) => Object.entries(found).map(([name, value]) => `${named("parameter", name)} = ${number(value, 4)}`).join("，");
  const apply = async (report) => {
    if (!await confirmed({ title: t("applyTitle"), text: t("applyText", { values: values(report.result.values) }), action: t("apply"), danger: false })) return;
    await attempt(() => server.post(`${TUNER}/reports/${id}/apply`, {}), t("applied"));
    state.reload();
  };
  const adopt = async () => { await attempt(() => server.post(`${TUNER}/reports/${id}/apply`, {}), t("applied")); go("tuning/reports"); };
  const remove = async () => { await attempt(async () => { await server.delete(`${TUNER}/reports/${id}`); go("tuning/reports"); }, t("removed")); };
  return html`<${Loaded} state=${state}>${(report) => html`<div class="yd-stack"><div class="yd-row"><a href=${link("tuning/reports")}>← ${t("back")}</a><span class="yd-grow"></span>${may && !open(report) && html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${remove}>${t("remove")}</button>`}</div>
    <div class="ad-card-title"><h2>${report.title || t(report.kind)}</h2>${report.state && html`<${Named} kind="run" value=${report.state} />`}</div>
    ${open(report) && report.total > 0 && html`<${Meter} share=${report.done / report.total} />`}
    ${report.result && html`<div class="yd-card yd-stack">${report.kind === "judgement" ? html`<${Judged} result=${report.result} />` : html`${report.kind === "calibration" ? html`<${Curve} result=${report.result} />` : html`<${Swept} result=${report.result} />`}<${Verdict} found=${report.result.difference} />`}
      ${report.kind === "judgement" ? may && report.result.fit && html`<div><button class="yd-btn yd-btn-primary" onClick=${adopt}>${t("useVerdicts")}</button></div>` : report.applied !== null ? html`<p>${t("adopted", { n: report.applied })}</p>` : Object.keys(report.result.values).length === 0 ? html`<p>${t("keep")}</p>` : may && html`<div><p class="yd-mono yd-small">${values(report.result.values)}</p><button class="yd-btn yd-btn-primary" onClick=${() => apply(report)}>${t("apply")}</button></div>`}</div>`}</div>`}<//>`;
}

const Verdict = ({ found }) => html`<p class="yd-small">${t("difference", { value: percent(found.value, 1), low: percent(found.low, 1), high: percent(found.high, 1), p: number(found.p, 4) })} ${t(found.significant ? "better" : found.high < 0 ? "worse" : "luck")}</p>`;

function Curve({ result }) {
  const line = (name) => ({ title: t(name), points: result.curve.map((point) => [point.threshold, point[name]]) });
  const told = (name) => html`<li>${t(name)} ${number(result[name].threshold, 2)}：${t("answered")} ${share(result[name].answered)}，${t("refused")} ${share(result[name].refused)}</li>`;
  return html`<p class="yd-small yd-muted">${t("questions", { n: number(result.answerable + result.unanswerable) })}</p><${Plot} title=${t("calibrate")} series=${[line("answered"), line("refused")]} marks=${[{ x: result.current.threshold, title: t("current") }, { x: result.recommended.threshold, title: t("recommended") }].filter((mark) => mark.x >= result.curve[0].threshold && mark.x <= result.curve.at(-1).threshold)} />
    ${!result.reached && html`<p class="yd-notice" data-tone="warn">${t("unreached")}</p>`}<ul>${told("current")}${told("recommended")}</ul><p class="yd-small">${t("interval", { low: number(result.interval.low, 2), high: number(result.interval.high, 2) })}</p>`;
}

function Swept({ result }) {
  const groups = Map.groupBy ? Map.groupBy(result.points, (point) => t("line", point)) : new Map([[t("alpha"), result.points]]);
  const series = [...groups].slice(0, 8).map(([title, points]) => ({ title, points: points.map((point) => [point.alpha, point.right]).sort((a, b) => a[0] - b[0]) }));
  const rows = [{ ...result.current, name: t("current") }, { ...result.best, name: t("best") }, ...[...result.points].sort((a, b) => b.right - a.right)];
  const columns = [
    { title: t("point"), cell: (one) => html`${one.name && html`<strong>${one.name} </strong>`}${number(one.alpha, 2)} / ${one.k} / ${one.width}` },
    ...["right", "answered", "refused", "hit1"].map((name) => ({ title: t(name), numeric: true, cell: (one) => share(one[name]) })),
  ];
  return html`<p class="yd-small yd-muted">${t("questions", { n: number(result.questions) })}</p><${Plot} title=${t("sweep")} series=${series} marks=${[{ x: result.best.alpha, title: t("best") }]} /><${Table} caption=${t("sweep")} columns=${columns} rows=${rows} keyOf=${(one) => `${one.name || ""}${one.alpha}/${one.k}/${one.width}`} />`;
}
