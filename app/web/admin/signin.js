// Before the console opens: with an account or a key of the staff.
import { words } from "../shared/i18n.js";
import { SignInForm, Welcome, isInvited, welcomeTitle } from "../shared/signin.js";
import { html } from "../shared/ui.js";

const t = words({ zh: { title: "登录管理后台" }, en: { title: "Sign in to the console" } });

export const SignIn = ({ onDone, speak, other }) => html`<main class="ad-alone"><div class="yd-card yd-stack ad-signin">
  <div class="yd-row"><img src="/web/shared/icon.svg" alt="" width="32" height="32" /><h1 class="yd-grow">${isInvited() ? welcomeTitle() : t("title")}</h1></div>
  <${isInvited() ? Welcome : SignInForm} onDone=${onDone} />
  <button type="button" class="yd-btn yd-btn-quiet yd-btn-small" onClick=${speak}>${other}</button></div></main>`;
