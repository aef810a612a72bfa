// One gap: its questions in context, what lies near, and its way to an answer.
import { moment, number, words } from "../shared/i18n.js";
import { Field, Loaded, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Named, Reasons, named } from "./names.js";
import { Facts, Head } from "./page.js";
import { go, link } from "./route.js";
import { server } from "./server.js";

const GAPS = "/api/v1/knowledge/gaps";
const WAITING = ["open", "drafted", "in_review"];
const t = words({
  zh: {
    back: "全部缺口", answer: "答案", question: "标准问法", reply: "给顾客的回答", variants: "相似问，每行一个", draft: "起草", again: "重新起草", againText: "现在的草稿会被换掉。", save: "保存草稿", submit: "提交审核", approve: "通过并发布", reject: "退回", dismiss: "不处理", reopen: "重新打开", reopenText: "已发布的精选问答和回归用例会撤下，草稿保留。", note: "意见（记入历史）", edited: "改过的草稿要先保存，再提交审核。", saved: "已保存", done: "已完成", published: "已发布为精选问答", open: "打开",
    questions: "顾客怎么问的", handoff: "转了人工", before: "之前：", session: "会话", near: "知识库里最接近的", none: "没有接近的内容。", history: "历史", about: "这个缺口", why: "为什么算缺口", customers: "多少人问过", asked: "问过", week: "近 7 天", weekBefore: "前 7 天", handoffs: "转人工", last: "最近一次", author: "作者", approver: "审核人", origin: "来自", merge: "并入另一个缺口", mergeDo: "并入", choose: "选一个", merged: "已并入",
  },
  en: {
    back: "All gaps", answer: "Answer", question: "Question", reply: "Answer to customers", variants: "Other wordings, one a line", draft: "Draft", again: "Draft anew", againText: "The draft that is there is replaced.", save: "Save draft", submit: "Submit", approve: "Approve and publish", reject: "Send back", dismiss: "Dismiss", reopen: "Reopen", reopenText: "A published answer and its regression case are taken back; the draft stays.", note: "Note (for the history)", edited: "A changed draft is saved first, and submitted again.", saved: "Saved", done: "Done", published: "Published as a curated answer", open: "Open",
    questions: "How customers asked", handoff: "Called a person", before: "Before: ", session: "Conversation", near: "Nearest in the knowledge base", none: "Nothing lies near.", history: "History", about: "This gap", why: "Why it is one", customers: "Asked by", asked: "Asked", week: "Last 7 days", weekBefore: "The 7 before", handoffs: "Handoffs", last: "Last", author: "Author", approver: "Approved by", origin: "Made of", merge: "Merge into another gap", mergeDo: "Merge", choose: "Choose", merged: "Merged",
  },
});

export function Gap({ route, manages }) {
  const address = `${GAPS}/${route.id}`;
  const state = useLoaded((signal) => server.get(address, {}, { signal }), [route.id]);
  const back = { href: link("gaps"), title: t("back") };
  if (!state.data) return html`<${Head} title=${t("about")} back=${back} /><${Loaded} state=${state} />`;
  const gap = state.data;
  const version = gap.history.length;
  return html`<${Head} title=${gap.question} back=${back}><${Named} kind="gap" value=${gap.state} />${gap.merged_into && html`<a class="yd-btn yd-btn-small" href=${link(`gaps/${gap.merged_into}`)}>${t("open")}</a>`}<//>
    <div class="ad-two"><div class="yd-stack"><${Answer} key=${version} gap=${gap} address=${address} may=${manages} reload=${state.reload} /><${Questions} gap=${gap} /></div>
    <aside class="yd-stack"><section class="yd-card yd-stack"><h2>${t("about")}</h2><${Facts} facts=${facts(gap)} /></section>
      ${manages && WAITING.includes(gap.state) && html`<${Merge} gap=${gap} address=${address} />`}
      <section class="yd-card yd-stack"><h2>${t("near")}</h2>${gap.near.length === 0 ? html`<p class="yd-small yd-muted">${t("none")}</p>` : gap.near.map((one) => html`<div key=${one.document_id}><strong class="yd-small">${one.title}${one.heading && ` · ${one.heading}`}</strong><p class="ad-text yd-small">${one.text}</p></div>`)}</section>
      <section class="yd-card"><h2>${t("history")}</h2><ol class="ad-list">${gap.history.map((event, place) => html`<li key=${place}><div class="yd-row yd-wrap yd-small"><strong>${named("gapEvent", event.event)}</strong><span class="yd-muted">${event.actor} · ${moment(event.at)}</span></div>${event.note && html`<p class="ad-text yd-small">${event.note}</p>`}</li>`)}</ol></section></aside></div>`;
}

const facts = (gap) => [
  [t("why"), html`<${Reasons} gap=${gap} />`],
  [t("customers"), number(gap.customers)], [t("asked"), number(gap.asked)], [t("week"), number(gap.week)], [t("weekBefore"), number(gap.week_before)], [t("handoffs"), gap.handoffs > 0 && number(gap.handoffs)], [t("last"), gap.last_seen && moment(gap.last_seen)],
  [t("author"), gap.draft?.author], [t("approver"), gap.draft?.approver], [t("origin"), gap.draft && named("draftOrigin", gap.draft.origin)],
];

function Answer({ gap, address, may, reload }) {
  const [text, setText] = useState({ question: gap.draft?.question || gap.question, answer: gap.draft?.answer || "", variants: (gap.draft?.variants || []).join("\n") });
  const [note, setNote] = useState("");
  const set = (name) => (event) => setText({ ...text, [name]: event.target.value });
  const act = (work, said) => attempt(work, said).then(reload);
  const step = (name, said = t("done")) => act(() => server.post(`${address}/${name}`, note ? { note } : {}), said);
  const save = () => server.put(`${address}/draft`, { question: text.question, answer: text.answer, ...(gap.draft || text.variants ? { variants: text.variants.split("\n").map((one) => one.trim()).filter(Boolean) } : {}) });
  const kept = gap.draft && text.question === gap.draft.question && text.answer === gap.draft.answer && text.variants === gap.draft.variants.join("\n");  // what is published is what was submitted
  const submit = () => act(async () => { if (!kept) await save(); await server.post(`${address}/submit`, note ? { note } : {}); }, t("done"));
  const draft = async () => {
    if (gap.draft && !await confirmed({ title: t("again"), text: t("againText"), action: t("draft") })) return;
    act(() => server.post(`${address}/draft`, {}), t("done"));
  };
  const reopen = async () => {
    if (gap.state === "approved" && !await confirmed({ title: t("reopen"), text: t("reopenText"), action: t("reopen") })) return;
    step("reopen");
  };
  const button = (name, onClick, primary = false) => html`<button type="button" class="yd-btn ${primary ? "yd-btn-primary" : ""}" onClick=${onClick}>${t(name)}</button>`;
  const writes = may && WAITING.includes(gap.state);
  return html`<section class="yd-card yd-stack"><h2>${t("answer")}</h2>
    <${Field} label=${t("question")}><input class="yd-input" maxlength="200" readonly=${!writes} value=${text.question} onInput=${set("question")} /><//>
    <${Field} label=${t("reply")}><textarea class="yd-input" rows="5" maxlength="2000" readonly=${!writes} value=${text.answer} onInput=${set("answer")}></textarea><//>
    <${Field} label=${t("variants")}><textarea class="yd-input" rows="5" readonly=${!writes} value=${text.variants} onInput=${set("variants")}></textarea><//>
    ${gap.draft?.faq_id && html`<p class="yd-small"><a href=${link("faqs", { q: gap.draft.question })}>${t("published")}</a></p>`}
    ${may && html`<${Field} label=${t("note")}><input class="yd-input" maxlength="500" value=${note} onInput=${(event) => setNote(event.target.value)} /><//>
    <div class="yd-row yd-wrap">${["open", "drafted"].includes(gap.state) && html`${button("draft", draft)}${button("save", () => act(save, t("saved")))}${button("submit", submit, true)}`}
      ${gap.state === "in_review" && html`${button("save", () => act(save, t("saved")))}${button("reject", () => step("reject"))}${kept ? button("approve", () => step("approve", t("published")), true) : html`<span class="yd-small yd-muted">${t("edited")}</span>`}`}
      <span class="yd-grow"></span>${[...WAITING, "resolved"].includes(gap.state) && button("dismiss", () => step("dismiss"))}${!WAITING.includes(gap.state) && button("reopen", reopen)}</div>`}</section>`;
}

const Questions = ({ gap }) => html`<section class="yd-card"><div class="ad-card-title"><h2>${t("questions")}</h2></div><ol class="ad-list">${gap.questions.map((one, place) => html`<li key=${place}>
  <div class="yd-row yd-wrap"><span class="ad-text yd-grow">${one.question}</span><${Named} kind="miss" value=${one.reason} />${one.handoff && one.reason !== "handoff" && html`<span class="yd-tiny yd-muted">${t("handoff")}</span>`}</div>
  ${one.note && html`<p class="ad-text yd-small">${one.note}</p>`}${one.before.map((said) => html`<p class="yd-small yd-muted">${t("before")}${said.question}</p>`)}
  <p class="yd-tiny yd-muted">${moment(one.asked_at)} ${one.session_id && html`<a href=${link(`conversations/${encodeURIComponent(one.session_id)}`)}>${t("session")}</a>`}</p></li>`)}</ol></section>`;

function Merge({ gap, address }) {
  const [into, setInto] = useState("");
  const others = useLoaded((signal) => server.get(GAPS, { limit: 100 }, { signal }), [gap.id]);
  const found = (others.data?.items || []).filter((one) => one.id !== gap.id && !one.merged_into);
  if (found.length === 0) return null;
  const merge = () => attempt(async () => { await server.post(`${address}/merge`, { into }); go(`gaps/${into}`); }, t("merged"));
  return html`<section class="yd-card yd-stack"><${Field} label=${t("merge")}><select class="yd-input" value=${into} onChange=${(event) => setInto(event.target.value)}><option value="">${t("choose")}</option>${found.map((one) => html`<option value=${one.id}>${one.question}</option>`)}</select><//>
    <button class="yd-btn" disabled=${!into} onClick=${merge}>${t("mergeDo")}</button></section>`;
}
