// A list as every section shows it: search, filters, order, one page of rows, pages, all in the address; what is done to several rows at once, and the list as a file.
import { words } from "../shared/i18n.js";
import { Empty, Failure, Pager, Spinner, Table, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { allRows, csv, save } from "./csv.js";
import { current, go } from "./route.js";

const t = words({
  zh: { none: "没有符合条件的内容。", clear: "清除条件", all: "{label}：全部", size: "每页 {n} 条", csv: "导出 CSV", since: "从", until: "到", pick: "选择{name}", pickAll: "选择本页全部", picked: "已选 {n} 条", unpick: "取消选择", working: "{done} / {n}", done: "已处理 {n} 条", failed: "{n} 条没有成功：{message}" },
  en: { none: "Nothing matches.", clear: "Clear filters", all: "{label}: all", size: "{n} a page", csv: "Export CSV", since: "From", until: "To", pick: "Select {name}", pickAll: "Select all on this page", picked: "{n} selected", unpick: "Clear selection", working: "{done} of {n}", done: "{n} done", failed: "{n} did not succeed: {message}" },
});
const PAUSE = 250;  // ms after the last key before one searches
const SIZES = [20, 50, 100, 200];

// names: what may be asked for. load: ({...names, sort, offset, limit}, signal) => data. most: rows that the server gives at once.
export function useListing(route, names, load, { limit = 50, most = 200, prefix = "", also = [] } = {}) {
  const at = (name) => route.query.get(prefix + name) || "";
  const asked = Object.fromEntries(names.map((name) => [name, at(name)]));
  const size = Number(at("limit")) || limit;
  const offset = Number(at("offset")) || 0;
  const sort = at("sort");
  const state = useLoaded((signal) => load({ ...asked, sort, offset, limit: size }, signal), [route.path, JSON.stringify(asked), sort, offset, size, ...also]);
  const move = (values, replace) => {
    const query = Object.fromEntries(current().query);
    for (const [name, value] of Object.entries(values)) query[prefix + name] = value;
    go(route.path, query, { replace });
  };
  return {
    ...state, asked, sort, offset, limit: size, sizes: [...new Set([...SIZES.filter((each) => each <= most), limit])].sort((a, b) => a - b),
    filtered: names.some((name) => asked[name]),
    change: (values, replace) => move({ ...values, offset: "" }, replace),
    clear: () => move({ ...Object.fromEntries(names.map((name) => [name, ""])), offset: "" }),
    moveTo: (value) => { move({ offset: value }); scrollTo({ top: 0 }); },
    resize: (value) => move({ limit: value === limit ? "" : value, offset: "" }),
    all: (rowsOf) => allRows((page) => load({ ...asked, sort, ...page }), rowsOf, most),
  };
}

// One page of a list that the server gives as a whole: {items, total}. text: (row) => what `q` is looked for in; by: { column: (row) => value } to sort by; keep: (row) => whether the other filters let it through.
export function pageOf(rows, { q, sort, offset, limit }, { text, by = {}, keep = () => true }) {
  const wanted = (q || "").toLowerCase();
  const items = rows.filter((row) => keep(row) && (!wanted || text(row).toLowerCase().includes(wanted)));
  const value = by[sort.replace(/^-/, "")];
  if (value) items.sort((a, b) => (sort.startsWith("-") ? compared(value(b), value(a)) : compared(value(a), value(b))));
  return { items: items.slice(offset, offset + limit), total: items.length };
}

const compared = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a ?? "").localeCompare(String(b ?? "")));

// A field that searches while one types, once the typing pauses.
export function Search({ list, name = "q", label }) {
  const [text, setText] = useState(list.asked[name]);
  const waiting = useRef();
  useEffect(() => setText(list.asked[name]), [list.asked[name]]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const search = (value, at) => {
    clearTimeout(waiting.current);
    setText(value);
    waiting.current = setTimeout(() => value.trim() !== list.asked[name] && list.change({ [name]: value.trim() }, true), at);
  };
  return html`<input class="yd-input ad-search" type="search" placeholder=${label} aria-label=${label} value=${text}
    onInput=${(event) => search(event.target.value, PAUSE)} onKeyDown=${(event) => event.key === "Enter" && search(event.target.value, 0)} />`;
}

// options: [[value, label]]
export const Choice = ({ list, name, label, options }) => html`<select class="yd-input ad-choice" aria-label=${label} value=${list.asked[name]} onChange=${(event) => list.change({ [name]: event.target.value })}>
  <option value="">${t("all", { label })}</option>${options.map(([value, shown]) => html`<option value=${value}>${shown}</option>`)}</select>`;

// The days that the filters `since` and `until` name, both included; `moments` is what the server is asked.
export const Days = ({ list }) => html`<div class="ad-dates">${["since", "until"].map((name) => html`<label class="yd-small yd-row">${t(name)}<input class="yd-input ad-choice" type="date" value=${list.asked[name]} onChange=${(event) => list.change({ [name]: event.target.value })} /></label>`)}</div>`;
const instant = (day, clock) => day && new Date(`${day}T${clock}`).toISOString();
export const moments = ({ since, until }) => ({ since: instant(since, "00:00:00"), until: instant(until, "23:59:59.999") });

// columns: as of Table, and sort: by what name the list is sorted by it; text: (row) => what a file tells of it.
// rowsOf: (data) => rows. empty: what is said where there is nothing at all yet, next: vnode of what to do about it. unmatched: what is said where the filters let nothing through. filters: vnodes above the list.
// file: name of the list as a file, or where: the address of the file. nameOf: (row) => what it is called.
// bulk: [{ title, run: (row, value) => promise, together: (rows) => promise, sure: (rows) => what to ask before, or nothing, ask: component that asks for the value, danger, said: what is told after it }]
export function Listing({ list, caption, rowsOf, columns, keyOf, nameOf, onOpen, empty, unmatched, next, filters, file, where, bulk = [] }) {
  const rows = list.data && rowsOf(list.data);
  const [picked, setPicked] = useState([]);
  const shown = (rows || []).filter((row) => picked.includes(keyOf(row)));
  const columnsToSave = columns.filter((column) => column.text);
  const download = () => attempt(async () => save(`${file}.csv`, csv(columnsToSave, await list.all(rowsOf))));
  const choosing = bulk.length > 0 && rows?.length > 0;
  return html`<div class="yd-stack">
    <div class="ad-filters" role=${filters ? "search" : undefined}>${filters}
      ${list.filtered && html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${list.clear}>${t("clear")}</button>`}
      ${(file || where) && rows?.length > 0 && html`<span class="yd-grow"></span>${where ? html`<a class="yd-btn yd-btn-small" href=${where} download>${t("csv")}</a>` : html`<button class="yd-btn yd-btn-small" onClick=${download}>${t("csv")}</button>`}`}</div>
    ${choosing && shown.length > 0 && html`<${Bulk} bulk=${bulk} rows=${shown} clear=${() => setPicked([])} done=${(failed) => { setPicked(failed.map(keyOf)); list.reload(); }} />`}
    ${list.error ? html`<${Failure} error=${list.error} retry=${list.reload} />`
    : !rows ? html`<div class="yd-card yd-empty"><${Spinner} /></div>`
    : rows.length === 0 ? html`<div class="yd-card"><${Empty}>${list.filtered ? unmatched || t("none") : html`<p>${empty}</p>${next && html`<p>${next}</p>`}`}<//></div>`
    : html`<div class="yd-card ad-table" aria-busy=${list.loading}><${Table} caption=${caption} columns=${[...(choosing ? [chooser(rows, keyOf, nameOf, picked, setPicked)] : []), ...columns.map((column) => sortable(list, column))]} rows=${rows} keyOf=${keyOf} onOpen=${onOpen} /></div>`}
    ${list.data && list.data.total > Math.min(list.limit, SIZES[0]) && html`<div class="ad-pages"><div class="yd-grow"><${Pager} offset=${list.offset} limit=${list.limit} total=${list.data.total} onMove=${list.moveTo} /></div>
      <select class="yd-input ad-size" aria-label=${t("size", { n: list.limit })} value=${list.limit} onChange=${(event) => list.resize(Number(event.target.value))}>
        ${list.sizes.map((size) => html`<option value=${size}>${t("size", { n: size })}</option>`)}</select></div>`}
  </div>`;
}

// The heading of a column sorts by it: the greatest first where those are numbers or times, and the other way round the second time.
function sortable(list, column) {
  if (!column.sort) return column;
  const first = column.numeric || column.latest ? `-${column.sort}` : column.sort;
  const other = first.startsWith("-") ? column.sort : `-${column.sort}`;
  const sorted = list.sort === column.sort ? "ascending" : list.sort === `-${column.sort}` ? "descending" : undefined;
  const title = html`<button class="ad-sort" onClick=${() => list.change({ sort: list.sort === first ? other : first })}>${column.title}<span aria-hidden="true">${sorted === "ascending" ? "↑" : sorted === "descending" ? "↓" : "↕"}</span></button>`;
  return { ...column, title, sorted: sorted || "none" };
}

function chooser(rows, keyOf, nameOf, picked, setPicked) {
  const keys = rows.map(keyOf);
  const whole = keys.every((key) => picked.includes(key));
  const flip = (key) => setPicked(picked.includes(key) ? picked.filter((each) => each !== key) : [...picked, key]);
  return {
    name: "ad-chosen", title: html`<input type="checkbox" aria-label=${t("pickAll")} checked=${whole} onChange=${() => setPicked(whole ? [] : keys)} />`,
    cell: (row) => html`<input type="checkbox" aria-label=${t("pick", { name: nameOf(row) })} checked=${picked.includes(keyOf(row))} onChange=${() => flip(keyOf(row))} />`,
  };
}

function Bulk({ bulk, rows, clear, done }) {
  const [at, setAt] = useState(null);  // how many are done while one is at work
  const [asking, setAsking] = useState(null);
  const begin = async (one) => {
    if (one.ask) return setAsking(one);
    const asked = one.sure?.(rows);
    return (!asked || await confirmed({ action: one.title, danger: one.danger, ...asked })) && work(one);
  };
  const work = async (one, value) => {
    setAsking(null);
    setAt(0);
    const failed = one.together ? await together(one, rows) : await each((row) => one.run(row, value), rows, setAt);
    setAt(null);
    if (rows.length > failed.length) toast(one.said || t("done", { n: rows.length - failed.length }), "good");
    done(failed);
  };
  return html`<div class="ad-bulk" role="group" aria-label=${t("picked", { n: rows.length })}><strong class="yd-small" role="status">${at === null ? t("picked", { n: rows.length }) : t("working", { done: at, n: rows.length })}</strong>
    ${bulk.map((one) => html`<button class=${`yd-btn yd-btn-small ${one.danger ? "yd-btn-danger" : ""}`} disabled=${at !== null} onClick=${() => begin(one)}>${one.title}</button>`)}
    <button class="yd-btn yd-btn-quiet yd-btn-small" disabled=${at !== null} onClick=${clear}>${t("unpick")}</button>
    ${asking && html`<${asking.ask} rows=${rows} onClose=${() => setAsking(null)} onDone=${(value) => work(asking, value)} />`}</div>`;
}

// One after another; the rows that could not be done. What stops one does not stop the others.
async function each(run, rows, tell) {
  const failed = [];
  let first = null;
  for (const [place, row] of rows.entries()) {
    try { await run(row); } catch (error) { failed.push(row); first ||= error; }
    tell(place + 1);
  }
  if (first) toast(t("failed", { n: failed.length, message: first.message }), "bad");
  return failed;
}

const together = async (one, rows) => (await attempt(() => one.together(rows)) ? [] : rows);
