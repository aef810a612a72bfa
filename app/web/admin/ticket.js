// One ticket: what it is about, its clock, its history, and what may be done.
import { moment, words } from "../shared/i18n.js";
import { Field, Loaded, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Named, named, options } from "./names.js";
import { Facts, Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";
import { Due } from "./tickets.js";

const MOVES = { open: ["in_progress", "waiting", "resolved", "closed"], in_progress: ["waiting", "resolved", "closed"], waiting: ["in_progress", "resolved", "closed"], resolved: ["closed", "reopened"], closed: ["reopened"], reopened: ["in_progress", "waiting", "resolved", "closed"] };
const t = words({
  zh: {
    back: "全部工单", about: "这个工单", number: "编号", user: "顾客", unproved: "（未证明）", session: "会话", open: "打开会话", category: "类别", priority: "优先级", assignee: "负责人", respond: "首次回应时限", responded: "已回应", resolve: "解决时限", created: "登记于", history: "历史", public: "顾客可见", internal: "只有客服可见",
    comment: "备注", commentText: "写点什么…", toCustomer: "顾客查询工单时能看到", add: "添加备注", added: "已添加", moves: "改变状态", note: "说明（顾客查询工单时能看到）", moved: "已改为「{state}」", save: "保存", saved: "已保存", close: "关闭工单？", closeText: "关闭之后只能重新打开。", noText: "没有写说明。",
  },
  en: {
    back: "All tickets", about: "This ticket", number: "Number", user: "Customer", unproved: " (not proved)", session: "Conversation", open: "Open conversation", category: "Category", priority: "Priority", assignee: "Assignee", respond: "Respond by", responded: "Responded", resolve: "Resolve by", created: "Opened", history: "History", public: "Customer sees it", internal: "Staff only",
    comment: "Comment", commentText: "Write something…", toCustomer: "Shown to the customer who asks for the ticket", add: "Add comment", added: "Added", moves: "Change state", note: "Note (shown to the customer who asks for the ticket)", moved: "Now “{state}”", save: "Save", saved: "Saved", close: "Close the ticket?", closeText: "A closed ticket can only be reopened.", noText: "No details were given.",
  },
});

export function Ticket({ route, me }) {
  const address = `/api/v1/tickets/${route.id}`;
  const state = useLoaded((signal) => server.get(address, {}, { signal }), [route.id]);
  const back = { href: link("tickets"), title: t("back") };
  const author = me.key_name || "staff";
  if (!state.data) return html`<${Head} title=${route.id} back=${back} /><${Loaded} state=${state} />`;
  const ticket = state.data;
  const act = (work, said) => attempt(work, said).then(state.reload);
  return html`<${Head} title=${ticket.subject} back=${back}><${Named} kind="state" value=${ticket.state} /><${Named} kind="priority" value=${ticket.priority} /><//>
    <div class="ad-two"><div class="yd-stack"><section class="yd-card"><p class="ad-text">${ticket.description || html`<span class="yd-muted">${t("noText")}</span>`}</p></section>
      <section class="yd-card"><div class="ad-card-title"><h2>${t("history")}</h2></div><ol class="ad-list">${ticket.history.map((event) => html`<li key=${event.number}><div class="yd-row yd-wrap yd-small"><strong>${named("history", event.kind)}</strong>${event.kind === "transition" && html`<${Named} kind="state" value=${event.state} />`}<span class="yd-grow yd-muted">${event.actor} · ${moment(event.created_at)}</span>
        <span class="yd-tiny yd-muted">${event.public ? t("public") : t("internal")}</span></div>${event.text && html`<p class="ad-text yd-small">${event.text}</p>`}</li>`)}</ol>
        <${Comment} onSend=${(text, open) => act(() => server.post(`${address}/comments`, { text, public: open, author }), t("added"))} /></section></div>
    <aside class="yd-stack"><section class="yd-card"><div class="ad-card-title"><h2>${t("about")}</h2></div><${Facts} facts=${[
        [t("number"), html`<span class="yd-mono">${ticket.number}</span>`], [t("user"), ticket.user_id && ticket.user_id + (ticket.verified ? "" : t("unproved"))], [t("session"), ticket.session_id && html`<a href=${link(`conversations/${ticket.session_id}`)}>${t("open")}</a>`],
        [t("respond"), ticket.sla.responded_at ? `${t("responded")} ${moment(ticket.sla.responded_at)}` : moment(ticket.sla.respond_by)], [t("resolve"), html`${moment(ticket.sla.resolve_by)} <${Due} ticket=${ticket} />`], [t("created"), moment(ticket.created_at)]]} /></section>
      <${Moves} ticket=${ticket} onMove=${(to, note) => act(() => server.post(`${address}/transitions`, { to, note, author, version: ticket.version }), t("moved", { state: named("state", to) }))} />
      <${Edit} key=${ticket.version} ticket=${ticket} onSave=${(values) => act(() => server.patch(address, { ...values, author, version: ticket.version }), t("saved"))} /></aside></div>`;
}

function Comment({ onSend }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const send = (event) => { event.preventDefault(); onSend(text.trim(), open); setText(""); };
  return html`<form class="yd-stack" onSubmit=${send}><textarea class="yd-input" rows="3" maxlength="5000" aria-label=${t("comment")} placeholder=${t("commentText")} value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
    <div class="yd-row yd-wrap"><label class="yd-small yd-grow"><input type="checkbox" checked=${open} onChange=${(event) => setOpen(event.target.checked)} /> ${t("toCustomer")}</label><button class="yd-btn" disabled=${!text.trim()}>${t("add")}</button></div></form>`;
}

function Moves({ ticket, onMove }) {
  const [note, setNote] = useState("");
  const move = async (to) => {
    if (to === "closed" && !await confirmed({ title: t("close"), text: t("closeText"), action: named("state", to) })) return;
    onMove(to, note.trim());
    setNote("");
  };
  return html`<section class="yd-card yd-stack"><h2>${t("moves")}</h2><${Field} label=${t("note")}><textarea class="yd-input" rows="2" maxlength="5000" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea><//>
    <div class="yd-row yd-wrap">${MOVES[ticket.state].map((to) => html`<button class="yd-btn yd-btn-small" onClick=${() => move(to)}>${named("state", to)}</button>`)}</div></section>`;
}

function Edit({ ticket, onSave }) {
  const [values, setValues] = useState({ assignee: ticket.assignee, priority: ticket.priority, category: ticket.category });
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const choice = (name) => html`<${Field} label=${t(name)}><select class="yd-input" value=${values[name]} onChange=${set(name)}>${options(name).map(([value, shown]) => html`<option value=${value} selected=${value === values[name]}>${shown}</option>`)}</select><//>`;
  return html`<form class="yd-card yd-stack" onSubmit=${(event) => { event.preventDefault(); onSave(values); }}>
    <${Field} label=${t("assignee")}><input class="yd-input" maxlength="128" value=${values.assignee} onInput=${set("assignee")} /><//><div class="ad-fields">${choice("priority")}${choice("category")}</div>
    <button class="yd-btn">${t("save")}</button></form>`;
}
