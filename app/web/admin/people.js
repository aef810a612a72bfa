// Colleagues with accounts of their own, and the teams that conversations are transferred to.
import { ago, moment, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Tag, attempt, confirmed, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { describeHours } from "./hours.js";
import { Choice, Listing, Search, pageOf, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head } from "./page.js";
import { Editing, Invited, Inviting, PEOPLE, ROLES } from "./person.js";
import { server } from "./server.js";

const TEAMS = "/api/v1/agent/teams";
const ON_DUTY_MS = 5 * 60_000;
const t = words({
  zh: {
    title: "成员与客服组", text: "每位同事用自己的账号登录；程序仍用密钥。", invite: "邀请同事", person: "成员", role: "角色", serves: "接待", state: "状态", seen: "最近登录", never: "没有登录过", actions: "操作", edit: "修改", newLink: "新的密码链接", signOut: "退出登录", disable: "停用", enable: "启用", you: "您自己", online: "在线", anything: "什么都能接", always: "任何时候", at: "同时 {n} 个", free: "不限个数", assigned: "手上 {n} 个",
    disableSome: "停用 {n} 位成员？", search: "搜索姓名或账号", empty: "还没有成员。邀请同事，各自设密码登录，谁说了什么、做了什么就分得清。", disableTitle: "停用「{name}」？", disableText: "马上退出所有设备，不能再登录；历史、工单和报表里的数据都在。", outTitle: "让「{name}」退出登录？", outText: "这位同事的所有设备都要重新登录。", signedOut: "已退出所有设备", saved: "已保存",
    teams: "客服组", newTeam: "新建客服组", team: "名称", members: "{n} 位成员", none: "还没有组员", noTeams: "还没有客服组。分了组，会话可以转给组，组里谁有空谁接。", rename: "改名", remove: "删除", removeTitle: "删除客服组「{name}」？", removeText: "组员还在，只是不再属于这个组。", save: "保存", removed: "已删除",
  },
  en: {
    title: "People and teams", text: "Every colleague signs in with their own account; programs go on using keys.", invite: "Invite a colleague", person: "Person", role: "Role", serves: "Serves", state: "State", seen: "Last sign-in", never: "Never", actions: "Actions", edit: "Edit", newLink: "New password link", signOut: "Sign out", disable: "Disable", enable: "Enable", you: "You", online: "on duty", anything: "Anything", always: "Any time", at: "{n} at once", free: "Any number", assigned: "{n} now",
    disableSome: "Disable {n} people?", search: "Search name or login", empty: "Nobody yet. Invite your colleagues: with a password of their own it is clear who said and did what.", disableTitle: "Disable “{name}”?", disableText: "Signed out everywhere at once and unable to sign in; history, tickets and reports stay.", outTitle: "Sign “{name}” out?", outText: "All of their devices have to sign in again.", signedOut: "Signed out everywhere", saved: "Saved",
    teams: "Teams", newTeam: "New team", team: "Name", members: "{n} members", none: "Nobody is in it", noTeams: "No teams yet. A conversation can be transferred to a team; whoever of it is free accepts.", rename: "Rename", remove: "Delete", removeTitle: "Delete the team “{name}”?", removeText: "Its members stay, without it.", save: "Save", removed: "Deleted",
  },
});
const isOnline = (person) => person.last_seen && Date.now() - Date.parse(person.last_seen) < ON_DUTY_MS;

export function People({ route, manages }) {
  const by = { name: (person) => person.name, role: (person) => person.role, seen: (person) => person.signed_in_at };
  const list = useListing(route, ["q", "role", "state", "team"], async (query, signal) => {
    const [people, teams] = await Promise.all([server.get(PEOPLE, {}, { signal }), server.get(TEAMS, {}, { signal })]);
    const keep = (person) => ["role", "state"].every((name) => !query[name] || person[name] === query[name]) && (!query.team || person.teams.includes(query.team));
    return { names: new Map(people.people.map((person) => [person.login, person.name])), ...pageOf(people.people, query, { by, keep, text: (person) => `${person.name} ${person.display_name} ${person.login}` }), teams: teams.teams };
  });
  const teams = list.data?.teams;
  const [dialog, setDialog] = useState(null);  // [component, properties]
  const shut = () => { setDialog(null); list.reload(); };
  const sure = async (words, work, said) => (!words || await confirmed(words)) && await attempt(work, said) && list.reload();
  const link = (person) => attempt(async () => setDialog([Invited, { name: person.name, token: (await server.post(`${PEOPLE}/${person.id}/invitation`)).invitation }]));
  const disable = (person) => sure({ title: t("disableTitle", person), text: t("disableText"), action: t("disable") }, () => server.patch(`${PEOPLE}/${person.id}`, { disabled: true }), t("saved"));
  const enable = (person) => sure(null, () => server.patch(`${PEOPLE}/${person.id}`, { disabled: false }), t("saved"));
  const signOut = (person) => sure({ title: t("outTitle", person), text: t("outText"), action: t("signOut") }, () => server.delete(`${PEOPLE}/${person.id}/signins`), t("signedOut"));
  const small = (person, title, work, tone = "") => html`<button class="yd-btn yd-btn-small ${tone}" aria-label=${`${title} ${person.name}`} onClick=${() => work(person)}>${title}</button>`;
  const teamName = (id) => teams.find((team) => team.id === id)?.name || id;
  const nameOf = (login) => list.data.names.get(login) || login;
  const bulk = manages ? [{ title: t("enable"), run: (person) => person.state === "disabled" && server.patch(`${PEOPLE}/${person.id}`, { disabled: false }) },
    { title: t("disable"), danger: true, run: (person) => person.state !== "disabled" && !person.current && server.patch(`${PEOPLE}/${person.id}`, { disabled: true }), sure: (rows) => ({ title: t("disableSome", { n: rows.length }), text: t("disableText") }) }] : [];
  const Actions = (person) => html`<div class="yd-row yd-wrap">${small(person, t("edit"), () => setDialog([Editing, { person, teams, manages }]))}
    ${manages && person.state !== "disabled" && html`${small(person, t("newLink"), link)}${!person.current && html`${small(person, t("signOut"), signOut)}${small(person, t("disable"), disable, "yd-btn-danger")}`}`}
    ${manages && person.state === "disabled" && small(person, t("enable"), enable)}</div>`;
  const columns = [
    { title: t("person"), sort: "name", text: (person) => `${person.name} (${person.login})`, cell: (person) => html`<strong>${person.name}</strong>${person.current && html` <${Tag} tone="accent">${t("you")}<//>`}<span class="ad-sub yd-mono">${person.login}</span>${person.display_name !== person.name && html`<span class="ad-sub">${person.display_name}</span>`}` },
    { title: t("role"), name: "ad-wide", sort: "role", text: (person) => named("role", person.role), cell: (person) => html`<${Named} kind="role" value=${person.role} />` },
    { title: t("serves"), name: "ad-wide", text: (person) => [...person.teams.map(teamName), ...person.skills].join("、"), cell: (person) => html`${person.teams.map((id) => html`<${Tag} tone="accent">${teamName(id)}<//> `)}${person.skills.map((skill) => html`<${Tag}>${skill}<//> `)}
      <span class="ad-sub">${[person.skills.length ? "" : t("anything"), person.hours.map(describeHours).join("；") || t("always"), person.capacity ? t("at", { n: person.capacity }) : t("free")].filter(Boolean).join(" · ")}</span>` },
    { title: t("state"), name: "ad-wide", text: (person) => named("personState", person.state), cell: (person) => html`<${Named} kind="personState" value=${person.state} />${isOnline(person) && html` <${Tag} tone="good">${t("online")}<//>`}${person.assigned > 0 && html`<span class="ad-sub">${t("assigned", { n: person.assigned })}</span>`}` },
    { title: t("seen"), name: "ad-wide", sort: "seen", latest: true, text: (person) => person.signed_in_at, cell: (person) => (person.signed_in_at ? html`<span class="ad-when" title=${moment(person.signed_in_at)}>${ago(person.signed_in_at)}</span>` : html`<span class="yd-muted">${t("never")}</span>`) },
    { title: t("actions"), cell: Actions },
  ];
  const invite = () => setDialog([Inviting, { teams, onMade: (made) => setDialog([Invited, { name: made.name, token: made.invitation }]) }]);
  const inviteButton = () => html`<button class="yd-btn yd-btn-primary" disabled=${!teams} onClick=${invite}>${t("invite")}</button>`;
  return html`<${Head} title=${t("title")} text=${t("text")}>${manages && inviteButton()}<//>
    <div class="yd-stack"><${Listing} list=${list} caption=${t("title")} columns=${columns} file="people" bulk=${bulk} rowsOf=${(data) => data.items} keyOf=${(person) => person.id} nameOf=${(person) => person.name} empty=${t("empty")} next=${manages && inviteButton()}
        filters=${html`<${Search} list=${list} label=${t("search")} /><${Choice} list=${list} name="role" label=${t("role")} options=${ROLES.map((role) => [role, named("role", role)])} /><${Choice} list=${list} name="state" label=${t("state")} options=${options("personState")} />
          ${teams?.length > 0 && html`<${Choice} list=${list} name="team" label=${t("teams")} options=${teams.map((team) => [team.id, team.name])} />`}`} />
      ${teams && html`<div class="ad-head"><div><h2>${t("teams")}</h2></div><div class="yd-row"><button class="yd-btn" onClick=${() => setDialog([Naming, { team: null }])}>${t("newTeam")}</button></div></div>
      ${teams.length ? html`<div class="yd-card yd-stack">${teams.map((team) => html`<div class="yd-row yd-wrap" key=${team.id}><div class="yd-grow"><strong>${team.name}</strong> <span class="yd-small yd-muted">${team.members.length ? `${t("members", { n: team.members.length })} · ${team.members.map(nameOf).join("、")}` : t("none")}</span></div>
        ${small(team, t("rename"), () => setDialog([Naming, { team }]))}${small(team, t("remove"), () => sure({ title: t("removeTitle", team), text: t("removeText"), action: t("remove") }, () => server.delete(`${TEAMS}/${team.id}`), t("removed")), "yd-btn-danger")}</div>`)}</div>` : html`<div class="yd-card yd-empty">${t("noTeams")}</div>`}`}</div>
    ${dialog && html`<${dialog[0]} ...${dialog[1]} onClose=${shut} />`}`;
}

function Naming({ team, onClose }) {
  const [name, setName] = useState(team?.name || ""), [error, setError] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    try { await (team ? server.put(`${TEAMS}/${team.id}`, { name }) : server.post(TEAMS, { name })); onClose(); } catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${team ? t("rename") : t("newTeam")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}><${Field} label=${t("team")}><input class="yd-input" name="team" required maxlength="64" autofocus value=${name} onInput=${(event) => setName(event.target.value)} /><//>
    ${error && html`<${Failure} error=${error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary">${t("save")}</button></div></form><//>`;
}
