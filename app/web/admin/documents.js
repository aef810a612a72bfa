// Documents: dropped in, listed, looked at; the imports that they came by.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Tag, html } from "../shared/ui.js";
import { Bin } from "./document-bin.js";
import { Waiting } from "./document-versions.js";
import { Document } from "./document.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head, Tabs, bytes } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { Upload, useUploads } from "./upload.js";

export const DOCUMENTS = "/api/v1/knowledge/documents";
const JOBS = "/api/v1/knowledge/jobs";

const t = words({
  zh: {
    title: "文档", text: "机器人只依据这里的内容回答。文档有变化，下一句回答就用新的。", list: "全部文档", imports: "导入记录", bin: "回收站", views: "文档的各页", search: "搜索文件名、目录或标题", importSearch: "搜索文件名",
    name: "文件", category: "分类", tags: "标签", chunks: "片段", version: "版本", size: "大小", changed: "更新于", status: "状态", ready: "可以检索", indexing: "建立索引中", expired: "不在有效期", disabled: "已停用", disable: "停用", enable: "启用", reread: "重新索引", remove: "删除", removeTitle: "删除 {n} 篇文档？", removeText: "它们会放进回收站，机器人马上不再用它们回答；期限之内可以恢复。", disableTitle: "停用 {n} 篇文档？", disableText: "机器人马上不再用它们回答；内容、版本和有效期都在，随时可以启用。", rereading: "重新索引已经开始，进度看“定时任务”", standing: "停用", only: "只看停用的", without: "不看停用的", draft: "只有草稿", valid: "有效期", validYes: "在有效期内", validNo: "不在有效期内",
    empty: "还没有文档。把文件拖到上面，几秒钟后就能回答其中的问题。", follow: "或跟着一个网站更新", when: "导入于", files: "文件数", result: "结果", failed: "只看有失败的", noImports: "还没有导入过文件。", counts: "{state} {n}",
  },
  en: {
    title: "Documents", text: "The assistant answers from these alone. A change counts from the next answer on.", list: "All documents", imports: "Imports", bin: "Bin", views: "Pages of documents", search: "Search file name, folder or title", importSearch: "Search file names",
    name: "File", category: "Category", tags: "Tags", chunks: "Passages", version: "Version", size: "Size", changed: "Changed", status: "Status", ready: "Searchable", indexing: "Indexing", expired: "Not valid now", disabled: "Disabled", disable: "Disable", enable: "Enable", reread: "Index anew", remove: "Delete", removeTitle: "Delete {n} documents?", removeText: "They go to the bin, and the assistant stops answering from them at once; until they are erased there they can be restored.", disableTitle: "Disable {n} documents?", disableText: "The assistant stops answering from them at once. Content, versions and validity stay, and they can be enabled at any time.", rereading: "They are indexed anew; see Jobs for the progress", standing: "Disabled", only: "Disabled ones", without: "Without disabled ones", draft: "Drafts only", valid: "Validity", validYes: "Valid now", validNo: "Not valid now",
    empty: "No documents yet. Drop files above; their questions can be answered within seconds.", follow: "Or follow a website", when: "Imported", files: "Files", result: "Result", failed: "With failures", noImports: "Nothing was imported yet.", counts: "{state} {n}",
  },
});

export function Documents(props) {
  const uploads = useUploads();
  const { route } = props;
  if (route.id === "imports") return html`<${Imports} ...${props} uploads=${uploads} />`;
  if (route.id === "bin") return html`<${Head} title=${t("title")} text=${t("text")} /><${Views} view="bin" /><${Bin} ...${props} />`;
  if (route.id) return html`<${Document} key=${route.id} ...${props} />`;
  return html`<${All} ...${props} uploads=${uploads} />`;
}

const Views = ({ view }) => html`<${Tabs} label=${t("views")} tabs=${[
  { title: t("list"), href: link("documents"), current: !view }, { title: t("imports"), href: link("documents/imports"), current: view === "imports" },
  { title: t("bin"), href: link("documents/bin"), current: view === "bin" }]} />`;

const standing = (item) => (item.disabled ? ["bad", "disabled"] : item.status !== "ready" ? ["accent", "indexing"] : !item.published ? ["", "draft"] : item.valid ? ["good", "ready"] : ["warn", "expired"]);
export const Standing = ({ item }) => html`<${Tag} tone=${standing(item)[0]}>${t(standing(item)[1])}<//>`;

function All({ route, manages, uploads }) {
  const list = useListing(route, ["q", "category", "tag", "status", "valid", "disabled"], (query, signal) => server.get(DOCUMENTS, query, { signal }), { also: [uploads.taken] });
  const columns = [
    { title: t("name"), sort: "name", text: (item) => item.title || item.name, cell: (item) => html`<a href=${link(`documents/${item.id}`)}>${item.title || item.name}</a><span class="ad-sub">${item.path}</span>` },
    { title: t("category"), name: "ad-wide", sort: "category", text: (item) => [item.category, ...item.tags].filter(Boolean).join("、"), cell: (item) => html`<div class="yd-row yd-wrap">${item.category && html`<a href=${link("documents", { category: item.category })}>${item.category}</a>`}${item.tags.map((tag) => html`<a class="yd-tag" href=${link("documents", { tag })}>${tag}</a>`)}</div>` },
    { title: t("chunks"), numeric: true, name: "ad-wide", sort: "chunks", text: (item) => item.chunks, cell: (item) => number(item.chunks) },
    { title: t("size"), numeric: true, name: "ad-wide", sort: "size", text: (item) => item.size, cell: (item) => bytes(item.size) },
    { title: t("changed"), name: "ad-wide", sort: "updated", latest: true, text: (item) => item.updated_at, cell: (item) => html`<span class="ad-when" title=${moment(item.updated_at)}>${ago(item.updated_at)}</span>` },
    { title: t("status"), text: (item) => t(standing(item)[1]), cell: (item) => html`<${Standing} item=${item} />` },
  ];
  const set = (disabled) => (item) => item.disabled !== disabled && server.patch(`${DOCUMENTS}/${item.id}`, { disabled });
  const bulk = manages ? [
    { title: t("enable"), run: set(false) },
    { title: t("disable"), run: set(true), sure: (rows) => ({ title: t("disableTitle", { n: rows.length }), text: t("disableText"), danger: false }) },
    { title: t("reread"), together: (rows) => server.post("/api/v1/jobs/reread/runs", { parameters: { documents: rows.map((item) => item.id) } }), said: t("rereading") },
    { title: t("remove"), danger: true, run: (item) => server.raw("DELETE", `${DOCUMENTS}/${item.id}`), sure: (rows) => ({ title: t("removeTitle", { n: rows.length }), text: t("removeText") }) },
  ] : [];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    ${manages && html`<${Upload} uploads=${uploads} />`}
    <${Views} />
    <${Waiting} again=${uploads.taken} />
    <${Listing} list=${list} caption=${t("list")} columns=${columns} file="documents" bulk=${bulk} rowsOf=${(data) => data.items} keyOf=${(item) => item.id} nameOf=${(item) => item.title || item.name} onOpen=${(item) => go(`documents/${item.id}`)} empty=${t("empty")} next=${manages && html`<a class="yd-btn" href=${link("sources")}>${t("follow")}</a>`} filters=${html`
      <${Search} list=${list} label=${t("search")} />
      ${list.asked.category && html`<button class="yd-tag" onClick=${() => list.change({ category: "" })}>${t("category")} ${list.asked.category} ×</button>`}
      ${list.asked.tag && html`<button class="yd-tag" onClick=${() => list.change({ tag: "" })}>${t("tags")} ${list.asked.tag} ×</button>`}
      <${Choice} list=${list} name="status" label=${t("status")} options=${[["ready", t("ready")], ["indexing", t("indexing")]]} />
      <${Choice} list=${list} name="valid" label=${t("valid")} options=${[["true", t("validYes")], ["false", t("validNo")]]} />
      <${Choice} list=${list} name="disabled" label=${t("standing")} options=${[["true", t("only")], ["false", t("without")]]} />`} />`;
}

function Imports({ route, manages, uploads }) {
  const list = useListing(route, ["q", "failed"], (query, signal) => server.get(JOBS, query, { signal }), { limit: 20, most: 100, also: [uploads.taken] });
  const columns = [
    { title: t("when"), text: (job) => job.created_at, cell: (job) => html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => uploads.follow(job.id)}>${moment(job.created_at)}</button>` },
    { title: t("files"), numeric: true, text: (job) => job.files, cell: (job) => number(job.files) },
    { title: t("result"), text: (job) => named("job", job.status), cell: (job) => html`<${Named} kind="job" value=${job.status} />` },
    { title: t("status"), name: "ad-wide", cell: (job) => html`<div class="yd-row yd-wrap">${options("file").filter(([state]) => job.counts[state]).map(([state, shown]) => html`<span class="yd-small yd-muted">${t("counts", { state: shown, n: job.counts[state] })}</span>`)}</div>` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    ${manages && html`<${Upload} uploads=${uploads} />`}
    <${Views} view="imports" />
    <${Listing} list=${list} caption=${t("imports")} columns=${columns} file="imports" rowsOf=${(data) => data.items} keyOf=${(job) => job.id} onOpen=${(job) => { uploads.follow(job.id); scrollTo({ top: 0 }); }} empty=${t("noImports")} filters=${html`
      <${Search} list=${list} label=${t("importSearch")} />
      <${Choice} list=${list} name="failed" label=${t("result")} options=${[["true", t("failed")]]} />`} />`;
}
