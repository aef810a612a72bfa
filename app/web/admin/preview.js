// What a file would be cut into, with sizes to try, before it is taken in.
import { number, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Spinner, html } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { server } from "./server.js";

const PREVIEW = "/api/v1/knowledge/documents/preview";
const SIZES = ["min_tokens", "max_tokens", "overlap_tokens"];
const t = words({
  zh: {
    title: "导入之前看一看", file: "文件", min_tokens: "每段至少（token）", max_tokens: "每段至多（token）", overlap_tokens: "相邻两段重叠（token）", again: "换成这样切", total: "切成 {n} 段", part: "前 {n} 段", page: "第 {n} 页", question: "问：", sizes: "试别的大小", sizesText: "只在这里试。导入用的是安装时的设置：CHUNK_MIN_TOKENS、CHUNK_MAX_TOKENS、CHUNK_OVERLAP_TOKENS。", take: "导入 {n} 个文件", cancel: "不导入", product: "产品：{product} {version}",
  },
  en: {
    title: "Before it is imported", file: "File", min_tokens: "At least (tokens)", max_tokens: "At most (tokens)", overlap_tokens: "Overlap of neighbours (tokens)", again: "Cut like this", total: "{n} passages", part: "The first {n}", page: "Page {n}", question: "Q:", sizes: "Try other sizes", sizesText: "Tried here alone. Imports go by the settings of the installation: CHUNK_MIN_TOKENS, CHUNK_MAX_TOKENS, CHUNK_OVERLAP_TOKENS.", take: "Import {n} files", cancel: "Do not import", product: "Product: {product} {version}",
  },
});

// entries: [{file, path}]; onTake: takes them in; onClose: leaves them.
export function Preview({ entries, onTake, onClose }) {
  const [place, setPlace] = useState(0);
  const [sizes, setSizes] = useState({});
  const [tried, setTried] = useState({});
  const [state, setState] = useState({ busy: true });
  useEffect(() => {
    const aborting = new AbortController();
    const body = new FormData();
    body.append("files", entries[place].file, entries[place].file.name);
    body.append("paths", entries[place].path);
    setState((before) => ({ ...before, busy: true, error: null }));
    server.upload(PREVIEW, body, { query: tried, signal: aborting.signal }).then((found) => setState({ found }), (error) => aborting.signal.aborted || setState({ error }));
    return () => aborting.abort();
  }, [place, tried]);
  const { found } = state;
  const again = (event) => { event.preventDefault(); setTried(sizes); };
  return html`<${Dialog} title=${t("title")} wide=${true} onClose=${onClose}>
    ${entries.length > 1 && html`<${Field} label=${t("file")}><select class="yd-input" value=${place} onChange=${(event) => { setState({ busy: true }); setPlace(Number(event.target.value)); }}>${entries.map((entry, at) => html`<option value=${at}>${entry.path}</option>`)}</select><//>`}
    ${state.error && html`<${Failure} error=${state.error} />`}${state.busy && !found && html`<${Spinner} />`}
    ${found && html`<div class="yd-stack" aria-busy=${state.busy}><p><strong>${found.title || found.name}</strong> · ${t("total", { n: number(found.total) })}${found.product && html` · ${t("product", { product: found.product, version: found.product_version })}`}</p>
      ${found.notices.map((notice) => html`<p class="yd-notice" data-tone="warn">${notice}</p>`)}
      <details><summary>${t("sizes")}</summary><form class="yd-stack" onSubmit=${again}><p class="yd-small yd-muted">${t("sizesText")}</p><div class="ad-fields">${SIZES.map((name) => html`<${Field} label=${t(name)}><input class="yd-input" type="number" name=${name} min="0" max="4000" value=${sizes[name] ?? found[name]} onInput=${(event) => setSizes({ ...sizes, [name]: event.target.value })} /><//>`)}</div><div><button class="yd-btn yd-btn-small" disabled=${state.busy}>${t("again")}</button></div></form></details>
      <ol class="ad-pieces" tabindex="0" aria-label=${t("total", { n: number(found.total) })}>${found.chunks.map((chunk) => html`<li><div class="yd-small yd-muted">${[...chunk.heading_path, chunk.page && t("page", { n: chunk.page })].filter(Boolean).join(" › ")}</div>${chunk.question && html`<div><strong>${t("question")}</strong> ${chunk.question}</div>`}<div class="ad-text">${chunk.text}</div></li>`)}</ol>${found.total > found.chunks.length && html`<p class="yd-small yd-muted">${t("part", { n: number(found.chunks.length) })}</p>`}</div>`}
    <div class="yd-row yd-wrap"><span class="yd-grow"></span><button class="yd-btn" onClick=${onClose}>${t("cancel")}</button><button class="yd-btn yd-btn-primary" onClick=${onTake}>${t("take", { n: number(entries.length) })}</button></div><//>`;
}
