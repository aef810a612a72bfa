// The staff desk: queue and my conversations, the conversation, the customer and help.
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { locale } from "../shared/i18n.js";
import { isInvited } from "../shared/signin.js";
import { Empty, Failure, html, render, Spinner, toast } from "../shared/ui.js";
import { count, setSound, sound } from "./alerts.js";
import { Conversation } from "./conversation.js";
import { Canned, Close, Resolve, Settings, Shortcuts, Solution, Transfer } from "./dialogs.js";
import { Rename } from "./contact.js";
import { Help } from "./help.js";
import { forgetDrafts } from "./keeping.js";
import { shortcuts } from "./keys.js";
import { useSecond, uncited, waiting } from "./parts.js";
import { Queue } from "./queue.js";
import { conversationLink, current, replace } from "./route.js";
import { remember, remembered, SignIn, WhoAmI } from "./signin.js";
import { api, Desk } from "./store.js";
import { t } from "./words.js";

const DIALOGS = { rename: Rename, transfer: Transfer, resolve: Resolve, close: Close, solution: Solution, canned: Canned, shortcuts: Shortcuts };
const WAITING_MS = 5000; // how often a conversation is read anew that nobody has: the socket follows one's own

function Standing({ desk }) {
  useSecond();
  const { name, at } = desk.state;
  if (name === "online") return null;
  const lost = name === "lost";
  return html`<div class="desk-banner" role="status" data-state=${name}><span class="yd-grow"><strong>${t(lost ? "lost" : name)}</strong> ${name !== "connecting" && html`<span>${t("lostText")}</span>`}</span>
    ${lost && html`<span class="yd-tiny yd-nums" aria-hidden="true">${t("retryIn", { n: Math.max(0, Math.ceil((at - Date.now()) / 1000)) })}</span><button class="yd-btn yd-btn-small" onClick=${() => desk.line.again()}>${t("retryNow")}</button>`}</div>`;
}

function Top({ desk, act }) {
  const self = desk.self, n = desk.mine.size;
  const [on, setOn] = useState(sound.on);
  return html`<header class="desk-top">
    <h1 class="desk-brand">${t("brand")} <span class="yd-muted">${t("desk")}</span></h1>
    <span class="yd-grow"></span>
    <span class="yd-small yd-muted yd-nums desk-load">${self?.capacity ? t("capacity", { n, most: self.capacity }) : t("capacityFree", { n })}</span>
    <button class="yd-btn yd-btn-small desk-presence" data-online=${desk.online} title=${t(desk.online ? "goAway" : "goOnline")} onClick=${() => desk.setOnline(!desk.online)}><span class="desk-dot" aria-hidden="true"></span>${t(desk.online ? "online" : "away")}</button>
    <button class="yd-btn yd-btn-quiet yd-btn-icon desk-wide" aria-label=${t(on ? "mute" : "unmute")} title=${t(on ? "mute" : "unmute")} onClick=${() => { setSound(!on); setOn(!on); }}><svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true"><path d="M4 9v6h4l5 4V5L8 9z" fill="currentColor" />${on ? html`<path d="M16 8.5a5 5 0 0 1 0 7M18.5 6a8.5 8.5 0 0 1 0 12" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />` : html`<path d="m16.5 9.5 5 5m0-5-5 5" stroke="currentColor" stroke-width="2" stroke-linecap="round" />`}</svg></button>
    <button class="yd-btn yd-btn-quiet yd-btn-icon desk-wide" aria-label=${t("shortcuts")} title=${t("shortcuts")} onClick=${() => act("shortcuts")}>?</button>
    ${desk.console && html`<a class="yd-btn yd-btn-quiet yd-btn-small desk-wide" href="/admin" target="_blank">${t("console")}</a>`}
    <button class="yd-btn yd-btn-quiet yd-btn-small desk-wide" onClick=${() => act("canned")}>${t("canned")}</button>
    <button class="yd-btn yd-btn-small desk-me" title=${t("settings")} onClick=${() => act("settings")}><span class="desk-face" aria-hidden="true">${[...desk.me.name][0]}</span><span class="yd-sr">${t("settings")}：${desk.me.name}</span><span class="desk-me-name yd-clip" aria-hidden="true">${desk.me.name}</span></button>
  </header>`;
}

function Views({ view, desk, go }) {
  const names = { queue: "queue", conversation: "conversation", help: "customer" };
  return html`<nav class="desk-views" aria-label=${t("views")}>${Object.entries(names).map(([name, word]) => html`<button aria-current=${view === name ? "page" : undefined} disabled=${name !== "queue" && !desk.open} onClick=${() => go(name)}>${t(word)}${name === "queue" && desk.calling ? html` <span class="desk-unread yd-nums">${desk.calling}</span>` : ""}</button>`)}</nav>`;
}

function Working({ me, signedIn, onSignedOut, onLeave, onSignOut, onChange }) {
  const [desk, setDesk] = useState(null);
  const [, draw] = useState(0);
  const [view, go] = useState("queue");
  const [dialog, setDialog] = useState(null);
  const composer = useRef(null);
  useEffect(() => {
    const made = new Desk(me, signedIn, { signedOut: onSignedOut, renamed: (name) => { me.name = name; if (!signedIn.agent_id) remember(signedIn.tenant, me); } });
    made.watch(() => { draw((n) => n + 1); count(made.calling); });
    setDesk(made);
    made.start();
    const seen = () => made.read();
    const routed = () => follow(made);
    document.addEventListener("visibilitychange", seen);
    window.addEventListener("hashchange", routed);
    routed();
    return () => { document.removeEventListener("visibilitychange", seen); window.removeEventListener("hashchange", routed); made.end(); count(0); };
  }, [me.agent_id]);
  useEffect(() => {
    if (!desk) return undefined;
    const timer = setInterval(() => { if (desk.open && !document.hidden && waiting(desk.session)) desk.load(desk.open); }, WAITING_MS);
    return () => clearInterval(timer);
  }, [desk]);

  // To what the address names.
  function follow(desk) {
    const { page, id } = current();
    if (page === "conversation" && (id !== desk.open || desk.shownContact)) desk.show(id);
    else if (page === "contact") desk.showContact(id);
    if (page) go("conversation");
  }
  function open(id) {
    desk.show(id);
    replace(conversationLink(id));
    go("conversation");
  }
  function insert(text) {
    composer.current?.insert(text);
    go("conversation");
  }
  async function act(what) {
    const id = desk.open;
    if (what === "list") go("queue");
    else if (what === "back") { desk.show(desk.open); replace(desk.open ? conversationLink(desk.open) : ""); go(desk.open ? "conversation" : "queue"); }
    else if (what === "rename") setDialog({ what, id: desk.shownContact || id });
    else if (what === "help" || what === "conversation") go(what);
    else if (what === "accept") {
      const first = waiting(desk.session) ? id : desk.queue?.[0]?.session_id;
      if (first && (await desk.accept(first))) { go("conversation"); replace(conversationLink(first)); desk.wantFocus(first); }
    } else if (what === "draft") {
      const draft = desk.advice.get(id)?.data?.draft;
      if (draft) { insert(uncited(draft)); toast(t("inserted")); }
    } else if ((what === "transfer" || what === "resolve") && !desk.holds(id)) return;
    else setDialog({ what, id });
  }
  useEffect(() => (desk ? shortcuts({ desk, open, act, composer }) : undefined), [desk]);

  if (!desk) return null;
  const Shown = dialog && DIALOGS[dialog.what];
  const shut = () => setDialog(null);
  return html`<div class="desk" data-view=${view} data-contact=${desk.shownContact ? "" : undefined}>
    <${Top} desk=${desk} act=${act} /><${Standing} desk=${desk} />
    <main class="desk-columns"><${Queue} desk=${desk} open=${open} /><${Conversation} desk=${desk} act=${act} composer=${composer} /><${Help} desk=${desk} insert=${insert} act=${act} /></main>
    <${Views} view=${view} desk=${desk} go=${go} />
    ${Shown && html`<${Shown} desk=${desk} id=${dialog.id} onClose=${shut} />`}
    ${dialog?.what === "settings" && html`<${Settings} desk=${desk} signedIn=${signedIn} onClose=${shut} onChange=${onChange} onLeave=${onLeave} onSignOut=${onSignOut} onSignedOut=${onSignedOut} />`}
  </div>`;
}

function App() {
  const [state, set] = useState({ loading: true });
  const [, draw] = useState(0);
  const onChange = () => { document.documentElement.lang = locale(); document.title = t("title"); draw((n) => n + 1); };
  const known = (signedIn) => (signedIn.agent_id ? { agent_id: signedIn.agent_id, name: signedIn.key_name } : remembered(signedIn.tenant));
  const entered = (signedIn) => set(signedIn.signed_in ? { signedIn, me: known(signedIn) } : { out: true });
  async function ask() {
    set({ loading: true });
    try { isInvited() ? set({ out: true }) : entered(await api.get("/api/v1/signin")); } catch (error) { set({ error }); }
  }
  async function signOut() {
    try { await api.delete("/api/v1/signin"); } catch (error) { toast(error); return; }
    forgetDrafts();
    set({ out: true });
  }
  useEffect(() => { onChange(); ask(); }, []);
  if (state.loading) return html`<${Empty}><${Spinner} /><p>${t("loading")}</p><//>`;
  if (state.error) return html`<main class="desk-door"><h1 class="yd-sr">${t("title")}</h1><${Failure} error=${state.error} retry=${ask} /></main>`;
  if (state.out) return html`<${SignIn} expired=${state.expired} onChange=${onChange} onSignedIn=${entered} />`;
  const { signedIn, me } = state;
  if (!me) return html`<${WhoAmI} signedIn=${signedIn} onChange=${onChange} onKnown=${(chosen) => set({ signedIn, me: chosen })} />`;
  return html`<${Working} me=${me} signedIn=${signedIn} onChange=${onChange} onSignedOut=${() => set({ out: true, expired: true })} onSignOut=${signOut}
    onLeave=${() => { remember(signedIn.tenant, null); set({ signedIn }); }} />`;
}

render(html`<${App} />`, document.getElementById("app"));
