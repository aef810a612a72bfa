// Signing in with a key of the staff. It goes into a cookie that no script reads.
import { words } from "../shared/i18n.js";
import { Failure, Field, html } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { signIn } from "./server.js";

const t = words({
  zh: { title: "登录管理后台", key: "密钥", hint: "管理员或客服的密钥，以 yd- 开头；环境变量 API_KEY 的值也可以。", go: "登录", going: "正在登录…", wrong: "密钥不对，或已经停用。" },
  en: { title: "Sign in to the console", key: "Key", hint: "A key of an administrator or of staff, beginning with yd-; the value of API_KEY works too.", go: "Sign in", going: "Signing in…", wrong: "This key is wrong or was revoked." },
});

export function SignIn({ onDone, speak, other }) {
  const [key, setKey] = useState("");
  const [state, setState] = useState({});
  const submit = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    try {
      await signIn(key.trim());
      onDone();
    } catch (error) {
      setState({ error });
    }
  };
  return html`<main class="ad-alone"><form class="yd-card yd-stack ad-signin" onSubmit=${submit}>
    <div class="yd-row"><img src="/web/shared/icon.svg" alt="" width="32" height="32" /><h1 class="yd-grow">${t("title")}</h1></div>
    <${Field} label=${t("key")} hint=${t("hint")}><input class="yd-input" type="password" name="key" autocomplete="current-password" required autofocus value=${key} onInput=${(event) => setKey(event.target.value)} aria-invalid=${Boolean(state.error)} /><//>
    ${state.error && (state.error.status === 401 ? html`<${Failure} error=${{ message: t("wrong"), requestId: state.error.requestId }} />` : html`<${Failure} error=${state.error} />`)}
    <button class="yd-btn yd-btn-primary" disabled=${state.busy || !key.trim()}>${state.busy ? t("going") : t("go")}</button>
    <button type="button" class="yd-btn yd-btn-quiet yd-btn-small" onClick=${speak}>${other}</button>
  </form></main>`;
}
