// How a conversation is put in order: urgency, labels, and when it comes back.
import { useEffect, useState } from "../vendor/preact-htm.js";
import { moment } from "../shared/i18n.js";
import { attempt, html } from "../shared/ui.js";
import { Section, snoozed } from "./parts.js";
import { t } from "./words.js";

const ACTIVE = new Set(["queued", "out_of_hours", "assigned"]);

// Writes labels one by one: Enter or a comma ends one. save: (labels) => promise.
export function Labels({ labels, known, label, save }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  async function put(next) {
    setBusy(true);
    if (await attempt(() => save(next))) setText("");
    setBusy(false);
  }
  const add = (value) => { const one = value.trim(); if (one && !labels.includes(one)) put([...labels, one]); else setText(""); };
  const list = `labels-${label}`;
  return html`<div class="desk-labels">${labels.map((one) => html`<span class="desk-label" key=${one}>${one}<button type="button" class="desk-label-off" disabled=${busy} aria-label=${t("labelRemove", { label: one })} onClick=${() => put(labels.filter((other) => other !== one))}>×</button></span>`)}
    <input class="yd-input desk-label-new" aria-label=${label} placeholder=${t("labelAdd")} maxlength="32" list=${list} value=${text} disabled=${busy} onInput=${(event) => setText(event.target.value)}
      onKeyDown=${(event) => { if (!event.isComposing && (event.key === "Enter" || event.key === "," || event.key === "，")) { event.preventDefault(); add(event.target.value); } }} onBlur=${(event) => event.target.value.trim() && add(event.target.value)} />
    <datalist id=${list}>${known.filter((one) => !labels.includes(one)).map((one) => html`<option value=${one} />`)}</datalist></div>`;
}

// Later today, tomorrow at nine, next Monday at nine: moments in the reader's own time.
function moments() {
  const at = (days, hour) => { const day = new Date(); day.setDate(day.getDate() + days); day.setHours(hour, 0, 0, 0); return day; };
  const toMonday = ((8 - new Date().getDay()) % 7) || 7;
  return [["snooze1h", new Date(Date.now() + 3_600_000)], ["snooze3h", new Date(Date.now() + 3 * 3_600_000)], ["snoozeTomorrow", at(1, 9)], ["snoozeMonday", at(toMonday, 9)]];
}

function Snooze({ desk, session }) {
  const [own, setOwn] = useState("");
  if (!desk.holds(session.session_id)) return null;
  const put = (until) => attempt(() => desk.change(session.session_id, { snoozed_until: until }), t(until ? "snoozedUntil" : "snoozeOff", { time: until ? moment(until) : "" }));
  if (snoozed(session)) return html`<div class="yd-row yd-wrap"><span class="yd-grow yd-small">${t("snoozedUntil", { time: moment(session.snoozed_until) })}</span><button class="yd-btn yd-btn-small" onClick=${() => put(null)}>${t("snoozeEnd")}</button></div>`;
  return html`<details class="desk-more"><summary>${t("snooze")}</summary><p class="yd-tiny yd-muted">${t("snoozeText")}</p>
    <div class="yd-row yd-wrap">${moments().map(([word, until]) => html`<button class="yd-btn yd-btn-small" title=${moment(until.toISOString())} onClick=${() => put(until.toISOString())}>${t(word)}</button>`)}</div>
    <form class="yd-row" onSubmit=${(event) => { event.preventDefault(); put(new Date(own).toISOString()); }}><input class="yd-input" type="datetime-local" required aria-label=${t("snoozeOwn")} value=${own} onInput=${(event) => setOwn(event.target.value)} /><button class="yd-btn yd-btn-small">${t("snoozePut")}</button></form></details>`;
}

export function Organise({ desk, session }) {
  const id = session.session_id, active = ACTIVE.has(session.state);
  useEffect(() => { desk.readLabels(); }, [id]);
  return html`<${Section} title=${t("organise")}>
    ${active && html`<div class="yd-row"><span class="yd-label" id="desk-priority">${t("priority")}</span><div class="desk-modes" role="group" aria-labelledby="desk-priority">${[0, 1, 2].map((level) => html`<button type="button" aria-pressed=${Math.min(session.priority, 2) === level} onClick=${() => attempt(() => desk.change(id, { priority: level }))}>${t(`priority${level}`)}</button>`)}</div></div>`}
    <${Labels} label=${t("labels")} labels=${session.labels || []} known=${desk.labels} save=${(labels) => desk.label(id, labels)} />
    <${Snooze} desk=${desk} session=${session} /><//>`;
}
