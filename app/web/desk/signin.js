// Before the desk opens: the sign-in, and who one is whom a shared key does not tell.
import { useState } from "../vendor/preact-htm.js";
import { language, setLanguage } from "../shared/i18n.js";
import { isInvited, SignInForm, Welcome, welcomeTitle } from "../shared/signin.js";
import { Failure, Field, html, useLoaded } from "../shared/ui.js";
import { keep, kept } from "./keeping.js";
import { api } from "./store.js";
import { t } from "./words.js";

const ID = /^[A-Za-z0-9_.:@-]{1,64}$/;
const place = (tenant) => `yd-desk-me:${tenant}`;

// Who this browser was the last time.
export function remembered(tenant) {
  try {
    const me = JSON.parse(kept(place(tenant)));
    return me && ID.test(me.agent_id) && me.name ? me : null;
  } catch { return null; }
}
export const remember = (tenant, me) => keep(place(tenant), me && JSON.stringify(me));

function Door({ title, onChange, children }) {
  return html`<main class="desk-door"><div class="yd-card yd-stack"><div class="yd-row"><span class="desk-brand yd-grow">${t("brand")} <span class="yd-muted">${t("desk")}</span></span>
    <button class="yd-btn yd-btn-quiet yd-btn-small" lang=${language() === "zh" ? "en" : "zh"} onClick=${() => { setLanguage(language() === "zh" ? "en" : "zh"); onChange(); }}>${language() === "zh" ? "English" : "中文"}</button></div>
    <h1>${title}</h1>${children}</div></main>`;
}

export const SignIn = ({ expired, onChange, onSignedIn }) => html`<${Door} title=${isInvited() ? welcomeTitle() : t("signInTitle")} onChange=${onChange}>${expired && html`<p class="yd-notice" data-tone="warn" role="status">${t("signedOut")}</p>`}
  <${isInvited() ? Welcome : SignInForm} onDone=${onSignedIn} /><//>`;

export function WhoAmI({ signedIn, onChange, onKnown }) {
  const [name, setName] = useState(""), [agent, setAgent] = useState(""), [error, setError] = useState(null), [busy, setBusy] = useState(false);
  const known = useLoaded((signal) => api.get("/api/v1/agent/staff", {}, { signal }), []);
  const valid = !agent || ID.test(agent);
  async function be(me) {
    setBusy(true);
    setError(null);
    try {
      await api.post(`/api/v1/agent/staff/${encodeURIComponent(me.agent_id)}/presence`, { online: true, name: me.name });
      remember(signedIn.tenant, me);
      onKnown(me);
    } catch (failure) { setError(failure); setBusy(false); }
  }
  const people = known.data?.staff || [];
  return html`<${Door} title=${t("whoTitle")} onChange=${onChange}><p class="yd-muted">${t("whoText")}</p>
    <form class="yd-stack" onSubmit=${(event) => { event.preventDefault(); if (valid) be({ agent_id: agent, name: name.trim() }); }}>
      <${Field} label=${t("name")}><input class="yd-input" name="name" required maxlength="64" autocomplete="nickname" value=${name} onInput=${(event) => setName(event.target.value)} /><//>
      <${Field} label=${t("agentId")} hint=${t("agentHint")} error=${!valid && t("badId")}><input class="yd-input" name="agent_id" required maxlength="64" autocapitalize="none" spellcheck="false" aria-invalid=${!valid} value=${agent} onInput=${(event) => setAgent(event.target.value.trim())} /><//>
      ${error && html`<${Failure} error=${error} />`}
      <button class="yd-btn yd-btn-primary" disabled=${busy || !valid}>${t("start")}</button></form>
    ${known.error && html`<${Failure} error=${known.error} retry=${known.reload} />`}
    ${people.length > 0 && html`<div class="yd-stack"><span class="yd-label">${t("known")}</span><div class="yd-row yd-wrap">${people.map((member) => html`<button class="yd-btn yd-btn-small" disabled=${busy} onClick=${() => be({ agent_id: member.agent_id, name: member.name })}>${member.name}${member.name !== member.agent_id && html` <span class="yd-tiny yd-muted">${member.agent_id}</span>`}</button>`)}</div></div>`}<//>`;
}
