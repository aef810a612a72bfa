// What is asked before a conversation changes hands or ends, canned replies, settings, and the list of shortcuts.
import { useEffect, useState } from "../vendor/preact-htm.js";
import { language, setLanguage } from "../shared/i18n.js";
import { Account, accountTitle } from "../shared/signin.js";
import { attempt, confirmed, Dialog, Empty, Failure, Field, html, Tag, toast } from "../shared/ui.js";
import { askNotices, notices, setSound, sound } from "./alerts.js";
import { enterSends, setEnterSends } from "./keeping.js";
import { gapLink } from "./route.js";
import { api } from "./store.js";
import { SHOWN } from "./variables.js";
import { t } from "./words.js";

const ON_DUTY_MS = 5 * 60_000;
const onDuty = (member) => member.last_seen && Date.now() - Date.parse(member.last_seen) < ON_DUTY_MS;

// A form whose button works once at a time and whose failure stays in sight.
function Doing({ work, action, danger, onClose, children }) {
  const [state, set] = useState({});
  async function go(event) {
    event.preventDefault();
    set({ busy: true });
    try { await work(); } catch (error) { set({ error }); }
  }
  return html`<form class="yd-stack" onSubmit=${go}>${children}${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row"><span class="yd-grow"></span><button type="button" class="yd-btn" onClick=${onClose}>${t("cancel")}</button><button class=${`yd-btn ${danger ? "yd-btn-danger" : "yd-btn-primary"}`} disabled=${state.busy}>${action}</button></div></form>`;
}

export function Transfer({ desk, id, onClose }) {
  const others = desk.staff.filter((member) => member.agent_id !== desk.me.agent_id).sort((a, b) => !!onDuty(b) - !!onDuty(a));
  const skills = [...new Set(desk.staff.flatMap((member) => member.skills))].sort();
  const [chosen, setPerson] = useState(null);
  const person = chosen ?? others.some(onDuty);
  useEffect(() => { desk.readStaff(); }, []);
  const [to, setTo] = useState(""), [team, setTeam] = useState(""), [skill, setSkill] = useState(""), [note, setNote] = useState("");
  async function work() {
    await desk.transfer(id, person ? { to, note } : { team, skill: skill.trim(), note });
    toast(t("moved"), "good");
    onClose();
  }
  return html`<${Dialog} title=${t("transferTitle")} onClose=${onClose}><${Doing} work=${work} action=${t("transfer")} onClose=${onClose}>
    <div class="desk-modes" role="group" aria-label=${t("transfer")}>
      <button type="button" aria-pressed=${person} onClick=${() => setPerson(true)}>${t("toPerson")}</button><button type="button" aria-pressed=${!person} onClick=${() => setPerson(false)}>${t("toQueue")}</button></div>
    ${person ? (others.length ? html`<fieldset class="desk-people"><legend class="yd-sr">${t("chooseStaff")}</legend>${others.map((member) => html`<label class="desk-person"><input type="radio" name="to" required value=${member.agent_id} checked=${to === member.agent_id} onChange=${() => setTo(member.agent_id)} />
        <span class="yd-grow"><strong>${member.name}</strong> <span class="yd-small yd-muted">${member.skills.join("、")}</span></span><span class="yd-tiny yd-muted yd-nums">${member.capacity ? t("capacity", { n: member.assigned, most: member.capacity }) : t("capacityFree", { n: member.assigned })}</span>
        <${Tag} tone=${onDuty(member) ? "good" : ""}>${t(onDuty(member) ? "present" : "absent")}<//></label>`)}</fieldset>` : html`<p class="yd-notice">${t("noStaff")}</p>`)
      : html`${desk.teams.length > 0 && html`<${Field} label=${t("team")}><select class="yd-input" name="team" value=${team} onChange=${(event) => setTeam(event.target.value)}><option value="">${t("anyTeam")}</option>${desk.teams.map((one) => html`<option value=${one.id}>${one.name}（${t("members", { n: one.members.length })}）</option>`)}</select><//>`}
      <${Field} label=${t("skill")}><input class="yd-input" list="desk-skills" maxlength="64" placeholder=${t("anySkill")} value=${skill} onInput=${(event) => setSkill(event.target.value)} /><datalist id="desk-skills">${skills.map((one) => html`<option value=${one} />`)}</datalist><//>`}
    <${Field} label=${t("transferNote")}><textarea class="yd-input" rows="2" maxlength="2000" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea><//>
  <//><//>`;
}

// What a solution is made of, until somebody writes it better: the open question, and what I answered.
function proposed(desk, id) {
  const detail = desk.details.get(id);
  const since = Date.parse(detail?.session?.queued_at || 0);
  const said = (detail?.entries || []).filter((entry) => entry.who === "staff" && !entry.event && Date.parse(entry.created_at) >= since);
  const asked = (detail?.entries || []).findLast((entry) => entry.who === "customer" && Date.parse(entry.created_at) < since);
  return { question: detail?.session?.card.question || asked?.text || "", answer: said.map((entry) => entry.text).join("\n") };
}

function SolutionFields({ texts, set }) {
  return html`<${Field} label=${t("solutionQuestion")}><textarea class="yd-input" rows="2" maxlength="2000" required value=${texts.question} onInput=${(event) => set({ ...texts, question: event.target.value })}></textarea><//>
    <${Field} label=${t("solutionAnswer")}><textarea class="yd-input" rows="4" maxlength="2000" required value=${texts.answer} onInput=${(event) => set({ ...texts, answer: event.target.value })}></textarea><//>
    <p class="yd-small yd-muted">${t("learnText")}</p>`;
}

export function Resolve({ desk, id, onClose }) {
  const [note, setNote] = useState(""), [learn, setLearn] = useState(false), [texts, setTexts] = useState(() => proposed(desk, id)), [kept, setKept] = useState(null);
  async function work() {
    if (desk.holds(id)) await desk.resolve(id, note.trim());
    if (!learn) { toast(t("resolved"), "good"); return onClose(); }
    try { setKept(await desk.solution(id, texts.question.trim(), texts.answer.trim())); } catch (error) { toast(t("solutionFailed"), "bad"); throw error; }
  }
  if (kept) return html`<${Kept} solution=${kept} onClose=${onClose} />`;
  return html`<${Dialog} title=${t("resolveTitle")} onClose=${onClose}><${Doing} work=${work} action=${t("resolve")} onClose=${onClose}><p>${t("resolveText")}</p>
    <${Field} label=${t("result")}><textarea class="yd-input" rows="2" maxlength="2000" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea><//>
    <label class="yd-row"><input type="checkbox" checked=${learn} onChange=${(event) => setLearn(event.target.checked)} /> ${t("learn")}</label>
    ${learn && html`<${SolutionFields} texts=${texts} set=${setTexts} />`}<//><//>`;
}

// Where a solution went.
const Kept = ({ solution, onClose }) => html`<${Dialog} title=${t("writeSolution")} onClose=${onClose}><p role="status">${t(solution.gap_id ? "solutionKept" : "keptAside", { question: solution.question })}</p>
  <div class="yd-row"><span class="yd-grow"></span>${solution.gap_id && html`<a class="yd-btn yd-btn-primary" target="_blank" href=${gapLink(solution.gap_id)}>${t("openGap")}</a>`}</div><//>`;

export function Solution({ desk, id, onClose }) {
  const [texts, setTexts] = useState(() => proposed(desk, id)), [kept, setKept] = useState(null);
  const work = async () => setKept(await desk.solution(id, texts.question.trim(), texts.answer.trim()));
  if (kept) return html`<${Kept} solution=${kept} onClose=${onClose} />`;
  return html`<${Dialog} title=${t("writeSolution")} onClose=${onClose}><${Doing} work=${work} action=${t("keep")} onClose=${onClose}><${SolutionFields} texts=${texts} set=${setTexts} /><//><//>`;
}

export function Close({ desk, id, onClose }) {
  const [note, setNote] = useState("");
  async function work() {
    await desk.close(id, note.trim());
    toast(t("closed"), "good");
    onClose();
  }
  return html`<${Dialog} title=${t("closeTitle")} onClose=${onClose}><${Doing} work=${work} action=${t("close")} danger onClose=${onClose}><p>${t("closeText")}</p>
    <${Field} label=${t("result")}><textarea class="yd-input" rows="2" maxlength="2000" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea><//><//><//>`;
}

function CannedForm({ reply, onSave, onClose }) {
  const [shortcut, setShortcut] = useState(reply.shortcut || ""), [text, setText] = useState(reply.text || "");
  return html`<${Doing} work=${() => onSave({ shortcut: shortcut.trim(), text })} action=${t("save")} onClose=${onClose}>
    <${Field} label=${t("shortcut")} hint=${t("shortcutHint")}><input class="yd-input" required maxlength="32" pattern="\\S+" value=${shortcut} onInput=${(event) => setShortcut(event.target.value)} /><//>
    <${Field} label=${t("text")}><textarea class="yd-input" required rows="4" maxlength="4000" value=${text} onInput=${(event) => setText(event.target.value)}></textarea><//>
    <div class="yd-row yd-wrap yd-small"><span class="yd-muted">${t("variables")}</span>${SHOWN[language()].map((name) => html`<button type="button" class="yd-btn yd-btn-small" onClick=${() => setText(`${text}{${name}}`)}>{${name}}</button>`)}</div><//>`;
}

export function Canned({ desk, onClose }) {
  const [edited, edit] = useState(null), [query, setQuery] = useState("");
  const path = "/api/v1/agent/canned";
  async function save(body) {
    await (edited.id ? api.put(`${path}/${edited.id}`, body) : api.post(path, body));
    await desk.readCanned();
    toast(t("saved"), "good");
    edit(null);
  }
  async function remove(reply) {
    if (!(await confirmed({ title: t("remove"), text: t("removeText", { name: reply.shortcut }), action: t("remove") }))) return;
    await attempt(() => api.delete(`${path}/${reply.id}`), t("removed"));
    await desk.readCanned();
  }
  const found = desk.canned.filter((reply) => (reply.shortcut + reply.text).toLowerCase().includes(query.trim().toLowerCase()));
  return html`<${Dialog} title=${t("canned")} onClose=${onClose}>${edited ? html`<${CannedForm} reply=${edited} onSave=${save} onClose=${() => edit(null)} />` : html`
    <div class="yd-row"><input class="yd-input" type="search" aria-label=${t("find")} placeholder=${t("find")} value=${query} onInput=${(event) => setQuery(event.target.value)} /><button class="yd-btn yd-btn-primary" onClick=${() => edit({})}>${t("add")}</button></div>
    ${found.length ? html`<ul class="desk-replies">${found.map((reply) => html`<li key=${reply.id} class="yd-row"><div class="yd-grow"><strong>/${reply.shortcut}</strong><p>${reply.text}</p></div>
      <button class="yd-btn yd-btn-small" aria-label=${`${t("edit")} ${reply.shortcut}`} onClick=${() => edit(reply)}>${t("edit")}</button><button class="yd-btn yd-btn-small yd-btn-danger" aria-label=${`${t("remove")} ${reply.shortcut}`} onClick=${() => remove(reply)}>${t("remove")}</button></li>`)}</ul>` : html`<${Empty}>${t(desk.canned.length ? "cannedNone" : "cannedEmpty")}<//>`}`}<//>`;
}

function Duty({ desk }) {
  const self = desk.self;
  const [most, setMost] = useState(String(self?.capacity ?? 0)), [skills, setSkills] = useState((self?.skills || []).join("，"));
  if (!desk.admin) return html`<p class="yd-small yd-muted">${t("adminOnly")}</p>`;
  async function save(event) {
    event.preventDefault();
    const list = skills.split(/[,，、]/).map((one) => one.trim()).filter(Boolean);
    await attempt(() => api.put(`/api/v1/agent/staff/${encodeURIComponent(desk.me.agent_id)}`, { name: desk.me.name, skills: list, capacity: Number(most), teams: self?.teams || [], hours: self?.hours || [] }), t("saved"));
    desk.readStaff();
  }
  return html`<form class="yd-stack" onSubmit=${save}><${Field} label=${t("most")}><input class="yd-input" type="number" min="0" max="1000" required value=${most} onInput=${(event) => setMost(event.target.value)} /><//>
    <${Field} label=${t("skills")}><input class="yd-input" value=${skills} onInput=${(event) => setSkills(event.target.value)} /><//><div><button class="yd-btn">${t("save")}</button></div></form>`;
}

export function Settings({ desk, onClose, onChange, onLeave, onSignOut, onSignedOut, signedIn }) {
  const [permission, setPermission] = useState(notices());
  const [on, setOn] = useState(sound.on), [account, setAccount] = useState(false);
  const [enter, setEnter] = useState(enterSends.on);
  if (account) return html`<${Account} who=${signedIn} onOut=${onSignedOut} onClose=${() => setAccount(false)} />`;
  return html`<${Dialog} title=${t("settings")} onClose=${onClose}>
    <div class="yd-row"><div class="yd-grow"><strong>${desk.me.name}</strong> <span class="yd-mono yd-muted">${desk.me.agent_id}</span></div>${signedIn.agent_id ? html`<button class="yd-btn yd-btn-small" onClick=${() => setAccount(true)}>${accountTitle()}</button>` : html`<button class="yd-btn yd-btn-small" onClick=${onLeave}>${t("change")}</button>`}</div>
    <label class="yd-row"><input type="checkbox" checked=${on} onChange=${(event) => { setSound(event.target.checked); setOn(event.target.checked); }} /> ${t("sound")}</label>
    <div class="yd-row yd-wrap"><span class="yd-grow">${t("notify")}</span>${permission === "default" ? html`<button class="yd-btn yd-btn-small" onClick=${async () => setPermission(await askNotices())}>${t("notifyAllow")}</button>` : html`<span class="yd-small yd-muted">${t(permission === "granted" ? "notifyOn" : permission === "denied" ? "notifyBlocked" : "notifyNone")}</span>`}</div>
    <div class="yd-row"><span class="yd-grow">${t("sendBy")}</span><div class="desk-modes" role="group" aria-label=${t("sendBy")}>${[[true, "Enter"], [false, "Ctrl+Enter"]].map(([by, name]) => html`<button type="button" aria-pressed=${enter === by} onClick=${() => { setEnterSends(by); setEnter(by); }}>${name}</button>`)}</div></div>
    <div class="yd-row"><span class="yd-grow">${t("language")}</span><div class="desk-modes" role="group" aria-label=${t("language")}>${[["zh", "中文"], ["en", "English"]].map(([code, name]) => html`<button type="button" lang=${code} aria-pressed=${language() === code} onClick=${() => { setLanguage(code); onChange(); }}>${name}</button>`)}</div></div>
    <${Duty} desk=${desk} />
    <p class="yd-small yd-muted">${t("awayHint")}</p>
    ${!signedIn.keyless && html`<div><button class="yd-btn" onClick=${onSignOut}>${t("signOut")}</button></div>`}<//>`;
}

const KEYS = [[["Alt", "1–9"], "k_digit"], [["J"], ["K"], "k_jk"], [["Alt", "A"], "k_accept"], [["Alt", "W"], "k_reply"], [["Enter"], "k_enter"], [["Ctrl", "Enter"], "k_send"], [["/"], "k_slash"], [["Alt", "I"], "k_suggest"], [["Alt", "N"], "k_note"], [["Alt", "T"], "k_transfer"], [["Alt", "R"], "k_resolve"], [["Esc"], "k_escape"], [["?"], "k_help"]];
export function Shortcuts({ onClose }) {
  return html`<${Dialog} title=${t("shortcuts")} onClose=${onClose}><dl class="desk-keys">${KEYS.map((row) => html`<div><dt>${row.slice(0, -1).map((keys, n) => html`${n ? " " : ""}${keys.map((key, place) => html`${place ? " + " : ""}<kbd class="desk-kbd">${key}</kbd>`)}`)}</dt><dd>${t(row.at(-1))}</dd></div>`)}</dl><//>`;
}
