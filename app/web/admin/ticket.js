// One ticket: what it is about, whose it is, its clock, what was done and said, and what may be done.
import { moment, words } from "../shared/i18n.js";
import { Field, Loaded, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Named, named } from "./names.js";
import { Facts, Head } from "./page.js";
import { link } from "./route.js";
import { server } from "./server.js";
import { ConversationLink, Customer, MOVES, Pick, Select, Standing, TICKETS, personName, teamName, useAssignees } from "./ticket-parts.js";

const OURS = ["customer", "bot", "system", "local"];
const t = words({
  zh: {
    back: "全部工单", about: "这个工单", number: "编号", user: "顾客", session: "会话", origin: "来自", category: "类别", priority: "优先级", assignee: "负责人", team: "客服组", respond: "首次回应时限", responded: "已回应", resolve: "解决时限", created: "登记于", history: "记录", public: "顾客可见", internal: "只有客服可见", subject: "主题", description: "说明",
    comment: "备注", commentText: "写点什么…", toCustomer: "顾客查询工单时能看到", add: "添加备注", added: "已添加", moves: "改变状态", note: "说明（顾客查询工单时能看到）", moved: "已改为「{state}」", edit: "分配与内容", save: "保存", saved: "已保存", close: "关闭工单？", closeText: "关闭之后只能重新打开。", noText: "没有写说明。", and: "、",
  },
  en: {
    back: "All tickets", about: "This ticket", number: "Number", user: "Customer", session: "Conversation", origin: "From", category: "Category", priority: "Priority", assignee: "Assignee", team: "Team", respond: "Respond by", responded: "Responded", resolve: "Resolve by", created: "Opened", history: "History", public: "Customer sees it", internal: "Staff only", subject: "Subject", description: "Details",
    comment: "Comment", commentText: "Write something…", toCustomer: "Shown to the customer who asks for the ticket", add: "Add comment", added: "Added", moves: "Change state", note: "Note (shown to the customer who asks for the ticket)", moved: "Now “{state}”", edit: "Assignment and text", save: "Save", saved: "Saved", close: "Close the ticket?", closeText: "A closed ticket can only be reopened.", noText: "No details were given.", and: ", ",
  },
});
const FIELDS = ["subject", "description", "category", "priority", "assignee", "team"];

export function Ticket({ route }) {
  const address = `${TICKETS}/${encodeURIComponent(route.id)}`;
  const state = useLoaded((signal) => server.get(address, {}, { signal }), [route.id]);
  const assignees = useAssignees();
  const back = { href: link("tickets"), title: t("back") };
  if (!state.data) return html`<${Head} title=${route.id} back=${back} /><${Loaded} state=${state} />`;
  const ticket = state.data;
  const act = (work, said) => attempt(work, said).then((done) => { state.reload(); return done; });
  return html`<${Head} title=${ticket.subject} back=${back}><${Named} kind="state" value=${ticket.state} /><${Named} kind="priority" value=${ticket.priority} /><${Named} kind="category" value=${ticket.category} /><//>
    <div class="ad-two"><div class="yd-stack"><section class="yd-card"><p class="ad-text">${ticket.description || html`<span class="yd-muted">${t("noText")}</span>`}</p></section>
      <section class="yd-card"><div class="ad-card-title"><h2>${t("history")}</h2></div><ol class="ad-list">${ticket.history.map((event) => html`<${Event} key=${event.number} event=${event} assignees=${assignees} />`)}</ol>
        <${Comment} onSend=${(text, open) => act(() => server.post(`${address}/comments`, { text, public: open }), t("added"))} /></section></div>
    <aside class="yd-stack"><section class="yd-card"><div class="ad-card-title"><h2>${t("about")}</h2></div><${Facts} facts=${[
        [t("number"), html`<span class="yd-mono">${ticket.number}</span>`], [t("user"), (ticket.user_id || ticket.session_id) && html`<${Customer} ticket=${ticket} />`], [t("session"), ticket.session_id && html`<${ConversationLink} session=${ticket.session_id}><span class="yd-mono yd-tiny">${ticket.session_id}</span><//>`],
        [t("origin"), named("origin", ticket.origin)], [t("assignee"), ticket.assignee && personName(assignees, ticket.assignee)], [t("team"), ticket.team && teamName(assignees, ticket.team)],
        [t("respond"), ticket.sla.responded_at ? `${t("responded")} ${moment(ticket.sla.responded_at)}` : html`${moment(ticket.sla.respond_by)} <${Standing} ticket=${ticket} end=${ticket.sla.respond_by} breached=${ticket.sla.response_breached} late="late" />`], [t("resolve"), html`${moment(ticket.sla.resolve_by)} <${Standing} ticket=${ticket} end=${ticket.sla.resolve_by} breached=${ticket.sla.breached} late="overdue" />`], [t("created"), moment(ticket.created_at)]]} /></section>
      <${Edit} key=${`edit-${ticket.version}`} ticket=${ticket} assignees=${assignees} onSave=${(values) => act(() => server.patch(address, { ...values, version: ticket.version }), t("saved"))} />
      <${Moves} ticket=${ticket} onMove=${(to, note) => act(() => server.post(`${address}/transitions`, { to, note, version: ticket.version }), t("moved", { state: named("state", to) }))} /></aside></div>`;
}

// A change names its fields in `text`; everything else there is somebody's words.
function Event({ event, assignees }) {
  const actor = event.actor === "staff" ? "local" : event.actor;  // what the record calls somebody without a key
  const who = OURS.includes(actor) ? named("who", actor) : personName(assignees, actor);
  const changed = event.kind === "updated" && event.text.split("、").filter((name) => FIELDS.includes(name)).map((name) => t(name)).join(t("and"));
  const shown = changed === false ? event.text : changed;
  return html`<li class=${event.kind === "comment" ? "ad-comment" : ""}><div class="yd-row yd-wrap yd-small"><strong>${event.kind === "comment" ? who : named("history", event.kind)}</strong>${event.kind === "transition" && html`<${Named} kind="state" value=${event.state} />`}
    <span class="yd-grow yd-muted">${event.kind === "comment" ? "" : `${who} · `}${moment(event.created_at)}</span><span class="yd-tiny yd-muted">${event.public ? t("public") : t("internal")}</span></div>${shown && html`<p class="ad-text yd-small">${shown}</p>`}</li>`;
}

function Comment({ onSend }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const send = async (event) => { event.preventDefault(); if (await onSend(text.trim(), open)) setText(""); };
  return html`<form class="yd-stack ad-write" onSubmit=${send}><textarea class="yd-input" rows="3" maxlength="5000" aria-label=${t("comment")} placeholder=${t("commentText")} value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
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

// Sends what was changed and nothing else.
function Edit({ ticket, assignees, onSave }) {
  const [values, setValues] = useState({});
  const now = { ...ticket, ...values };
  const set = (name) => (value) => setValues({ ...values, [name]: value });
  const changed = Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== ticket[name]));
  return html`<form class="yd-card yd-stack" onSubmit=${(event) => { event.preventDefault(); onSave(changed); }}><h2>${t("edit")}</h2>
    <div class="ad-fields ad-halves"><${Pick} label=${t("assignee")} list=${assignees.people} value=${now.assignee} onChange=${set("assignee")} /><${Pick} label=${t("team")} list=${assignees.teams} value=${now.team} onChange=${set("team")} />
      <${Select} label=${t("priority")} kind="priority" value=${now.priority} onChange=${set("priority")} /><${Select} label=${t("category")} kind="category" value=${now.category} onChange=${set("category")} /></div>
    <${Field} label=${t("subject")}><input class="yd-input" required maxlength="100" value=${now.subject} onInput=${(event) => set("subject")(event.target.value)} /><//>
    <${Field} label=${t("description")}><textarea class="yd-input" rows="3" maxlength="5000" value=${now.description} onInput=${(event) => set("description")(event.target.value)}></textarea><//>
    <button class="yd-btn" disabled=${Object.keys(changed).length === 0}>${t("save")}</button></form>`;
}
