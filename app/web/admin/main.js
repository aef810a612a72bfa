// The console: who one is, where one is, and the section that belongs there.
import { language, setLanguage, words } from "../shared/i18n.js";
import { Account, accountTitle, isInvited } from "../shared/signin.js";
import { Failure, Spinner, attempt, html, render, useLoaded } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { go, link, useRoute } from "./route.js";
import { EVERYBODY, GROUPS, sectionOf, sectionsFor } from "./sections.js";
import { SIGNED_OUT, signOut, whoami } from "./server.js";
import { SignIn } from "./signin.js";

const t = words({
  zh: { product: "应答", title: "管理后台", menu: "菜单", closeMenu: "收起菜单", nav: "各部分", skip: "跳到内容", other: "English", out: "退出登录", desk: "人工台", tenant: "租户 {tenant}", local: "本机，无需密钥", unknown: "没有这一页，或您的密钥看不到它。", home: "回到首页" },
  en: { product: "Yingda", title: "Console", menu: "Menu", closeMenu: "Close menu", nav: "Sections", skip: "Skip to content", other: "中文", out: "Sign out", desk: "Staff desk", tenant: "Tenant {tenant}", local: "This machine, no key needed", unknown: "There is no such page, or your key may not see it.", home: "Back to the start" },
});

function Console() {
  const [turn, setTurn] = useState(0);  // another language draws everything anew
  const me = useLoaded(whoami, []);
  useEffect(() => {
    const out = () => me.reload();
    addEventListener(SIGNED_OUT, out);
    return () => removeEventListener(SIGNED_OUT, out);
  }, []);
  useEffect(() => { document.documentElement.lang = language() === "zh" ? "zh-CN" : "en"; }, [turn]);
  const speak = () => { setLanguage(language() === "zh" ? "en" : "zh"); setTurn(turn + 1); };
  const entered = () => { setTurn(turn + 1); me.reload(); };
  if (isInvited()) return html`<${SignIn} key=${turn} onDone=${entered} speak=${speak} other=${t("other")} />`;
  if (me.error) return html`<main class="ad-alone"><h1 class="yd-sr">${t("title")}</h1><${Failure} error=${me.error} retry=${me.reload} /></main>`;
  if (!me.data) return html`<main class="ad-alone"><h1 class="yd-sr">${t("title")}</h1><${Spinner} /></main>`;
  if (!me.data.signed_in) return html`<${SignIn} key=${turn} onDone=${me.reload} speak=${speak} other=${t("other")} />`;
  return html`<${Shell} key=${turn} me=${me.data} speak=${speak} again=${me.reload} />`;
}

function Shell({ me, speak, again }) {
  const route = useRoute();
  const [open, setOpen] = useState(false), [account, setAccount] = useState(false);
  const menu = useRef();
  const content = useRef();
  const seen = useRef("");
  const mine = sectionsFor(me.roles);
  const section = route.section ? sectionOf(mine, route.section) : mine[0];
  useEffect(() => { if (!route.section) go(mine[0].name, {}, { replace: true }); });
  useEffect(() => {
    setOpen(false);
    document.title = `${section ? section.title() : t("title")} · ${t("product")}${language() === "zh" ? "" : " "}${t("title")}`;
    if (seen.current && seen.current !== route.path) { scrollTo({ top: 0 }); content.current.focus(); }
    seen.current = route.path;
  }, [route.path]);
  const leave = (event) => { if (event.key === "Escape" && open) { setOpen(false); menu.current.focus(); } };
  return html`<div class="ad-shell" onKeyDown=${leave}>
    <a class="ad-skip yd-btn" href="#content" onClick=${(event) => { event.preventDefault(); content.current.focus(); }}>${t("skip")}</a>
    <header class="ad-bar"><button ref=${menu} class="yd-btn yd-btn-quiet ad-burger" aria-expanded=${open} aria-controls="ad-nav" aria-label=${open ? t("closeMenu") : t("menu")} onClick=${() => setOpen(!open)}>
      <span class="ad-lines" aria-hidden="true"></span></button><strong>${t("title")}</strong></header>
    <div class="ad-side ${open ? "ad-open" : ""}" id="ad-nav">
      <a class="ad-brand" href=${link(mine[0].name)}><img src="/web/shared/icon.svg" alt="" width="28" height="28" /><span><strong>${t("product")}</strong><small>${t("title")}</small></span></a>
      <nav aria-label=${t("nav")}>${GROUPS.map((group) => {
        const items = mine.filter((item) => item.group === group.name);
        return items.length > 0 && html`<div class="ad-group"><h2 id=${`ad-g-${group.name}`}>${group.title()}</h2><ul aria-labelledby=${`ad-g-${group.name}`}>
          ${items.map((item) => html`<li><a href=${link(item.name)} aria-current=${item === section ? "page" : undefined} onClick=${() => setOpen(false)}>${item.title()}</a></li>`)}</ul></div>`;
      })}</nav>
      <div class="ad-me"><div class="yd-clip yd-small">${me.keyless ? t("local") : me.key_name || me.tenant}</div>
        ${!me.keyless && html`<div class="yd-tiny yd-muted yd-clip">${t("tenant", { tenant: me.tenant })}</div>`}
        <div class="yd-row"><button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${speak} lang=${language() === "zh" ? "en" : "zh-CN"}>${t("other")}</button>
        ${me.roles.some((role) => EVERYBODY.includes(role)) && html`<a class="yd-btn yd-btn-quiet yd-btn-small" href="/desk">${t("desk")}</a>`}
        ${me.agent_id && html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => setAccount(true)}>${accountTitle()}</button>`}
        ${!me.keyless && html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => attempt(signOut).then(again)}>${t("out")}</button>`}</div></div>
    </div>
    ${account && html`<${Account} who=${me} onOut=${again} onClose=${() => setAccount(false)} />`}
    <div class="ad-veil" hidden=${!open} onClick=${() => setOpen(false)}></div>
    <main id="content" ref=${content} tabindex="-1">${section
      ? html`<${section.view} key=${section.name} route=${route} me=${me} manages=${me.roles.includes("admin")} again=${again} />`
      : html`<h1>${t("title")}</h1><p>${t("unknown")}</p><p><a href=${link(mine[0].name)}>${t("home")}</a></p>`}</main>
  </div>`;
}

render(html`<${Console} />`, document.getElementById("app"));
