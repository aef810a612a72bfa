// Curated answers: those there are, writing one, taking many in and out as a file.
import { moment, number, words } from "../shared/i18n.js";
import { SAFE } from "../shared/markdown.js";
import { Dialog, Failure, Field, Tag, attempt, confirmed, html, toast } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { FaqFiles } from "./faq-files.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Head } from "./page.js";
import { server } from "./server.js";

export const FAQS = "/api/v1/knowledge/faqs";
const t = words({
  zh: {
    title: "精选问答", text: "一问一答，原样给顾客，不经大模型。发布即生效，收回也是。", search: "搜索问题、相似问和答案", question: "问题", answer: "答案", variants: "相似问", buttons: "按钮", state: "状态", hits: "命中", updated: "改动", add: "添加", edit: "修改", save: "保存并发布", draft: "存为草稿", remove: "删除", removeTitle: "删除“{name}”？", removeText: "它不再回答顾客，命中数也一起删除。", removed: "已删除", publish: "发布", unpublish: "改为草稿", removeSome: "删除 {n} 条精选问答？", published: "已发布", drafted: "草稿", saved: "已生效", kept: "草稿已保存", later: "已保存，索引还在更新", empty: "还没有精选问答。可以一条条添加，或导入表格。", others: "另有 {n} 种问法", count: "{n} 个按钮",
    hintVariants: "每行一种问法，最多 50 种", hintButtons: "每行一个：文字 | 网址，或 文字 | 替顾客发送的话；最多 5 个", hintAnswer: "最多 2000 字",
  },
  en: {
    title: "Curated answers", text: "Questions answered word for word, by no model. In force once published, and no longer once taken back.", search: "Search questions, wordings and answers", question: "Question", answer: "Answer", variants: "Other wordings", buttons: "Buttons", state: "State", hits: "Hits", updated: "Changed", add: "Add", edit: "Edit", save: "Save and publish", draft: "Save as a draft", remove: "Delete", removeTitle: "Delete “{name}”?", removeText: "It no longer answers customers; its hits go with it.", removed: "Deleted", publish: "Publish", unpublish: "Make drafts", removeSome: "Delete {n} entries?", published: "Published", drafted: "Draft", saved: "In force", kept: "Draft saved", later: "Saved; the index is following", empty: "No entries yet. Add them one by one, or take in a table.", others: "{n} other wordings", count: "{n} buttons",
    hintVariants: "One a line, 50 at most", hintButtons: "One a line: label | address, or label | what to send for the customer; 5 at most", hintAnswer: "2000 characters at most",
  },
});

export function Faqs({ route, manages }) {
  const list = useListing(route, ["q", "state"], (query, signal) => server.get(FAQS, query, { signal }));
  const [editing, setEditing] = useState(null);
  const close = (changed) => { setEditing(null); if (changed) list.reload(); };
  const remove = async (entry) => {
    if (!await confirmed({ title: t("removeTitle", { name: entry.question }), text: t("removeText"), action: t("remove") })) return;
    await attempt(() => server.delete(`${FAQS}/${entry.id}`), t("removed"));
    list.reload();
  };
  const columns = [
    { title: t("question"), sort: "question", text: (entry) => [entry.question, ...entry.variants].join("；"), cell: (entry) => html`<span class="ad-text">${entry.question}</span>${entry.variants.length > 0 && html`<span class="ad-sub">${t("others", { n: number(entry.variants.length) })}</span>`}` },
    { title: t("answer"), name: "ad-wide", text: (entry) => entry.answer, cell: (entry) => html`<span class="ad-text">${entry.answer}</span>${entry.buttons.length > 0 && html`<span class="ad-sub">${t("count", { n: number(entry.buttons.length) })}</span>`}` },
    { title: t("state"), text: (entry) => t(entry.state === "draft" ? "drafted" : "published"), cell: (entry) => html`<${Tag} tone=${entry.state === "draft" ? "" : "good"}>${t(entry.state === "draft" ? "drafted" : "published")}<//>` },
    { title: t("hits"), numeric: true, sort: "hits", text: (entry) => entry.hits, cell: (entry) => number(entry.hits) },
    { title: t("updated"), name: "ad-wide", sort: "updated", latest: true, text: (entry) => entry.updated_at, cell: (entry) => html`<span class="ad-when">${moment(entry.updated_at)}</span>` },
    ...(manages ? [{ title: t("edit"), cell: (entry) => html`<span class="yd-row"><button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => setEditing(entry)}>${t("edit")}</button><button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => remove(entry)}>${t("remove")}</button></span>` }] : []),
  ];
  const set = (draft) => ({ id, question, answer, variants, buttons, state }) => (state === "draft") !== draft && server.put(`${FAQS}/${id}`, { question, answer, variants, buttons, draft });
  const bulk = manages ? [{ title: t("publish"), run: set(false) }, { title: t("unpublish"), run: set(true) },
    { title: t("remove"), danger: true, run: (entry) => server.delete(`${FAQS}/${entry.id}`), sure: (rows) => ({ title: t("removeSome", { n: number(rows.length) }), text: t("removeText") }) }] : [];
  const filters = html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="state" label=${t("state")} options=${[["published", t("published")], ["draft", t("drafted")]]} />`;
  return html`<${Head} title=${t("title")} text=${t("text")}><${FaqFiles} path=${FAQS} may=${manages} onChange=${list.reload} />${manages && html`<button class="yd-btn yd-btn-primary" onClick=${() => setEditing({})}>${t("add")}</button>`}<//>
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(entry) => entry.id} nameOf=${(entry) => entry.question} file="faqs" bulk=${bulk} empty=${t("empty")} next=${manages && html`<button class="yd-btn yd-btn-primary" onClick=${() => setEditing({})}>${t("add")}</button>`} filters=${filters} />
    ${editing && html`<${Editing} entry=${editing} onClose=${close} />`}`;
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

// What a line of the buttons says: {label, url} or {label, message}.
function button(line) {
  const [label, ...rest] = line.split("|");
  const does = rest.join("|").trim();
  return SAFE.test(does) ? { label: label.trim(), url: does } : { label: label.trim(), message: does };
}

function Editing({ entry, onClose }) {
  const [state, setState] = useState({});
  const save = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const draft = event.submitter?.value === "draft";
    const body = { question: form.get("question"), answer: form.get("answer"), variants: lines(form.get("variants")), buttons: lines(form.get("buttons")).map(button), draft };
    setState({ busy: true });
    try {
      const response = await (entry.id ? server.raw("PUT", `${FAQS}/${entry.id}`, { body }) : server.raw("POST", FAQS, { body }));
      toast(t(response.status === 202 ? "later" : draft ? "kept" : "saved"), "good");
      onClose(true);
    } catch (error) { setState({ error }); }
  };
  const shown = (entry.buttons || []).map(({ label, url, message }) => `${label} | ${url || message}`).join("\n");
  return html`<${Dialog} wide title=${t(entry.id ? "edit" : "add")} onClose=${() => onClose(false)}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("question")}><input class="yd-input" name="question" required maxlength="200" defaultValue=${entry.question || ""} /><//>
    <${Field} label=${t("answer")} hint=${t("hintAnswer")}><textarea class="yd-input" name="answer" required maxlength="2000" rows="5" defaultValue=${entry.answer || ""}></textarea><//>
    <${Field} label=${t("variants")} hint=${t("hintVariants")}><textarea class="yd-input" name="variants" rows="4" defaultValue=${(entry.variants || []).join("\n")}></textarea><//>
    <${Field} label=${t("buttons")} hint=${t("hintButtons")}><textarea class="yd-input" name="buttons" rows="2" defaultValue=${shown}></textarea><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row yd-wrap"><span class="yd-grow"></span><button class="yd-btn" value="draft" disabled=${state.busy}>${t("draft")}</button><button class="yd-btn yd-btn-primary" value="published" disabled=${state.busy}>${t("save")}</button></div></form><//>`;
}
