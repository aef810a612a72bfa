// The chat page: the widget as large as the page. Whoever may see traces also gets the drawer that explains a turn.
import { client } from "../core/api.js";
import { language, setLanguage, words } from "../shared/i18n.js";
import { html } from "../shared/ui.js";
import "../widget/main.js";
import { icon } from "../widget/icons.js";
import { showTrace } from "./trace.js";

const t = words({
  zh: { title: "{name} · 在线客服", other: "English", theme: "切换深色与浅色" },
  en: { title: "{name} · Support", other: "中文", theme: "Switch between light and dark" },
});
const STAFF = ["admin", "agent"];
const FILTERS = ["documents", "categories", "tags", "folders", "products", "versions"];
const api = client();

async function start() {
  const [config, staff] = await Promise.all([api.get("/web/config.json"), api.get("/api/v1/signin")]);
  const chat = document.createElement("yingda-chat");
  const explains = staff.signed_in && staff.roles.some((role) => STAFF.includes(role));
  chat.mode = "full";
  chat.dataset.lang = document.documentElement.lang = language();
  chat.dataset.page = "none";
  const asked = Object.fromEntries(new URLSearchParams(location.search));
  chat.dataset.key = keyOf(asked) || config.key;
  for (const name of FILTERS) if (asked[name]) chat.dataset[name] = asked[name];
  chat.trace = explains ? (entry) => showTrace(entry.id) : undefined;
  chat.tools = html`<${Tools} chat=${chat} />`;
  dressed(chat, stored());
  document.getElementById("app").append(chat);
  await chat.ready;
  chat.conversation.subscribe(() => { document.title = t("title", { name: chat.conversation.state.greeting?.name || "应答" }); });
}

// A key in the address is remembered for this visit, and leaves the address bar with its history.
function keyOf(asked) {
  if (asked.key) {
    const address = new URL(location.href);
    address.searchParams.delete("key");
    history.replaceState(null, "", address);
    try { sessionStorage.setItem("yd-key", asked.key); } catch { /* for this page alone */ }
  }
  try { return asked.key || sessionStorage.getItem("yd-key"); } catch { return asked.key; }
}

const Tools = ({ chat }) => html`<button class="tool" onClick=${() => turned(chat)}>${t("other")}</button>
  <button class="tool" aria-label=${t("theme")} title=${t("theme")} onClick=${() => dressed(chat, isDark() ? "light" : "dark")}>${icon(["M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5Z"])}</button>`;

function turned(chat) {
  setLanguage(language() === "zh" ? "en" : "zh");
  chat.dataset.lang = document.documentElement.lang = language();
}

const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function dressed(chat, theme) {
  if (!theme) return;
  chat.dataset.theme = document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("yd-theme", theme); } catch { /* for this page alone */ }
}

function stored() {
  try { return localStorage.getItem("yd-theme"); } catch { return null; }
}

start();
