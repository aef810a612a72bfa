// What is asked of somebody who invites a colleague or says what one serves; the link to a password is shown once.
import { words } from "../shared/i18n.js";
import { Dialog, Failure, Field, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Hours } from "./hours.js";
import { named } from "./names.js";
import { Secret } from "./secret.js";
import { server } from "./server.js";

export const PEOPLE = "/api/v1/people";
export const ROLES = ["agent", "lead", "admin"];
const t = words({
  zh: {
    invite: "邀请同事", login: "账号", loginHint: "登录用，也是人工台上的编号；字母、数字、. _ - : @，定了不能改", name: "姓名", role: "角色", subject: "企业账号（可选）", subjectHint: "身份提供方令牌里的员工编号；填了就能用企业账号登录", teams: "客服组", noTeams: "还没有客服组", skills: "技能", skillsHint: "用逗号分开；留空什么都能接", capacity: "同时接待几个会话", capacityHint: "0 为不限", hours: "班次",
    create: "创建并生成邀请链接", save: "保存", link: "把这个链接发给 {name}，由本人设置密码。链接 7 天内有效，只能用一次，也只在这里显示一次。", done: "我已复制", invited: "邀请链接", d_agent: "人工台：接待顾客", d_lead: "另可看报表、排班、转接别人的会话", d_admin: "全部，含知识库、设定、成员与密钥",
  },
  en: {
    invite: "Invite a colleague", login: "Account", loginHint: "To sign in with, and the id at the desk; letters, digits and . _ - : @, for good", name: "Name", role: "Role", subject: "Company account (optional)", subjectHint: "The employee's number in tokens of the identity provider; with it they can sign in there", teams: "Teams", noTeams: "No teams yet", skills: "Skills", skillsHint: "Separated by commas; empty: anything", capacity: "Conversations at once", capacityHint: "0: any number", hours: "Working hours",
    create: "Create and make the link", save: "Save", link: "Send this link to {name}, who then chooses a password. It works for 7 days, once, and is shown only here.", done: "I have copied it", invited: "Invitation", d_agent: "The desk: serves customers", d_lead: "Reports, duties, other people's conversations as well", d_admin: "All, knowledge base, settings, people and keys included",
  },
});
const listed = (text) => text.split(/[,，、]/).map((one) => one.trim()).filter(Boolean);

function useSending(send) {
  const [state, set] = useState({});
  return [state, async (event) => {
    event.preventDefault();
    set({ busy: true });
    try { await send(); } catch (error) { set({ error }); }
  }];
}

const Last = ({ state, action }) => html`${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${action}</button></div>`;

const dutyOf = (person) => ({ teams: person?.teams || [], skills: (person?.skills || []).join("，"), hours: person?.hours || [], capacity: String(person?.capacity ?? 5) });
const sent = ({ teams, skills, hours, capacity }) => ({ teams, skills: listed(skills), hours, capacity: Number(capacity) });

function DutyFields({ duty, set, teams }) {
  const flip = (id) => set({ ...duty, teams: duty.teams.includes(id) ? duty.teams.filter((one) => one !== id) : [...duty.teams, id] });
  return html`<fieldset class="yd-stack ad-choices"><legend class="yd-label">${t("teams")}</legend>${teams.length ? html`<div class="yd-row yd-wrap">${teams.map((team) => html`<label class="yd-row"><input type="checkbox" checked=${duty.teams.includes(team.id)} onChange=${() => flip(team.id)} /> ${team.name}</label>`)}</div>` : html`<p class="yd-small yd-muted">${t("noTeams")}</p>`}</fieldset>
    <${Field} label=${t("skills")} hint=${t("skillsHint")}><input class="yd-input" name="skills" value=${duty.skills} onInput=${(event) => set({ ...duty, skills: event.target.value })} /><//>
    <${Field} label=${t("capacity")} hint=${t("capacityHint")}><input class="yd-input" type="number" name="capacity" min="0" max="1000" required value=${duty.capacity} onInput=${(event) => set({ ...duty, capacity: event.target.value })} /><//>
    <div class="yd-stack"><span class="yd-label">${t("hours")}</span><${Hours} lines=${duty.hours} onChange=${(hours) => set({ ...duty, hours })} /></div>`;
}

const Roles = ({ value, onChange }) => html`<fieldset class="ad-roles"><legend class="yd-label">${t("role")}</legend>${ROLES.map((role) => html`<label class="ad-role"><input type="radio" name="role" value=${role} checked=${value === role} onChange=${() => onChange(role)} /><span><strong>${named("role", role)}</strong><span class="ad-sub">${t(`d_${role}`)}</span></span></label>`)}</fieldset>`;

export const linkOf = (token) => `${location.origin}/desk#invitation=${token}`;

export const Invited = ({ name, token, onClose }) => html`<${Dialog} title=${t("invited")} onClose=${onClose}><${Secret} value=${linkOf(token)} text=${t("link", { name })} />
  <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" onClick=${onClose}>${t("done")}</button></div><//>`;

export function Inviting({ teams, onClose, onMade }) {
  const [who, set] = useState({ login: "", name: "", role: "agent", subject: "" }), [duty, setDuty] = useState(dutyOf(null));
  const put = (name) => (event) => set({ ...who, [name]: event.target.value });
  const [state, send] = useSending(async () => onMade(await server.post(PEOPLE, { ...who, login: who.login.trim(), ...sent(duty) })));
  return html`<${Dialog} title=${t("invite")} onClose=${onClose}><form class="yd-stack" onSubmit=${send}>
    <${Field} label=${t("name")}><input class="yd-input" name="name" required maxlength="64" autofocus value=${who.name} onInput=${put("name")} /><//>
    <${Field} label=${t("login")} hint=${t("loginHint")}><input class="yd-input" name="login" required maxlength="64" pattern="\\s*[A-Za-z0-9_.:@\\-]+\\s*" autocapitalize="none" spellcheck="false" value=${who.login} onInput=${put("login")} /><//>
    <${Roles} value=${who.role} onChange=${(role) => set({ ...who, role })} /><${DutyFields} duty=${duty} set=${setDuty} teams=${teams} />
    <${Field} label=${t("subject")} hint=${t("subjectHint")}><input class="yd-input" name="subject" maxlength="128" value=${who.subject} onInput=${put("subject")} /><//>
    <${Last} state=${state} action=${t("create")} /></form><//>`;
}

// manages: whether one may change who somebody is, and not only what they serve.
export function Editing({ person, teams, manages, onClose }) {
  const [who, set] = useState({ name: person.name, role: person.role, subject: person.subject }), [duty, setDuty] = useState(dutyOf(person));
  const put = (name) => (event) => set({ ...who, [name]: event.target.value });
  const [state, send] = useSending(async () => {
    const changed = Object.fromEntries(Object.entries(who).filter(([name, value]) => value !== person[name]));
    if (manages && Object.keys(changed).length) await server.patch(`${PEOPLE}/${person.id}`, changed);
    await server.put(`${PEOPLE}/${person.id}/duty`, sent(duty));
    onClose(true);
  });
  return html`<${Dialog} title=${person.name} onClose=${() => onClose(false)}><form class="yd-stack" onSubmit=${send}>
    ${manages && html`<${Field} label=${t("name")}><input class="yd-input" name="name" required maxlength="64" value=${who.name} onInput=${put("name")} /><//>
      ${!person.current && html`<${Roles} value=${who.role} onChange=${(role) => set({ ...who, role })} />`}`}
    <${DutyFields} duty=${duty} set=${setDuty} teams=${teams} />
    ${manages && html`<${Field} label=${t("subject")} hint=${t("subjectHint")}><input class="yd-input" name="subject" maxlength="128" value=${who.subject} onInput=${put("subject")} /><//>`}
    <${Last} state=${state} action=${t("save")} /></form><//>`;
}
