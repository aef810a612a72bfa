// Evaluation: sets of questions with what is right, the runs of them, and their reports.
import { moment, number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, attempt, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { EvaluationReport } from "./evaluation-report.js";
import { EvaluationReports } from "./evaluation-reports.js";
import { EvaluationSet, SETS, begin, take } from "./evaluation-set.js";
import { Listing, Search, pageOf, useListing } from "./listing.js";
import { Head, Tabs } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const t = words({
  zh: { title: "评测", text: "把标好对错的问题放进完整的产品里问一遍，改动之前与之后逐题对照。顾客看不到，也不占顾客的位置。", sets: "评测集", reports: "报告", new: "新建评测集", name: "名称", note: "说明", cases: "题目", turns: "轮数", changed: "最近改动", run: "运行", file: "题目文件", hint: "JSONL、CSV 或 XLSX，可以以后再导入", save: "新建", search: "搜索名称", remove: "删除", removeSome: "删除 {n} 个评测集？", removeText: "题目一起删除；跑过的报告留下。", empty: "还没有评测集。把顾客常问的问题和怎样算答对写成表格，导入就能运行。" },
  en: { title: "Evaluation", text: "Labelled questions go through the whole product, and what came of them is compared before and after a change. Customers see nothing of it and wait for nothing.", sets: "Sets", reports: "Reports", new: "New set", name: "Name", note: "Description", cases: "Cases", turns: "Turns", changed: "Changed", run: "Run", file: "File of cases", hint: "JSONL, CSV or XLSX; may be imported later", save: "Make it", search: "Search names", remove: "Delete", removeSome: "Delete {n} sets?", removeText: "Their cases go with them; reports stay.", empty: "No sets yet. Write what customers ask, and what is right, into a table; import it, and it can be run." },
});

export function Evaluation(props) {
  const { id, rest: [one] } = props.route;
  if (id === "sets" && one) return html`<${EvaluationSet} key=${one} id=${one} ...${props} />`;
  if (id === "reports" && one) return html`<${EvaluationReport} key=${one} id=${one} ...${props} />`;
  return html`<${All} ...${props} reports=${id === "reports"} />`;
}

function All({ route, manages, reports }) {
  const [making, setMaking] = useState(false);
  const tabs = [{ title: t("sets"), href: link("evaluation"), current: !reports }, { title: t("reports"), href: link("evaluation/reports"), current: reports }];
  return html`<${Head} title=${t("title")} text=${t("text")}>${manages && html`<button class="yd-btn yd-btn-primary" onClick=${() => setMaking(true)}>${t("new")}</button>`}<//>
    <${Tabs} label=${t("title")} tabs=${tabs} />${reports ? html`<${EvaluationReports} route=${route} manages=${manages} />` : html`<${Sets} route=${route} manages=${manages} make=${() => setMaking(true)} />`}
    ${making && html`<${Making} onClose=${() => setMaking(false)} />`}`;
}

function Sets({ route, manages, make }) {
  const by = { name: (set) => set.name, cases: (set) => set.cases, updated: (set) => set.updated_at };
  const list = useListing(route, ["q"], async (query, signal) => pageOf((await server.get(SETS, {}, { signal })).sets, query, { by, text: (set) => `${set.name} ${set.description}` }));
  const bulk = manages ? [{ title: t("remove"), danger: true, run: (set) => server.delete(`${SETS}/${set.id}`), sure: (rows) => ({ title: t("removeSome", { n: rows.length }), text: t("removeText") }) }] : [];
  const columns = [
    { title: t("name"), sort: "name", text: (set) => set.name, cell: (set) => html`<a href=${link(`evaluation/sets/${set.id}`)}>${set.name}</a>${set.description && html`<span class="ad-sub">${set.description}</span>`}` },
    { title: t("cases"), numeric: true, sort: "cases", text: (set) => set.cases, cell: (set) => number(set.cases) },
    { title: t("turns"), name: "ad-wide", numeric: true, text: (set) => set.turns, cell: (set) => number(set.turns) },
    { title: t("changed"), name: "ad-wide", sort: "updated", latest: true, text: (set) => set.updated_at, cell: (set) => html`<span class="ad-when">${moment(set.updated_at)}</span>` },
    { title: t("run"), cell: (set) => manages && html`<button class="yd-btn yd-btn-small" disabled=${set.cases === 0} onClick=${() => begin(set.id)}>${t("run")}</button>` },
  ];
  return html`<${Listing} list=${list} caption=${t("sets")} columns=${columns} file="evaluation-sets" bulk=${bulk} rowsOf=${(data) => data.items} keyOf=${(set) => set.id} nameOf=${(set) => set.name} onOpen=${(set) => go(`evaluation/sets/${set.id}`)} empty=${t("empty")} next=${manages && html`<button class="yd-btn yd-btn-primary" onClick=${make}>${t("new")}</button>`} filters=${html`<${Search} list=${list} label=${t("search")} />`} />`;
}

function Making({ onClose }) {
  const [state, setState] = useState({});
  const save = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    setState({ busy: true });
    try {
      const made = await server.post(SETS, { name: form.get("name"), description: form.get("note") });
      if (form.get("file").size > 0) await attempt(() => take(made.id, form.get("file")));  // the set is there all the same
      go(`evaluation/sets/${made.id}`);
    } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("name")}><input class="yd-input" name="name" required maxlength="100" /><//>
    <${Field} label=${t("note")}><input class="yd-input" name="note" maxlength="2000" /><//>
    <${Field} label=${t("file")} hint=${t("hint")}><input class="yd-input" type="file" name="file" accept=".jsonl,.csv,.xlsx" /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("save")}</button></div></form><//>`;
}
