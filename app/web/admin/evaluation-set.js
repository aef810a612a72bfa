// One evaluation set: its cases, taken in and out as a file, and run.
import { number, words } from "../shared/i18n.js";
import { Dialog, Loaded, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useRef, useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

export const SETS = "/api/v1/evaluation/sets";
const SHOWN = 100;
const t = words({
  zh: { back: "全部评测集", run: "运行", started: "已开始运行", import: "导入", export: "导出", reports: "报告", remove: "删除", sure: "删除评测集“{name}”？", sureText: "题目一起删除；跑过的报告留下。", removed: "已删除", taken: "收下了 {n} 条", refused: "{n} 行没有收下", row: "第 {n} 行：{message}", rest: "另有 {n} 行", cases: "题目", search: "第一句话或编号里的字", say: "顾客说", expect: "怎样算对", origin: "来自", out: "去掉", gone: "已去掉", empty: "还没有题目。导入 JSONL、CSV 或 XLSX 文件：一列“问题”，一列“要说到”，还可以有“来源”“标签”。", must: "要说到：{what}", not: "不能说：{what}", source: "出处：{what}", more: "另有 {n} 轮" },
  en: { back: "All sets", run: "Run", started: "The run began", import: "Import", export: "Export", reports: "Reports", remove: "Delete", sure: "Delete the set “{name}”?", sureText: "Its cases go with it; reports stay.", removed: "Deleted", taken: "{n} taken", refused: "{n} rows were not taken", row: "Row {n}: {message}", rest: "{n} more rows", cases: "Cases", search: "Text of the first message or the id", say: "Customer says", expect: "What is right", origin: "From", out: "Take out", gone: "Taken out", empty: "No cases yet. Import a JSONL, CSV or XLSX file: a column “question”, one “must_any”, and if you like “source” and “tag”.", must: "Says: {what}", not: "Never says: {what}", source: "Cites: {what}", more: "{n} more turns" },
});

// Takes in a file; says how much was taken, and gives the rows that were not.
export async function take(id, file) {
  const { taken, refused } = await server.upload(`${SETS}/${id}/import`, file);
  toast(t("taken", { n: number(taken) }), taken ? "good" : "bad");
  return refused;
}

// Begins a run, and shows its report.
export const begin = (id) => attempt(async () => {
  const report = await server.post("/api/v1/evaluation/runs", { set_id: id });
  go(`evaluation/reports/${report.id}`);
}, t("started"));

export function EvaluationSet({ id, route, manages }) {
  const address = `${SETS}/${id}`;
  const state = useLoaded((signal) => server.get(address, {}, { signal }), [id]);
  const list = useListing(route, ["q", "origin"], (query, signal) => server.get(`${address}/cases`, query, { signal }));
  const again = () => { state.reload(); list.reload(); };
  const drop = async (item) => { if (await attempt(() => server.delete(`${address}/cases/${item.id}`), t("gone"))) again(); };
  const remove = async (set) => {
    if (!await confirmed({ title: t("sure", { name: set.name }), text: t("sureText"), action: t("remove") })) return;
    if (await attempt(() => server.delete(address), t("removed"))) go("evaluation");
  };
  const columns = [
    { title: t("say"), cell: ({ key, turns }) => html`<span class="ad-text">${turns[0].say}</span><span class="ad-sub">${key}${turns.length > 1 && ` · ${t("more", { n: number(turns.length - 1) })}`}</span>` },
    { title: t("expect"), cell: ({ turns }) => html`<${Expected} expect=${turns[0].expect} />` },
    { title: t("origin"), name: "ad-wide", cell: (item) => html`<${Named} kind="caseOrigin" value=${item.origin} />` },
    ...(manages ? [{ title: t("out"), cell: (item) => html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => drop(item)}>${t("out")}</button>` }] : []),
  ];
  return html`<${Loaded} state=${state}>${(set) => html`<${Head} title=${set.name} text=${set.description} back=${{ href: link("evaluation"), title: t("back") }}>
      <a class="yd-btn" href=${link("evaluation/reports", { set_id: id })}>${t("reports")}</a><a class="yd-btn" href="${address}/export" download="evaluation.jsonl">${t("export")}</a>
      ${manages && html`<${Taking} id=${id} onTaken=${again} /><button class="yd-btn" onClick=${() => remove(set)}>${t("remove")}</button><button class="yd-btn yd-btn-primary" disabled=${set.cases === 0} onClick=${() => begin(id)}>${t("run")}</button>`}<//>`}<//>
    <${Listing} list=${list} caption=${t("cases")} columns=${columns} rowsOf=${(data) => data.cases} keyOf=${(item) => item.id} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="origin" label=${t("origin")} options=${options("caseOrigin")} />`} />`;
}

function Expected({ expect }) {
  const told = [["must", expect.must_any.map((group) => group.join(" | "))], ["not", expect.must_not], ["source", [...expect.source, ...expect.documents]]];
  return html`<span class="ad-text">${expect.kind.map((kind) => named("turnKind", kind)).join(" / ")}</span>${told.filter(([, values]) => values.length > 0).map(([name, values]) => html`<span class="ad-sub">${t(name, { what: values.join("；") })}</span>`)}`;
}

function Taking({ id, onTaken }) {
  const input = useRef();
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState([]);
  const chosen = async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    setBusy(true);
    await attempt(async () => setRefused(await take(id, file)));
    setBusy(false);
    onTaken();
  };
  return html`<button class="yd-btn" disabled=${busy} onClick=${() => input.current.click()}>${t("import")}</button><input ref=${input} type="file" accept=".jsonl,.csv,.xlsx" aria-label=${t("import")} hidden onChange=${chosen} />
    ${refused.length > 0 && html`<${Dialog} title=${t("refused", { n: number(refused.length) })} onClose=${() => setRefused([])}><ul>${refused.slice(0, SHOWN).map(({ row, message }) => html`<li>${t("row", { n: row, message })}</li>`)}${refused.length > SHOWN && html`<li>${t("rest", { n: number(refused.length - SHOWN) })}</li>`}</ul><//>`}`;
}
