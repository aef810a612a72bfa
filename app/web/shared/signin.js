// Signing in with an account or a key, the first password by a link, and what one may change of one's own account.
import { html, useState } from "../vendor/preact-htm.js";
import { client } from "../core/api.js";
import { words } from "./i18n.js";
import { Dialog, Failure, Field, toast } from "./ui.js";

const SIGNIN = "/api/v1/signin";
const DEFAULT_TENANT = "default";
const MIN = 10;
const api = client();
const t = words({
  zh: {
    login: "账号", password: "密码", signIn: "登录", going: "正在登录…", byKey: "用密钥登录", byAccount: "用账号登录", key: "密钥", keyHint: "由管理员创建，以 yd- 开头。浏览器里只留一个登录凭据，退出即失效。", wrongKey: "密钥不对，或已经停用。", tenant: "租户", tenantHint: "只有一个租户时不用改", more: "不在默认租户？",
    byProvider: "以企业账号登录", providerText: "您从企业门户来到这里。", welcome: "设置密码", welcomeText: "设好之后直接登录；链接用一次就失效。", newPassword: "新密码", again: "再输一遍", rule: `至少 ${MIN} 个字符，不要包含账号；越长越好。`, differ: "两次输入的不一样。", start: "保存并登录",
    mine: "我的账号", account: "账号", change: "修改密码", current: "原来的密码", save: "保存", saved: "密码已修改，其他设备都已退出。", everywhere: "在所有设备上退出",
  },
  en: {
    login: "Account", password: "Password", signIn: "Sign in", going: "Signing in…", byKey: "Sign in with a key", byAccount: "Sign in with an account", key: "Key", keyHint: "Made by an administrator, begins with yd-. The browser keeps a sign-in only, which ends when you sign out.", wrongKey: "This key is wrong or was revoked.", tenant: "Tenant", tenantHint: "Leave it where there is one tenant", more: "Not in the default tenant?",
    byProvider: "Sign in with your company account", providerText: "You came here from your company's portal.", welcome: "Choose a password", welcomeText: "It signs you in at once; the link works this once.", newPassword: "New password", again: "Once more", rule: `At least ${MIN} characters and not your account's name; longer is better.`, differ: "These are not the same.", start: "Save and sign in",
    mine: "My account", account: "Account", change: "Change password", current: "Current password", save: "Save", saved: "Password changed; all other devices are signed out.", everywhere: "Sign out on all devices",
  },
});

// What a link brought along behind the #, taken out of the address so that it is in no history and no screenshot.
const brought = new URLSearchParams(location.hash.slice(1));
let invitation = brought.get("invitation") || "";
const idToken = brought.get("id_token") || "";
if (invitation || idToken) history.replaceState(null, "", location.pathname + location.search);

function useSending(send) {
  const [state, set] = useState({});
  const go = async (event) => {
    event.preventDefault();
    set({ busy: true });
    try { await send(); } catch (error) { set({ error }); }
  };
  return [state, go];
}

const Secret = ({ label, hint, name, value, onInput, complete, min }) => html`<${Field} label=${label} hint=${hint}><input class="yd-input" type="password" name=${name} autocomplete=${complete} required minlength=${min} maxlength=${name === "key" ? 512 : 128} value=${value} onInput=${(event) => onInput(event.target.value)} /><//>`;

// onDone: (who) => void, with the answer of /api/v1/signin.
export function SignInForm({ onDone }) {
  const [way, setWay] = useState(idToken ? "provider" : "account");
  const [given, set] = useState({ login: "", password: "", tenant: DEFAULT_TENANT, key: "" });
  const put = (name) => (value) => set({ ...given, [name]: value });
  const [state, send] = useSending(async () => {
    const { login, password, tenant } = given;
    const body = way === "key" ? { key: given.key.trim() } : way === "provider" ? { id_token: idToken, tenant } : { login: login.trim(), password, tenant: tenant.trim() };
    onDone(await api.post(SIGNIN, body));
  });
  const wrong = way === "key" && state.error?.status === 401;
  return html`<form class="yd-stack" onSubmit=${send}>
    ${way === "key" && html`<${Secret} label=${t("key")} hint=${t("keyHint")} name="key" complete="current-password" value=${given.key} onInput=${put("key")} />`}
    ${way === "account" && html`<${Field} label=${t("login")}><input class="yd-input" name="login" required maxlength="64" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus value=${given.login} onInput=${(event) => put("login")(event.target.value)} /><//>
      <${Secret} label=${t("password")} name="password" complete="current-password" value=${given.password} onInput=${put("password")} />
      <details><summary class="yd-small yd-muted">${t("more")}</summary><${Field} label=${t("tenant")} hint=${t("tenantHint")}><input class="yd-input" name="tenant" required maxlength="64" value=${given.tenant} onInput=${(event) => put("tenant")(event.target.value)} /><//></details>`}
    ${way === "provider" && html`<p class="yd-muted">${t("providerText")}</p>`}
    ${state.error && html`<${Failure} error=${wrong ? { message: t("wrongKey"), requestId: state.error.requestId } : state.error} />`}
    <button class="yd-btn yd-btn-primary" disabled=${state.busy}>${state.busy ? t("going") : way === "provider" ? t("byProvider") : t("signIn")}</button>
    <button type="button" class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => setWay(way === "account" ? "key" : "account")}>${way === "account" ? t("byKey") : t("byAccount")}</button></form>`;
}

function NewPassword({ before, action, send }) {
  const [first, setFirst] = useState(""), [second, setSecond] = useState("");
  const differ = second !== "" && first !== second;
  const [state, go] = useSending(() => send(first));
  return html`<form class="yd-stack" onSubmit=${go}>${before}
    <${Secret} label=${t("newPassword")} hint=${t("rule")} name="new" complete="new-password" min=${MIN} value=${first} onInput=${setFirst} />
    <${Field} label=${t("again")} error=${differ && t("differ")}><input class="yd-input" type="password" name="again" autocomplete="new-password" required aria-invalid=${differ} value=${second} onInput=${(event) => setSecond(event.target.value)} /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <button class="yd-btn yd-btn-primary" disabled=${state.busy || first !== second}>${action}</button></form>`;
}

// The first password, or another one after it was forgotten, by the link of an administrator.
export const isInvited = () => invitation !== "";
export const welcomeTitle = () => t("welcome");
export const Welcome = ({ onDone }) => html`<p class="yd-muted">${t("welcomeText")}</p>
  <${NewPassword} action=${t("start")} send=${async (password) => { const who = await api.post(`${SIGNIN}/invitation`, { invitation, password }); invitation = ""; onDone(who); }} />`;

// who: the answer of /api/v1/signin. onOut: one is signed out.
export function Account({ who, onOut, onClose }) {
  const [current, setCurrent] = useState("");
  const [state, everywhere] = useSending(async () => { await api.delete(`${SIGNIN}/everywhere`); onOut(); });
  return html`<${Dialog} title=${t("mine")} onClose=${onClose}><p>${who.key_name} <span class="yd-mono yd-muted">${who.agent_id}</span></p><h3>${t("change")}</h3>
    <${NewPassword} action=${t("save")} before=${html`<input type="text" name="username" autocomplete="username" hidden value=${who.agent_id} /><${Secret} label=${t("current")} name="current" complete="current-password" value=${current} onInput=${setCurrent} />`}
      send=${async (password) => { await api.put(`${SIGNIN}/password`, { current, password }); toast(t("saved"), "good"); onClose(); }} />
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div><button class="yd-btn" disabled=${state.busy} onClick=${everywhere}>${t("everywhere")}</button></div><//>`;
}
export const accountTitle = () => t("mine");
