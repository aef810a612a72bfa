// What all pages are built of. Preact + htm; every component is a function of its properties.
import { html, render, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { words } from "./i18n.js";

const t = words({
  zh: { close: "关闭", retry: "重试", loading: "正在加载…", empty: "这里还没有内容", offline: "连不上服务器，请检查网络后重试。", wait: "请求太多，请在 {n} 秒后再试。", request: "请求编号 {id}" },
  en: { close: "Close", retry: "Retry", loading: "Loading…", empty: "Nothing here yet", offline: "The server cannot be reached. Check your connection and try again.", wait: "Too many requests. Try again in {n} seconds.", request: "Request {id}" },
});
// Of what only whole pages use; marked as pure so that the widget's bundle leaves it out.
const onPage = /* @__PURE__ */ words({
  zh: { cancel: "取消", confirm: "确认", previous: "上一页", next: "下一页", range: "第 {from}–{to} 条，共 {total} 条" },
  en: { cancel: "Cancel", confirm: "Confirm", previous: "Previous", next: "Next", range: "{from}–{to} of {total}" },
});

// What a person is told of an error.
export function told(error) {
  if (error.status === 0) return t("offline");
  if (error.status === 429 && error.retryAfter) return t("wait", { n: error.retryAfter });
  return error.message;
}

export const Spinner = () => html`<div class="yd-spinner" role="status" aria-label=${t("loading")}></div>`;

export const Failure = ({ error, retry }) => html`<div class="yd-notice" data-tone="bad" role="alert">
  <div>${told(error)}</div>
  ${error.requestId && html`<div class="yd-tiny yd-mono">${t("request", { id: error.requestId })}</div>`}
  ${retry && html`<button class="yd-btn yd-btn-small" onClick=${retry}>${t("retry")}</button>`}
</div>`;

export const Empty = ({ children }) => html`<div class="yd-empty">${children || t("empty")}</div>`;

export const Tag = ({ tone, children }) => html`<span class="yd-tag" data-tone=${tone}>${children}</span>`;

export const Field = ({ label, error, hint, children }) => html`<label class="yd-field"><span>${label}</span>${children}
  ${hint && html`<small class="yd-muted">${hint}</small>`}${error && html`<small class="yd-error" role="alert">${error}</small>`}</label>`;

// {data, error, loading, reload} of what `load(signal)` gives; asked again when one of `inputs` changes.
export function useLoaded(load, inputs) {
  const [state, setState] = useState({ loading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const aborting = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    load(aborting.signal).then(
      (data) => aborting.signal.aborted || setState({ data, loading: false }),
      (error) => aborting.signal.aborted || setState({ error, loading: false }),
    );
    return () => aborting.abort();
  }, [...inputs, round]);
  return { ...state, reload: () => setRound((value) => value + 1) };
}

// Shows children of what was loaded, or that it is loading, failed or empty.
export function Loaded({ state, empty, children }) {
  if (state.error) return html`<${Failure} error=${state.error} retry=${state.reload} />`;
  if (!state.data) return html`<div class="yd-empty"><${Spinner} /></div>`;
  return empty?.(state.data) ? html`<${Empty} />` : children(state.data);
}

// columns: [{ title, cell: (row) => vnode, numeric, name, sorted }], name being a class of the column, sorted what ARIA says of the order; keyOf: (row) => string;
// onOpen: (row) => void, by the mouse alone: keyboards need a link or button in a cell.
export const Table = ({ caption, columns, rows, keyOf, onOpen }) => html`<div class="yd-scroll" tabindex="0" role="region" aria-label=${caption}>
  <table class="yd-table">
    <caption class="yd-sr">${caption}</caption>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${inColumn(column)} aria-sort=${column.sorted}>${column.title}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${keyOf(row)} data-opens=${onOpen ? "" : undefined} onClick=${onOpen && ((event) => event.target.closest("a, button, input") || onOpen(row))}>
      ${columns.map((column) => html`<td class=${inColumn(column)}>${column.cell(row)}</td>`)}</tr>`)}</tbody>
  </table></div>`;

const inColumn = ({ numeric, name }) => [numeric && "yd-num", name].filter(Boolean).join(" ");

export function Pager({ offset, limit, total, onMove }) {
  if (total <= limit) return null;
  return html`<nav class="yd-row" aria-label=${onPage("range", { from: offset + 1, to: Math.min(offset + limit, total), total })}>
    <span class="yd-small yd-muted yd-grow yd-nums">${onPage("range", { from: offset + 1, to: Math.min(offset + limit, total), total })}</span>
    <button class="yd-btn yd-btn-small" disabled=${offset === 0} onClick=${() => onMove(Math.max(0, offset - limit))}>${onPage("previous")}</button>
    <button class="yd-btn yd-btn-small" disabled=${offset + limit >= total} onClick=${() => onMove(offset + limit)}>${onPage("next")}</button></nav>`;
}

const FIELD = "textarea:not([disabled]), select:not([disabled]), input:not([disabled]):not([type=checkbox]):not([type=hidden])";

// A modal dialog of the browser: its first field has the focus, it keeps the focus, closes by Escape, and gives the focus back.
export function Dialog({ title, wide, onClose, children }) {
  const element = useRef();
  useEffect(() => {
    element.current.showModal();
    element.current.querySelector(FIELD)?.focus();
  }, []);
  return html`<dialog ref=${element} class=${`yd-dialog ${wide ? "yd-dialog-wide" : ""}`} aria-label=${title} onClose=${onClose}>
    <div class="yd-stack"><div class="yd-row"><h2 class="yd-grow">${title}</h2>
      <button class="yd-btn yd-btn-quiet yd-btn-icon" aria-label=${t("close")} onClick=${onClose}>×</button></div>${children}</div></dialog>`;
}

// Asks before something is destroyed; resolves to whether it was confirmed.
export function confirmed({ title, text, action, danger = true }) {
  return new Promise((resolve) => {
    const place = document.body.appendChild(document.createElement("div"));
    const end = (answer) => { render(null, place); place.remove(); resolve(answer); };
    render(html`<${Dialog} title=${title} onClose=${() => end(false)}><p>${text}</p>
      <div class="yd-row yd-wrap"><span class="yd-grow"></span><button class="yd-btn" onClick=${() => end(false)}>${onPage("cancel")}</button>
      <button class=${`yd-btn ${danger ? "yd-btn-danger" : "yd-btn-primary"}`} onClick=${() => end(true)}>${action || onPage("confirm")}</button></div><//>`, place);
  });
}

// A short message at the foot of the page; errors stay longer and show their request id.
export function toast(message, tone) {
  let list = document.querySelector(".yd-toasts");
  if (!list) {
    list = document.body.appendChild(document.createElement("div"));
    list.className = "yd-toasts";
    list.setAttribute("role", "status");
  }
  const item = list.appendChild(document.createElement("div"));
  item.className = "yd-toast";
  const failed = message instanceof Error;
  if (failed || tone) item.dataset.tone = tone || "bad";
  item.textContent = failed ? told(message) + (message.requestId ? `（${t("request", { id: message.requestId })}）` : "") : message;
  setTimeout(() => item.remove(), failed ? 8000 : 3500);
}

// Runs what a button does, shows its error, and says whether it went well.
export async function attempt(work, success) {
  try {
    await work();
    if (success) toast(success, "good");
    return true;
  } catch (error) {
    toast(error);
    return false;
  }
}

export { html, render };
