// A list as every section shows it: search, filters, one page of rows, pages. All of it stands in the address.
import { words } from "../shared/i18n.js";
import { Empty, Failure, Pager, Spinner, Table, html, useLoaded } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { go } from "./route.js";

const t = words({
  zh: { none: "没有符合条件的内容。", clear: "清除条件", all: "{label}：全部", size: "每页 {n} 条" },
  en: { none: "Nothing matches.", clear: "Clear filters", all: "{label}: all", size: "{n} a page" },
});
const PAUSE = 250;  // ms after the last key before one searches
const SIZES = [20, 50, 100, 200];

// names: what may be asked for. load: ({...names, offset, limit}, signal) => data. fixed: asked for always.
export function useListing(route, names, load, { limit = 50, prefix = "", also = [] } = {}) {
  const at = (name) => route.query.get(prefix + name) || "";
  const asked = Object.fromEntries(names.map((name) => [name, at(name)]));
  const size = Number(at("limit")) || limit;
  const offset = Number(at("offset")) || 0;
  const state = useLoaded((signal) => load({ ...asked, offset, limit: size }, signal), [route.path, JSON.stringify(asked), offset, size, ...also]);
  const move = (values, replace) => {
    const query = Object.fromEntries(route.query);
    for (const [name, value] of Object.entries(values)) query[prefix + name] = value;
    go(route.path, query, { replace });
  };
  return {
    ...state, asked, offset, limit: size, sizes: [...new Set([...SIZES, limit])].sort((a, b) => a - b),
    filtered: names.some((name) => asked[name]),
    change: (values, replace) => move({ ...values, offset: "" }, replace),
    clear: () => move({ ...Object.fromEntries(names.map((name) => [name, ""])), offset: "" }),
    moveTo: (value) => { move({ offset: value }); scrollTo({ top: 0 }); },
    resize: (value) => move({ limit: value === limit ? "" : value, offset: "" }),
  };
}

// A field that searches while one types, once the typing pauses.
export function Search({ list, name = "q", label }) {
  const [text, setText] = useState(list.asked[name]);
  const waiting = useRef();
  useEffect(() => setText(list.asked[name]), [list.asked[name]]);
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

// rowsOf: (data) => rows. empty: what is said where there is nothing at all yet. filters: vnodes above the list.
export function Listing({ list, caption, rowsOf, columns, keyOf, onOpen, empty, filters }) {
  const rows = list.data && rowsOf(list.data);
  return html`<div class="yd-stack">
    ${filters && html`<div class="ad-filters" role="search">${filters}
      ${list.filtered && html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${list.clear}>${t("clear")}</button>`}</div>`}
    ${list.error ? html`<${Failure} error=${list.error} retry=${list.reload} />`
    : !rows ? html`<div class="yd-card yd-empty"><${Spinner} /></div>`
    : rows.length === 0 ? html`<div class="yd-card"><${Empty}>${list.filtered ? t("none") : empty}<//></div>`
    : html`<div class="yd-card ad-table" aria-busy=${list.loading}><${Table} caption=${caption} columns=${columns} rows=${rows} keyOf=${keyOf} onOpen=${onOpen} /></div>`}
    ${list.data && list.data.total > Math.min(list.limit, SIZES[0]) && html`<div class="ad-pages"><div class="yd-grow"><${Pager} offset=${list.offset} limit=${list.limit} total=${list.data.total} onMove=${list.moveTo} /></div>
      <select class="yd-input ad-size" aria-label=${t("size", { n: list.limit })} value=${list.limit} onChange=${(event) => list.resize(Number(event.target.value))}>
        ${list.sizes.map((size) => html`<option value=${size}>${t("size", { n: size })}</option>`)}</select></div>`}
  </div>`;
}
