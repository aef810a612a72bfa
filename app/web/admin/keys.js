// Keys: listed with what they may do, their end and their last use; made, changed, rotated, revoked for good.
import { ago, moment, words } from "../shared/i18n.js";
import { Tag, attempt, confirmed, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Editing, KEYS, Making, Rotating } from "./key.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head } from "./page.js";
import { server } from "./server.js";

const t = words({
  zh: {
    title: "密钥", text: "每个网页、程序和同事用自己的密钥，丢了哪个就停用哪个。", search: "搜索名称", new: "新建密钥", name: "名称", role: "角色与范围", roles: "角色", state: "状态", origins: "允许的网页", used: "最近使用", never: "没用过", ends: "到期", forever: "不到期", created: "{when} 创建", previous: "原来的密文用到 {when}", revoke: "停用", edit: "修改", rotate: "轮换", current: "您正在用它", any: "未写明：别的网站用不了", actions: "操作", sureSome: "停用 {n} 个密钥？",
    sure: "停用「{name}」？", sureText: "用它的网页和程序马上连不上，已经连着的也会断开。不能恢复，只能新建。", revokedNow: "已停用", empty: "还没有密钥：只有这台机器能用，并且不用登录。要让别人用，先建一个管理员密钥。", environment: "环境变量 API_KEY 也是管理员密钥，不在列表里。",
  },
  en: {
    title: "Keys", text: "Each page, program and colleague has a key of its own; a lost one is revoked alone.", search: "Search names", new: "New key", name: "Name", role: "Role and scopes", roles: "Role", state: "State", origins: "Allowed pages", used: "Last used", never: "Never", ends: "Ends", forever: "Never ends", created: "Made {when}", previous: "The secret before works until {when}", revoke: "Revoke", edit: "Edit", rotate: "Rotate", current: "You use it now", any: "None: no other site can use it", actions: "Actions", sureSome: "Revoke {n} keys?",
    sure: "Revoke “{name}”?", sureText: "Pages and programs with it are out at once, those connected too. This cannot be undone.", revokedNow: "Revoked", empty: "No keys yet: only this machine may use the server, without signing in. For others, make an administrator's key first.", environment: "API_KEY of the environment is an administrator's key too and in no list.",
  },
});
const passed = (iso) => new Date(iso) <= new Date();
const When = ({ iso }) => html`<span class="ad-when" title=${moment(iso)}>${ago(iso)}</span>`;
const Quiet = ({ children }) => html`<span class="yd-muted">${children}</span>`;

const Ends = ({ of: key }) => html`${key.expires_at ? html`<span class="ad-when">${moment(key.expires_at)}</span>` : html`<${Quiet}>${t("forever")}<//>`}
  ${key.previous_until && !passed(key.previous_until) && html`<span class="ad-sub">${t("previous", { when: moment(key.previous_until) })}</span>`}`;

const Pages = ({ of: key }) => key.role === "client" && (key.origins.length ? key.origins.map((origin) => html`<div class="yd-small">${origin}</div>`) : html`<${Quiet}>${t("any")}<//>`);

export function Keys({ route, me, again }) {
  const list = useListing(route, ["q", "role", "state"], (query, signal) => server.get(KEYS, query, { signal }));
  const [dialog, setDialog] = useState(null);  // [component, key]
  const close = () => { setDialog(null); list.reload(); if (me.keyless) again(); };
  const revoke = async (key) => {
    if (!await confirmed({ title: t("sure", { name: key.name }), text: t("sureText"), action: t("revoke") })) return;
    if (await attempt(() => server.delete(`${KEYS}/${key.id}`), t("revokedNow"))) list.reload();
  };
  const small = (title, work, tone = "") => html`<button class="yd-btn yd-btn-small ${tone}" onClick=${work}>${title}</button>`;
  const Actions = (key) => html`<div class="yd-row">${small(t("edit"), () => setDialog([Editing, key]))}${key.state === "valid" && small(t("rotate"), () => setDialog([Rotating, key]))}${!key.current && small(t("revoke"), () => revoke(key), "yd-btn-danger")}</div>`;
  const bulk = [{ title: t("revoke"), danger: true, run: (key) => !key.current && !key.revoked_at && server.delete(`${KEYS}/${key.id}`), sure: (rows) => ({ title: t("sureSome", { n: rows.length }), text: t("sureText") }) }];
  const columns = [
    { title: t("name"), sort: "name", text: (key) => key.name, cell: (key) => html`<strong>${key.name}</strong>${key.current && html` <${Tag} tone="accent">${t("current")}<//>`}${key.state === "expired" && html` <${Named} kind="keyState" value="expired" />`}<span class="ad-sub yd-mono">${key.id.slice(0, 12)}</span><span class="ad-sub">${t("created", { when: moment(key.created_at) })}</span>` },
    { title: t("role"), sort: "role", text: (key) => [named("role", key.role), ...key.scopes.map((scope) => named("scope", scope))].join("、"), cell: (key) => html`<${Named} kind="role" value=${key.role} /><span class="ad-sub">${key.scopes.map((scope) => named("scope", scope)).join("、")}</span>` },
    { title: t("origins"), name: "ad-wide", text: (key) => key.origins.join(" "), cell: (key) => html`<${Pages} of=${key} />` },
    { title: t("used"), name: "ad-wide", sort: "used", latest: true, text: (key) => key.last_used_at, cell: (key) => (key.last_used_at ? html`<${When} iso=${key.last_used_at} />` : html`<${Quiet}>${t("never")}<//>`) },
    { title: t("ends"), name: "ad-wide", sort: "ends", latest: true, text: (key) => key.expires_at, cell: (key) => html`<${Ends} of=${key} />` },
    { title: t("actions"), text: (key) => named("keyState", key.state), cell: (key) => (key.revoked_at ? html`<${Named} kind="keyState" value="revoked" />` : Actions(key)) },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")}><button class="yd-btn yd-btn-primary" onClick=${() => setDialog([Making, null])}>${t("new")}</button><//>
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(key) => key.id} nameOf=${(key) => key.name} file="keys" bulk=${bulk} empty=${t("empty")} next=${html`<button class="yd-btn yd-btn-primary" onClick=${() => setDialog([Making, null])}>${t("new")}</button>`} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="role" label=${t("roles")} options=${options("role")} /><${Choice} list=${list} name="state" label=${t("state")} options=${options("keyState")} />`} />
    ${list.data?.environment_key && html`<p class="yd-small yd-muted">${t("environment")}</p>`}
    ${dialog && html`<${dialog[0]} given=${dialog[1]} keyless=${me.keyless} onClose=${close} />`}`;
}
