// One document: what is said of it, its passages, its versions.
import { moment, number, words } from "../shared/i18n.js";
import { Dialog, Empty, Failure, Field, Loaded, Pager, Tag, attempt, confirmed, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Correct, Corrections, Marks } from "./document-corrections.js";
import { Versions } from "./document-versions.js";
import { Standing } from "./documents.js";
import { Search, useListing } from "./listing.js";
import { Facts, Head, bytes } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const DOCUMENTS = "/api/v1/knowledge/documents";

const t = words({
  zh: {
    back: "全部文档", file: "文件", category: "分类", tags: "标签", url: "原文网址", from: "生效", until: "失效", size: "大小", type: "类型", version: "版本", updated: "更新于", created: "加入于", external: "外部编号", hash: "内容摘要", chunks: "片段", about: "这篇文档",
    edit: "修改", disable: "停用", enable: "启用", original: "下载原文件", remove: "删除", removeTitle: "删除《{name}》？", removeText: "它的 {n} 个片段和全部版本会放进回收站，机器人马上不再用它回答。期限之内可以在“回收站”里恢复。", removed: "已删除", removing: "已删除，索引还在更新",
    passages: "片段", passageText: "机器人引用的就是这些片段。", search: "在片段里找", page: "第 {n} 页", asks: "问：", why: "为什么搜不到这一段",
    editTitle: "修改归类与有效期", folder: "目录", tagsHint: "用逗号分隔", urlHint: "回答里的来源可以链接到这里", folderHint: "留空为最上层", untilHint: "到这时起检索不到", save: "保存", saved: "已保存", none: "没有片段。", noMatch: "没有符合的片段。", try: "拿它试一问",
  },
  en: {
    back: "All documents", file: "File", category: "Category", tags: "Tags", url: "Address", from: "Valid from", until: "Valid until", size: "Size", type: "Type", version: "Version", updated: "Changed", created: "Added", external: "External id", hash: "Digest", chunks: "Passages", about: "This document",
    edit: "Edit", disable: "Disable", enable: "Enable", original: "Download original", remove: "Delete", removeTitle: "Delete {name}?", removeText: "Its {n} passages and all versions go to the bin, and the assistant stops answering from it at once. Until they are erased there, they can be restored.", removed: "Deleted", removing: "Deleted, the index is still at work",
    passages: "Passages", passageText: "These are what the assistant cites.", search: "Find in passages", page: "Page {n}", asks: "Q:", why: "Why is this not found",
    editTitle: "Edit filing and validity", folder: "Folder", tagsHint: "Comma-separated", urlHint: "Sources in answers can link here", folderHint: "Empty for the top", untilHint: "Not found from then on", save: "Save", saved: "Saved", none: "No passages.", noMatch: "No passage matches.", try: "Try a question on it",
  },
});

export function Document({ route, manages }) {
  const id = route.id;
  const state = useLoaded((signal) => server.get(`${DOCUMENTS}/${id}`, {}, { signal }), [id]);
  const [editing, setEditing] = useState(false);
  const [corrected, setCorrected] = useState(0);
  const again = () => setCorrected((times) => times + 1);
  const back = { href: link("documents"), title: t("back") };
  if (!state.data) return html`<${Head} title=${t("about")} back=${back} /><${Loaded} state=${state} />`;
  const { document, versions } = state.data;
  const toggle = async () => { if (await attempt(() => server.patch(`${DOCUMENTS}/${id}`, { disabled: !document.disabled }), t("saved"))) state.reload(); };
  const remove = async () => {
    if (!await confirmed({ title: t("removeTitle", { name: document.name }), text: t("removeText", { n: number(document.chunks) }), action: t("remove") })) return;
    await attempt(async () => {
      const response = await server.raw("DELETE", `${DOCUMENTS}/${id}`);
      toast(response.status === 204 ? t("removed") : t("removing"), "good");
      go("documents");
    });
  };
  const labels = [
    [t("file"), document.path], [t("category"), document.category], [t("tags"), document.tags.length > 0 && html`<span class="yd-row yd-wrap">${document.tags.map((tag) => html`<${Tag}>${tag}<//>`)}</span>`],
    [t("url"), document.url && html`<a href=${document.url} target="_blank" rel="noopener noreferrer">${document.url}</a>`],
    [t("from"), document.valid_from && moment(document.valid_from)], [t("until"), document.valid_until && moment(document.valid_until)], [t("chunks"), number(document.chunks)],
    [t("size"), bytes(document.size)], [t("type"), document.media_type], [t("version"), String(document.version)], [t("updated"), moment(document.updated_at)], [t("created"), moment(document.created_at)],
    [t("external"), document.external_id], [t("hash"), html`<span class="yd-mono yd-tiny">${document.content_hash.slice(0, 16)}…</span>`],
  ];
  return html`<${Head} title=${document.title || document.name} back=${back}>
      <a class="yd-btn" href=${link("hit-test", { document: id })}>${t("try")}</a>
      <a class="yd-btn" href=${`${DOCUMENTS}/${id}/original`} download=${document.name}>${t("original")}</a>
      ${manages && html`<button class="yd-btn" onClick=${() => setEditing(true)}>${t("edit")}</button><button class="yd-btn" onClick=${toggle}>${t(document.disabled ? "enable" : "disable")}</button><button class="yd-btn yd-btn-danger" onClick=${remove}>${t("remove")}</button>`}<//>
    <div class="ad-two"><${Passages} route=${route} id=${id} version=${`${document.version} ${corrected}`} manages=${manages} changed=${again} />
      <aside class="yd-stack"><section class="yd-card"><div class="ad-card-title"><h2 class="yd-grow">${t("about")}</h2><${Standing} item=${document} /></div><${Facts} facts=${labels} /></section>
      <${Versions} path=${`${DOCUMENTS}/${id}`} document=${document} versions=${versions} manages=${manages} changed=${state.reload} />
      <${Corrections} path=${`${DOCUMENTS}/${id}`} manages=${manages} again=${`${document.version} ${corrected}`} changed=${again} /></aside></div>
    ${editing && html`<${Edit} document=${document} onClose=${() => setEditing(false)} onSaved=${() => { setEditing(false); state.reload(); }} />`}`;
}

function Passages({ route, id, version, manages, changed }) {
  const list = useListing(route, ["q"], (query, signal) => server.get(`${DOCUMENTS}/${id}/chunks`, query, { signal }), { limit: 20, also: [version] });
  return html`<section class="yd-card"><div class="ad-card-title yd-wrap"><h2 class="yd-grow">${t("passages")}</h2><${Search} list=${list} label=${t("search")} /></div>
    ${list.error ? html`<${Failure} error=${list.error} retry=${list.reload} />` : html`<${Loaded} state=${list}>${(data) => (data.items.length === 0 ? html`<${Empty}>${list.filtered ? t("noMatch") : t("none")}<//>` : html`<ol class="ad-list" aria-busy=${list.loading}>${data.items.map((chunk) => html`<li key=${chunk.id} class="yd-stack">
      <div class="yd-row yd-wrap yd-small yd-muted"><span class="yd-nums">#${chunk.ordinal + 1}</span><span class="yd-grow">${chunk.heading_path.join(" › ")}${chunk.page ? ` · ${t("page", { n: chunk.page })}` : ""}</span>
        <${Marks} chunk=${chunk} />${!chunk.excluded && html`<a href=${link("hit-test", { chunk: chunk.id, document: id })}>${t("why")}</a>`}${manages && html`<${Correct} path=${`${DOCUMENTS}/${id}`} chunk=${chunk} changed=${changed} />`}</div>
      ${chunk.question && html`<p><strong>${t("asks")}</strong>${chunk.question}</p>`}<p class="ad-text yd-small">${chunk.text}</p></li>`)}</ol>
      <${Pager} offset=${list.offset} limit=${list.limit} total=${data.total} onMove=${list.moveTo} />`)}<//>`}</section>`;
}

const local = (iso) => (iso ? new Date(Date.parse(iso) - new Date(iso).getTimezoneOffset() * 60000).toISOString().slice(0, 16) : "");
const utc = (text) => (text ? new Date(text).toISOString() : null);

function Edit({ document, onClose, onSaved }) {
  const [values, setValues] = useState({ category: document.category, tags: document.tags.join("，"), url: document.url || "", folder: document.folder, valid_from: local(document.valid_from), valid_until: local(document.valid_until) });
  const [state, setState] = useState({});
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const field = (name, label, hint, type = "text") => html`<${Field} label=${label} hint=${hint}><input class="yd-input" type=${type} value=${values[name]} onInput=${set(name)} /><//>`;
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const { category, tags, url, folder, valid_from, valid_until } = values;
    const body = { category, tags: tags.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean), url: url.trim() || null, valid_from: utc(valid_from), valid_until: utc(valid_until) };
    if (folder !== document.folder) body.folder = folder;
    try {
      await server.patch(`${DOCUMENTS}/${document.id}`, body);
      toast(t("saved"), "good");
      onSaved();
    } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${t("editTitle")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <div class="ad-fields">${field("category", t("category"))}${field("tags", t("tags"), t("tagsHint"))}</div>
    <div class="ad-fields">${field("folder", t("folder"), t("folderHint"))}${field("url", t("url"), t("urlHint"))}</div>
    <div class="ad-fields">${field("valid_from", t("from"), "", "datetime-local")}${field("valid_until", t("until"), t("untilHint"), "datetime-local")}</div>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("save")}</button></div></form><//>`;
}
