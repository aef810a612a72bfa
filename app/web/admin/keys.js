// Keys: made and shown once, listed with their last use, revoked for good.
import { ago, moment, words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Tag, attempt, confirmed, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Choice, Listing, Search, useListing } from "./listing.js";
import { Named, named, options } from "./names.js";
import { Head } from "./page.js";
import { Secret } from "./secret.js";
import { server, signIn } from "./server.js";

const KEYS = "/api/v1/keys";
const ROLES = ["client", "server", "agent", "admin", "metrics"];
const t = words({
  zh: {
    title: "密钥", text: "每个网页、程序和同事用自己的密钥，丢了哪个就停用哪个。", search: "搜索名称", new: "新建密钥", name: "名称", nameHint: "看得出给谁用，例如：官网", role: "角色", state: "状态", valid: "可用", revoked: "已停用", origins: "允许的网页", originsHint: "每行一个来源，例如 https://shop.example.com；只有写明的网页能从浏览器里用它", used: "最近使用", never: "没用过", created: "创建于", revoke: "停用", edit: "修改", save: "保存", current: "您正在用它", any: "未写明：别的网站用不了",
    create: "创建", shown: "密钥已创建", shownText: "只显示这一次，请现在复制到安全的地方。", done: "我已保存好", sure: "停用「{name}」？", sureText: "用它的网页和程序马上连不上，已经连着的也会断开。不能恢复，只能新建。", revokedNow: "已停用", empty: "还没有密钥：只有这台机器能用，并且不用登录。要让别人用，先建一个管理员密钥。", first: "第一个密钥须是管理员的；建好之后，这台机器也要登录，页面会用新密钥自动登录。", environment: "环境变量 API_KEY 也是管理员密钥，不在列表里。",
    d_client: "网站、App 的聊天窗口，谁都看得到", d_server: "您自己的后端，可以代会员提问", d_agent: "人工客服：人工台、会话与工单", d_admin: "管理知识库、设定和密钥", d_metrics: "给 Prometheus，只读指标", actions: "操作",
  },
  en: {
    title: "Keys", text: "Each page, program and colleague has a key of its own; a lost one is revoked alone.", search: "Search names", new: "New key", name: "Name", nameHint: "Says who uses it, for example: website", role: "Role", state: "State", valid: "Valid", revoked: "Revoked", origins: "Allowed pages", originsHint: "One origin a line, for example https://shop.example.com; only these pages can use it from a browser", used: "Last used", never: "Never", created: "Created", revoke: "Revoke", edit: "Edit", save: "Save", current: "You use it now", any: "None: no other site can use it",
    create: "Create", shown: "The key is made", shownText: "It is shown this once. Copy it to a safe place now.", done: "I have kept it", sure: "Revoke “{name}”?", sureText: "Pages and programs with it are out at once, those connected too. This cannot be undone.", revokedNow: "Revoked", empty: "No keys yet: only this machine may use the server, without signing in. For others, make an administrator's key first.", first: "The first key must be an administrator's. After that this machine signs in too; the page does so with the new key.", environment: "API_KEY of the environment is an administrator's key too and in no list.",
    d_client: "Chat windows of sites and apps; anybody can see it", d_server: "Your own server, which may ask for members", d_agent: "People who serve: desk, conversations, tickets", d_admin: "Knowledge base, settings and keys", d_metrics: "For Prometheus, metrics only", actions: "Actions",
  },
});

export function Keys({ route, me, again }) {
  const list = useListing(route, ["q", "role", "state"], (query, signal) => server.get(KEYS, query, { signal }));
  const [making, setMaking] = useState(false);
  const [edited, setEdited] = useState(null);
  const revoke = async (key) => {
    if (!await confirmed({ title: t("sure", { name: key.name }), text: t("sureText"), action: t("revoke") })) return;
    if (await attempt(() => server.delete(`${KEYS}/${key.id}`), t("revokedNow"))) list.reload();
  };
  const columns = [
    { title: t("name"), cell: (key) => html`<strong>${key.name}</strong>${key.current && html` <${Tag} tone="accent">${t("current")}<//>`}<span class="ad-sub yd-mono">${key.id.slice(0, 12)}</span>` },
    { title: t("role"), cell: (key) => html`<${Named} kind="role" value=${key.role} />` },
    { title: t("origins"), name: "ad-wide", cell: (key) => (key.role === "client" ? (key.origins.length ? key.origins.map((origin) => html`<div class="yd-small">${origin}</div>`) : html`<span class="yd-muted">${t("any")}</span>`) : "") },
    { title: t("used"), name: "ad-wide", cell: (key) => (key.last_used_at ? html`<span class="ad-when" title=${moment(key.last_used_at)}>${ago(key.last_used_at)}</span>` : html`<span class="yd-muted">${t("never")}</span>`) },
    { title: t("created"), name: "ad-wide", cell: (key) => html`<span class="ad-when">${moment(key.created_at)}</span>` },
    { title: t("actions"), cell: (key) => (key.revoked_at ? html`<${Tag} tone="bad">${t("revoked")}<//>` : html`<div class="yd-row"><button class="yd-btn yd-btn-small" onClick=${() => setEdited(key)}>${t("edit")}</button>${!key.current && html`<button class="yd-btn yd-btn-small yd-btn-danger" onClick=${() => revoke(key)}>${t("revoke")}</button>`}</div>`) },
  ];
  return html`<${Head} title=${t("title")} text=${t("text")}><button class="yd-btn yd-btn-primary" onClick=${() => setMaking(true)}>${t("new")}</button><//>
    <${Listing} list=${list} caption=${t("title")} columns=${columns} rowsOf=${(data) => data.items} keyOf=${(key) => key.id} empty=${t("empty")} filters=${html`<${Search} list=${list} label=${t("search")} />
      <${Choice} list=${list} name="role" label=${t("role")} options=${options("role")} /><${Choice} list=${list} name="state" label=${t("state")} options=${[["valid", t("valid")], ["revoked", t("revoked")]]} />`} />
    ${list.data?.environment_key && html`<p class="yd-small yd-muted">${t("environment")}</p>`}
    ${making && html`<${Making} keyless=${me.keyless} onClose=${() => { setMaking(false); list.reload(); if (me.keyless) again(); }} />`}
    ${edited && html`<${Editing} given=${edited} onClose=${() => setEdited(null)} onSaved=${() => { setEdited(null); list.reload(); }} />`}`;
}

const originsOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);
const Origins = ({ value, onInput }) => html`<${Field} label=${t("origins")} hint=${t("originsHint")}><textarea class="yd-input" rows="3" name="origins" value=${value} onInput=${(event) => onInput(event.target.value)}></textarea><//>`;

function Making({ keyless, onClose }) {
  const [values, setValues] = useState({ name: "", role: keyless ? "admin" : "client", origins: "" });
  const [state, setState] = useState({});
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const make = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      const made = await server.post(KEYS, { name: values.name.trim(), role: values.role, origins: values.role === "client" ? originsOf(values.origins) : [] });
      if (keyless) await signIn(made.key);
      setState({ made });
    } catch (error) { setState({ error }); }
  };
  if (state.made) return html`<${Dialog} title=${t("shown")} onClose=${onClose}><${Secret} value=${state.made.key} text=${t("shownText")} /><div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" onClick=${onClose}>${t("done")}</button></div><//>`;
  return html`<${Dialog} title=${t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${make}>${keyless && html`<p class="yd-notice" data-tone="warn">${t("first")}</p>`}
    <${Field} label=${t("name")} hint=${t("nameHint")}><input class="yd-input" name="name" required maxlength="128" value=${values.name} onInput=${set("name")} /><//>
    <fieldset class="ad-plain yd-stack"><legend class="yd-label">${t("role")}</legend>${ROLES.map((role) => html`<label class="yd-row ad-option"><input type="radio" name="role" value=${role} checked=${values.role === role} disabled=${keyless && role !== "admin"} onChange=${set("role")} /><span><strong>${named("role", role)}</strong><span class="ad-sub">${t(`d_${role}`)}</span></span></label>`)}</fieldset>
    ${values.role === "client" && html`<${Origins} value=${values.origins} onInput=${(origins) => setValues({ ...values, origins })} />`}
    ${state.error && html`<${Failure} error=${state.error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("create")}</button></div></form><//>`;
}

function Editing({ given, onClose, onSaved }) {
  const [name, setName] = useState(given.name);
  const [origins, setOrigins] = useState(given.origins.join("\n"));
  const [error, setError] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    try {
      await server.patch(`${KEYS}/${given.id}`, given.role === "client" ? { name, origins: originsOf(origins) } : { name });
      onSaved();
    } catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${given.name} onClose=${onClose}><form class="yd-stack" onSubmit=${save}><${Field} label=${t("name")}><input class="yd-input" required maxlength="128" value=${name} onInput=${(event) => setName(event.target.value)} /><//>
    ${given.role === "client" && html`<${Origins} value=${origins} onInput=${setOrigins} />`}${error && html`<${Failure} error=${error} />`}<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary">${t("save")}</button></div></form><//>`;
}
