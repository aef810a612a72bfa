// The left column, looked at otherwise: conversations that are over, found by what was said and by what they are.
import { useEffect, useState } from "../vendor/preact-htm.js";
import { attempt, confirmed, Dialog, Empty, Failure, Field, html, Pager, Spinner, toast } from "../shared/ui.js";
import { Talk } from "./contact.js";
import { NOTHING } from "./filter.js";
import { api } from "./store.js";
import { t } from "./words.js";

const PAGE = 30;
const OUTCOMES = ["answered", "partially_answered", "low_confidence", "clarify", "no_evidence", "cannot_answer", "high_stakes", "out_of_scope", "handoff", "rejected"];
const DAY_MS = 86_400_000;

// What the server is asked. Days are the reader's own, the last one whole.
function asked(filter) {
  const { days, since, until, ...rest } = filter;
  const from = days ? new Date(Date.now() - days * DAY_MS) : since && new Date(`${since}T00:00`);
  const to = until && new Date(new Date(`${until}T00:00`).getTime() + DAY_MS);
  return { ...rest, since: from ? from.toISOString() : "", until: to ? to.toISOString() : "" };
}

// As a view keeps it: no empty values, moments instead of days.
function kept(filter) {
  const { days, ...rest } = asked(filter);
  const wanted = Object.fromEntries(Object.entries(filter.days ? { ...rest, since: "", days: Number(filter.days) } : rest).filter(([, value]) => value !== ""));
  if (wanted.priority !== undefined) wanted.priority = Number(wanted.priority);
  return wanted;
}

const local = (iso, less = 0) => { if (!iso) return ""; const day = new Date(Date.parse(iso) - less); return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`; };
const opened = (saved) => ({ ...NOTHING, standing: "", ...Object.fromEntries(Object.entries(saved).map(([name, value]) => [name, value === null ? "" : String(value)])), since: local(saved.since), until: local(saved.until, DAY_MS) });

function SaveView({ desk, filter, onClose, onSaved }) {
  const [name, setName] = useState(""), [shared, setShared] = useState(false);
  async function save(event) {
    event.preventDefault();
    if (await attempt(() => api.post("/api/v1/agent/views", { name: name.trim(), shared, agent_id: desk.me.agent_id, filter: kept(filter) }), t("saved"))) { onSaved(); onClose(); }
  }
  return html`<${Dialog} title=${t("viewSave")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}><${Field} label=${t("viewName")}><input class="yd-input" required maxlength="64" value=${name} onInput=${(event) => setName(event.target.value)} /><//>
    <label class="yd-row"><input type="checkbox" checked=${shared} onChange=${(event) => setShared(event.target.checked)} /> ${t("viewShared")}</label>
    <div class="yd-row"><span class="yd-grow"></span><button type="button" class="yd-btn" onClick=${onClose}>${t("cancel")}</button><button class="yd-btn yd-btn-primary">${t("save")}</button></div></form><//>`;
}

export function History({ desk }) {
  const { filter } = desk.history;
  const [text, setText] = useState(filter.q);
  const [{ data, error, loading }, set] = useState({ loading: true });
  const [offset, setOffset] = useState(0);
  const [views, setViews] = useState([]);
  const [saving, setSaving] = useState(false);
  const [round, again] = useState(0);
  const change = (values) => { desk.history.filter = { ...filter, ...values }; setOffset(0); desk.changed(); };
  const readViews = async () => { try { setViews((await api.get("/api/v1/agent/views", { agent_id: desk.me.agent_id })).views); } catch (failure) { desk.failed(failure); } };
  useEffect(() => { readViews(); desk.readLabels(); }, []);
  useEffect(() => { setText(filter.q); }, [filter.q]);
  useEffect(() => {
    const aborting = new AbortController();
    set((before) => ({ ...before, loading: true }));
    api.get("/api/v1/agent/history", { ...asked(filter), limit: PAGE, offset }, { signal: aborting.signal }).then((found) => aborting.signal.aborted || set({ data: found }), (failure) => { if (aborting.signal.aborted) return; failure.status === 401 ? desk.failed(failure) : set({ error: failure }); });
    return () => aborting.abort();
  }, [JSON.stringify(filter), offset, round]);
  async function drop(view) {
    if (!(await confirmed({ title: t("viewDrop"), text: t("viewDropText", { name: view.name }), action: t("remove") }))) return;
    await attempt(() => api.delete(`/api/v1/agent/views/${view.id}`), t("removed"));
    readViews();
  }
  const pick = (name, options, label) => html`<select class="yd-input" aria-label=${label} value=${filter[name]} onChange=${(event) => change({ [name]: event.target.value })}><option value="">${t("anyOf", { label })}</option>${options.map(([value, word]) => html`<option value=${value} selected=${filter[name] === value}>${word}</option>`)}</select>`;
  const narrowed = JSON.stringify({ ...filter, q: "" }) !== JSON.stringify(NOTHING);
  const restricted = JSON.stringify(filter) !== JSON.stringify(NOTHING);
  return html`<div class="desk-history">
    <form class="yd-row" role="search" onSubmit=${(event) => { event.preventDefault(); change({ q: text.trim() }); }}><input class="yd-input" type="search" maxlength="200" aria-label=${t("historySearch")} placeholder=${t("historySearch")} value=${text} onInput=${(event) => { setText(event.target.value); if (!event.target.value) change({ q: "" }); }} /><button class="yd-btn">${t("find")}</button></form>
    ${views.length > 0 && html`<div class="yd-row yd-wrap" role="group" aria-label=${t("views_saved")}>${views.map((view) => html`<span class="desk-view"><button type="button" class="yd-btn yd-btn-small" onClick=${() => change(opened(view.filter))}>${view.name}</button><button type="button" class="desk-label-off" aria-label=${`${t("remove")} ${view.name}`} onClick=${() => drop(view)}>×</button></span>`)}</div>`}
    ${filter.standing && html`<div><button type="button" class="yd-btn yd-btn-small" aria-label=${`${t("remove")} ${t(`standing_${filter.standing}`)}`} onClick=${() => change({ standing: "" })}>${t(`standing_${filter.standing}`)} <span aria-hidden="true">×</span></button></div>`}
    <details class="desk-more" open=${narrowed}><summary>${t("filters")}</summary><div class="desk-filters">
      ${pick("standing", [["ended", t("standing_ended")], ["open", t("standing_open")], ["bot", t("standing_bot")]], t("standing"))}
      ${pick("label", desk.labels.map((one) => [one, one]), t("labels"))}
      ${pick("agent_id", desk.staff.map((member) => [member.agent_id, member.name]), t("servedBy"))}
      ${pick("outcome", OUTCOMES.map((one) => [one, t(`o_${one}`)]), t("botOutcome"))}
      ${pick("priority", [["2", t("priority2")], ["1", t("priority1")], ["0", t("priority0")]], t("priority"))}
      ${pick("days", [["1", t("days1")], ["7", t("days7")], ["30", t("days30")]], t("period"))}
      ${!filter.days && html`<label class="yd-row yd-tiny">${t("from")}<input class="yd-input" type="date" value=${filter.since} onChange=${(event) => change({ since: event.target.value })} /></label><label class="yd-row yd-tiny">${t("to")}<input class="yd-input" type="date" value=${filter.until} onChange=${(event) => change({ until: event.target.value })} /></label>`}
      <div class="yd-row">${restricted && html`<button type="button" class="yd-btn yd-btn-small yd-btn-quiet" onClick=${() => change(NOTHING)}>${t("filtersOff")}</button>`}<span class="yd-grow"></span><button type="button" class="yd-btn yd-btn-small" onClick=${() => setSaving(true)}>${t("viewSave")}</button></div></div></details>
    <div aria-live="polite" class="yd-tiny yd-muted desk-total">${loading ? html`<${Spinner} />` : data ? t(data.total >= 1000 ? "foundMany" : "found", { n: data.total }) : ""}</div>
    ${error ? html`<${Failure} error=${error} retry=${() => again(round + 1)} />` : data && (data.conversations.length ? html`<ul class="desk-list">${data.conversations.map((one) => html`<${Talk} key=${one.session_id} one=${one} current=${desk.open === one.session_id} />`)}</ul><${Pager} offset=${offset} limit=${PAGE} total=${data.total} onMove=${setOffset} />` : html`<${Empty}>${t(restricted ? "historyNone" : "historyEmpty")}<//>`)}
    ${saving && html`<${SaveView} desk=${desk} filter=${filter} onClose=${() => setSaving(false)} onSaved=${readViews} />`}
  </div>`;
}
