// What is asked of somebody who makes, changes or rotates a key; the secret is shown once.
import { words } from "../shared/i18n.js";
import { Dialog, Failure, Field, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { named, options } from "./names.js";
import { Secret } from "./secret.js";
import { server, signIn } from "./server.js";

export const KEYS = "/api/v1/keys";
const ROLES = ["client", "server", "agent", "lead", "admin", "metrics"];
const t = words({
  zh: {
    new: "新建密钥", name: "名称", nameHint: "看得出给谁用，例如：官网", role: "角色", origins: "允许的网页", originsHint: "每行一个来源，例如 https://shop.example.com；只有写明的网页能从浏览器里用它", ends: "到期时间", endsHint: "留空为不到期", scopes: "权限范围", scopesHint: "只能用角色之内选中的部分；都不选为不限。创建之后不能改。",
    create: "创建", save: "保存", rotate: "轮换", rotateText: "换一个新的密文，名称、角色、范围都不变。原来的在宽限期内仍然可用，来得及逐个换掉。", grace: "原来的还能用几小时", graceHint: "0 为立即失效：疑似泄露时用", shown: "密钥已创建", rotated: "密钥已轮换", shownText: "只显示这一次，请现在复制到安全的地方。", done: "我已保存好", first: "第一个密钥须是管理员的；建好之后，这台机器也要登录，页面会用新密钥自动登录。",
    d_client: "网站、App 的聊天窗口，谁都看得到", d_server: "您自己的后端，可以代会员提问", d_agent: "人工客服：人工台、会话与工单", d_lead: "另可看报表、排班", d_admin: "管理知识库、设定和密钥", d_metrics: "给 Prometheus，只读指标",
  },
  en: {
    new: "New key", name: "Name", nameHint: "Says who uses it, for example: website", role: "Role", origins: "Allowed pages", originsHint: "One origin a line, for example https://shop.example.com; only these pages can use it from a browser", ends: "Ends", endsHint: "Empty: never", scopes: "Scopes", scopesHint: "The key may use the chosen parts of what its role may; none chosen is all of it. This cannot be changed later.",
    create: "Create", save: "Save", rotate: "Rotate", rotateText: "Gives it another secret; name, role and scopes stay. The secret before works on for a while, so that it can be replaced everywhere.", grace: "Hours that the one before still works", graceHint: "0 ends it at once: for one that may have leaked", shown: "The key is made", rotated: "The key is rotated", shownText: "It is shown this once. Copy it to a safe place now.", done: "I have kept it", first: "The first key must be an administrator's. After that this machine signs in too; the page does so with the new key.",
    d_client: "Chat windows of sites and apps; anybody can see it", d_server: "Your own server, which may ask for members", d_agent: "People who serve: desk, conversations, tickets", d_lead: "Reports and duties as well", d_admin: "Knowledge base, settings and keys", d_metrics: "For Prometheus, metrics only",
  },
});

// A moment as the field of a form takes it, in this browser's time, and back.
const local = (iso) => (iso ? new Date(new Date(iso) - new Date(iso).getTimezoneOffset() * 60000).toISOString().slice(0, 16) : "");
const exact = (text) => (text ? new Date(text).toISOString() : null);
const originsOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

const Origins = ({ value, onInput }) => html`<${Field} label=${t("origins")} hint=${t("originsHint")}><textarea class="yd-input" rows="3" name="origins" value=${value} onInput=${onInput}></textarea><//>`;
const Ends = ({ value, onInput }) => html`<${Field} label=${t("ends")} hint=${t("endsHint")}><input class="yd-input" type="datetime-local" name="ends" value=${value} onInput=${onInput} /><//>`;
const Last = ({ busy, action }) => html`<div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${busy}>${action}</button></div>`;
const Shown = ({ title, value, onClose }) => html`<${Dialog} title=${title} onClose=${onClose}><${Secret} value=${value} text=${t("shownText")} /><div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" onClick=${onClose}>${t("done")}</button></div><//>`;

// What a form does when it is sent: {busy}, then {made} or {error}.
function useSending(work) {
  const [state, setState] = useState({});
  const send = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try { setState({ made: await work() }); } catch (error) { setState({ error }); }
  };
  return [state, send];
}

function Scopes({ chosen, onChange }) {
  const flip = (scope) => onChange(chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope]);
  return html`<details><summary>${t("scopes")}</summary><fieldset class="ad-plain yd-stack"><legend class="yd-small yd-muted">${t("scopesHint")}</legend>
    <div class="ad-events">${options("scope").map(([scope, title]) => html`<label class="yd-small"><input type="checkbox" name="scope" value=${scope} checked=${chosen.includes(scope)} onChange=${() => flip(scope)} /> ${title}<span class="ad-sub yd-mono">${scope}</span></label>`)}</div></fieldset></details>`;
}

export function Making({ keyless, onClose }) {
  const [values, setValues] = useState({ name: "", role: keyless ? "admin" : "client", origins: "", ends: "", scopes: [] });
  const put = (name) => (value) => setValues({ ...values, [name]: value });
  const set = (name) => (event) => put(name)(event.target.value);
  const [state, make] = useSending(async () => {
    const { name, role, origins, ends, scopes } = values;
    const made = await server.post(KEYS, { name: name.trim(), role, origins: role === "client" ? originsOf(origins) : [], scopes: role === "metrics" ? [] : scopes, expires_at: exact(ends) });
    if (keyless) await signIn(made.key);
    return made;
  });
  if (state.made) return html`<${Shown} title=${t("shown")} value=${state.made.key} onClose=${onClose} />`;
  return html`<${Dialog} title=${t("new")} onClose=${onClose}><form class="yd-stack" onSubmit=${make}>${keyless && html`<p class="yd-notice" data-tone="warn">${t("first")}</p>`}
    <${Field} label=${t("name")} hint=${t("nameHint")}><input class="yd-input" name="name" required maxlength="100" value=${values.name} onInput=${set("name")} /><//>
    <fieldset class="ad-plain yd-stack"><legend class="yd-label">${t("role")}</legend>${ROLES.map((role) => html`<label class="yd-row ad-option"><input type="radio" name="role" value=${role} checked=${values.role === role} disabled=${keyless && role !== "admin"} onChange=${set("role")} /><span><strong>${named("role", role)}</strong><span class="ad-sub">${t(`d_${role}`)}</span></span></label>`)}</fieldset>
    ${values.role === "client" && html`<${Origins} value=${values.origins} onInput=${set("origins")} />`}
    <${Ends} value=${values.ends} onInput=${set("ends")} />${values.role !== "metrics" && !keyless && html`<${Scopes} chosen=${values.scopes} onChange=${put("scopes")} />`}
    ${state.error && html`<${Failure} error=${state.error} />`}<${Last} busy=${state.busy} action=${t("create")} /></form><//>`;
}

export function Editing({ given, onClose }) {
  const [values, setValues] = useState({ name: given.name, origins: given.origins.join("\n"), ends: local(given.expires_at) });
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const [state, save] = useSending(async () => {
    const changed = { name: values.name };
    if (given.role === "client") changed.origins = originsOf(values.origins);
    if (values.ends !== local(given.expires_at)) changed.expires_at = exact(values.ends);
    await server.patch(`${KEYS}/${given.id}`, changed);
    onClose();
  });
  return html`<${Dialog} title=${given.name} onClose=${onClose}><form class="yd-stack" onSubmit=${save}><${Field} label=${t("name")}><input class="yd-input" required maxlength="100" value=${values.name} onInput=${set("name")} /><//>
    ${given.role === "client" && html`<${Origins} value=${values.origins} onInput=${set("origins")} />`}<${Ends} value=${values.ends} onInput=${set("ends")} />
    ${state.error && html`<${Failure} error=${state.error} />`}<${Last} busy=${state.busy} action=${t("save")} /></form><//>`;
}

// Of the key that one signed in with, too: this page then goes on with the new secret.
export function Rotating({ given, onClose }) {
  const [hours, setHours] = useState("24");
  const [state, rotate] = useSending(async () => {
    const made = await server.post(`${KEYS}/${given.id}/rotate`, { grace_hours: Number(hours) });
    if (given.current) await signIn(made.key);
    return made;
  });
  if (state.made) return html`<${Shown} title=${t("rotated")} value=${state.made.key} onClose=${onClose} />`;
  return html`<${Dialog} title=${given.name} onClose=${onClose}><form class="yd-stack" onSubmit=${rotate}><p>${t("rotateText")}</p>
    <${Field} label=${t("grace")} hint=${t("graceHint")}><input class="yd-input" type="number" min="0" max="720" step="any" required value=${hours} onInput=${(event) => setHours(event.target.value)} /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}<${Last} busy=${state.busy} action=${t("rotate")} /></form><//>`;
}
