// Documents: dropped in, listed, looked at; the imports that they came by.
import { ago, moment, number, words } from "../shared/i18n.js";
import { Tag, html } from "../shared/ui.js";
import { Bin } from "./document-bin.js";
import { Waiting } from "./document-versions.js";
import { Document } from "./document.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, options } from "./names.js";
import { Head, Tabs, bytes } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";
import { Upload, useUploads } from "./upload.js";

export const DOCUMENTS = "/api/v1/knowledge/documents";
const JOBS = "/api/v1/knowledge/jobs";

const t = words({
  zh: {
    title: "文档", text: "机器人只依据这里的内容回答。文档有变化，下一句回答就用新的。", list: "全部文档", imports: "导入记录", bin: "回收站", views: "文档的各页", search: "搜索文件名、目录或标题", importSearch: "搜索文件名",
    name: "文件", category: "分类", tags: "标签", chunks: "片段", version: "版本", size: "大小", changed: "更新于", status: "状态", ready: "可以检索", indexing: "建立索引中", expired: "不在有效期", draft: "只有草稿", valid: "有效期", validYes: "在有效期内", validNo: "不在有效期内",
    empty: "还没有文档。把文件拖到上面，几秒钟后就能回答其中的问题。", when: "导入于", files: "文件数", result: "结果", failed: "只看有失败的", noImports: "还没有导入过文件。", counts: "{state} {n}",
  },
  en: {
    title: "Documents", text: "The assistant answers from these alone. A change counts from the next answer on.", list: "All documents", imports: "Imports", bin: "Bin", views: "Pages of documents", search: "Search file name, folder or title", importSearch: "Search file names",
    name: "File", category: "Category", tags: "Tags", chunks: "Passages", version: "Version", size: "Size", changed: "Changed", status: "Status", ready: "Searchable", indexing: "Indexing", expired: "Not valid now", draft: "Drafts only", valid: "Validity", validYes: "Valid now", validNo: "Not valid now",
    empty: "No documents yet. Drop files above; their questions can be answered within seconds.", when: "Imported", files: "Files", result: "Result", failed: "With failures", noImports: "Nothing was imported yet.", counts: "{state} {n}",
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

const standing = (item) => (item.status !== "ready" ? ["accent", "indexing"] : !item.published ? ["", "draft"] : item.valid ? ["good", "ready"] : ["warn", "expired"]);
export const Standing = ({ item }) => html`<${Tag} tone=${standing(item)[0]}>${t(standing(item)[1])}<//>`;

function All({ route, manages, uploads }) {
  const list = useListing(route, ["q", "category", "tag", "status", "valid"], (query, signal) => server.get(DOCUMENTS, query, { signal }), { also: [uploads.taken] });
  const columns = [
    { title: t("name"), cell: (item) => html`<a href=${link(`documents/${item.id}`)}>${item.title || item.name}</a><span class="ad-sub">${item.path}</span>` },
    { title: t("category"), name: "ad-wide", cell: (item) => html`<div class="yd-row yd-wrap">${item.category && html`<a href=${link("documents", { category: item.category })}>${item.category}</a>`}${item.tags.map((tag) => html`<a class="yd-tag" href=${link("documents", { tag })}>${tag}</a>`)}</div>` },
    { title: t("chunks"), numeric: true, name: "ad-wide", cell: (item) => number(item.chunks) },
    { title: t("size"), numeric: true, name: "ad-wide", cell: (item) => bytes(item.size) },
    { title: t("changed"), name: "ad-wide", cell: (item) => html`<span class="ad-when" title=${moment(item.updated_at)}>${ago(item.updated_at)}</span>` },
    { title: t("status"), cell: (item) => html`<${Standing} item=${item} />` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    ${manages && html`<${Upload} uploads=${uploads} />`}
    <${Views} />
    <${Waiting} again=${uploads.taken} />
    <${Listing} list=${list} caption=${t("list")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(item) => item.id} onOpen=${(item) => go(`documents/${item.id}`)} empty=${t("empty")} filters=${html`
      <${Search} list=${list} label=${t("search")} />
      ${list.asked.category && html`<button class="yd-tag" onClick=${() => list.change({ category: "" })}>${t("category")} ${list.asked.category} ×</button>`}
      ${list.asked.tag && html`<button class="yd-tag" onClick=${() => list.change({ tag: "" })}>${t("tags")} ${list.asked.tag} ×</button>`}
      <${Choice} list=${list} name="status" label=${t("status")} options=${[["ready", t("ready")], ["indexing", t("indexing")]]} />
      <${Choice} list=${list} name="valid" label=${t("valid")} options=${[["true", t("validYes")], ["false", t("validNo")]]} />`} />`;
}

function Imports({ route, manages, uploads }) {
  const list = useListing(route, ["q", "failed"], (query, signal) => server.get(JOBS, query, { signal }), { limit: 20, also: [uploads.taken] });
  const columns = [
    { title: t("when"), cell: (job) => html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => uploads.follow(job.id)}>${moment(job.created_at)}</button>` },
    { title: t("files"), numeric: true, cell: (job) => number(job.files) },
    { title: t("result"), cell: (job) => html`<${Named} kind="job" value=${job.status} />` },
    { title: t("status"), name: "ad-wide", cell: (job) => html`<div class="yd-row yd-wrap">${options("file").filter(([state]) => job.counts[state]).map(([state, shown]) => html`<span class="yd-small yd-muted">${t("counts", { state: shown, n: job.counts[state] })}</span>`)}</div>` },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")} />
    ${manages && html`<${Upload} uploads=${uploads} />`}
    <${Views} view="imports" />
    <${Listing} list=${list} caption=${t("imports")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(job) => job.id} onOpen=${(job) => { uploads.follow(job.id); scrollTo({ top: 0 }); }} empty=${t("noImports")} filters=${html`
      <${Search} list=${list} label=${t("importSearch")} />
      <${Choice} list=${list} name="failed" label=${t("result")} options=${[["true", t("failed")]]} />`} />`;
}
