// <yingda-chat>: the widget as a custom element. Its styles are sheets of its own shadow root, so that the site's policy
// needs to allow nothing but this server's scripts and requests.
import { setLanguage } from "../shared/i18n.js";
import { html, render } from "../vendor/preact-htm.js";
import { Conversation } from "../core/conversation.js";
import { documentFilter, pageContext } from "./page.js";
import { Floating, Full } from "./view.js";

const BASE = new URL("../..", import.meta.url).href.replace(/\/$/, "");
const STYLES = import.meta.url.endsWith("/bundle.js") ? ["widget/bundle.css"] : ["shared/tokens.css", "shared/base.css", "widget/widget.css"];

let sheets;
const styles = () => (sheets ??= Promise.all(STYLES.map(async (name) => {
  const sheet = new CSSStyleSheet();
  const response = await fetch(`${BASE}/web/${name}`);
  if (!response.ok) throw new Error(`${name}: HTTP ${response.status}`);
  return sheet.replace(await response.text());
})).catch((error) => { sheets = undefined; throw error; }));

// Attributes: data-key, data-lang (zh, en), data-theme (light, dark, auto), data-position (left, right), data-label,
// data-page (basic, full, none), data-user-token, data-open; data-products and the like, see `documentFilter`. Properties: `mode` ("full" fills its place), `trace`, `tools`.
class YingdaChat extends HTMLElement {
  static observedAttributes = ["data-lang"];

  connectedCallback() {
    this.ready ??= this.build();
  }

  async build() {
    const { dataset } = this;
    setLanguage(this.tongue(), false);
    this.opened = "open" in dataset;
    this.conversation = new Conversation({ base: BASE, key: dataset.key || "", userToken: () => this.dataset.userToken || "", page: () => pageContext(this.dataset.page || "basic"), filter: () => documentFilter(this.dataset) });
    this.look ??= this.mode === "full" ? {} : await this.conversation.look();
    if (this.mode !== "full" && recall("open") && matchMedia("(min-width: 521px)").matches) this.opened = true;
    setLanguage(this.tongue(), false);
    const root = this.attachShadow({ mode: "open" });
    this.place = root.appendChild(document.createElement("div"));
    this.place.className = "root";
    root.adoptedStyleSheets = await styles();
    this.draw();
    if (this.mode === "full") return;
    this.speakFirst();
    globalThis.navigation?.addEventListener("navigatesuccess", () => this.speakFirst()); // a site of one page
    await this.conversation.revive(this.tongue());
  }

  // What the closed widget says on this page, once a visit.
  speakFirst() {
    clearTimeout(this.soon);
    const rule = (this.look.proactive || []).find(({ page }) => fits(page, location.pathname));
    if (rule && !recall("spoke")) this.soon = setTimeout(() => { if (!this.opened) { keep("spoke"); this.conversation.set({ nudge: rule.message }); } }, rule.seconds * 1000);
  }

  // Another look, as the installer shows it.
  wear(look) {
    this.look = look;
    if (!this.place) return;
    setLanguage(this.tongue(), false);
    this.draw();
  }

  disconnectedCallback() {
    queueMicrotask(() => { if (!this.isConnected) this.conversation?.close(); });
  }

  attributeChangedCallback(_name, before, after) {
    if (!this.place || before === after) return;
    setLanguage(this.tongue(), false);
    this.conversation.greet(this.tongue());
    this.draw();
  }

  tongue() {
    const chosen = this.look?.language;
    return /^zh/i.test(this.dataset.lang || (chosen !== "auto" && chosen) || document.documentElement.lang || navigator.language) ? "zh" : "en";
  }

  open() { this.show(true); }
  close() { this.show(false); }
  // Asks a question as if the customer had typed it.
  ask(text) { this.show(true); return this.conversation.start(this.tongue()).then(() => this.conversation.send(text)); }
  // For a customer who signs out: forgets the conversation in this browser.
  reset() { this.conversation.proof.clear(); return this.conversation.startOver(true); }

  show(opened) {
    this.opened = opened;
    keep("open", opened);
    if (opened) this.conversation.set({ nudge: "" });
    this.draw();
    this.dispatchEvent(new CustomEvent("yingda-toggle", { detail: { open: opened } }));
  }

  draw() {
    const { look } = this;
    const options = { label: this.dataset.label ?? look.label, trace: this.trace, look };
    this.place.dataset.position = this.dataset.position || look.position || "right";
    paint(this.place.style, look.accent);
    this.place.lang = this.tongue() === "zh" ? "zh-CN" : "en";
    render(this.mode === "full" ? html`<${Full} conversation=${this.conversation} options=${options} tools=${this.tools} />` : html`<${Floating} conversation=${this.conversation} options=${options} opened=${this.opened} onOpen=${(opened) => this.show(opened)} />`, this.place);
  }
}

// What a visit remembers from page to page.
const recall = (name) => { try { return sessionStorage.getItem(`yingda ${name}`); } catch { return null; } };
const keep = (name, value = true) => { try { if (value) sessionStorage.setItem(`yingda ${name}`, "1"); else sessionStorage.removeItem(`yingda ${name}`); } catch { /* for this page */ } };

// Whether a path is as a rule says, * standing for anything.
export function fits(rule, path) {
  const parts = rule.split("*");
  const last = parts.pop();
  let at = 0;
  for (const [place, part] of parts.entries()) {
    const found = path.indexOf(part, at);
    if (found < 0 || (place === 0 && found > 0)) return false;
    at = found + part.length;
  }
  return parts.length ? path.length >= at + last.length && path.endsWith(last) : path === rule;
}

// The company's colour, with words on it that can be read.
function paint(style, accent) {
  const [r, g, b] = (accent?.match(/\w\w/g) || []).map((part) => parseInt(part, 16));
  const set = (name, value) => (accent ? style.setProperty(name, value) : style.removeProperty(name));
  set("--yd-accent", accent);
  set("--yd-accent-hover", `color-mix(in srgb, ${accent} 85%, #000)`);
  set("--yd-accent-soft", `color-mix(in srgb, ${accent} 10%, var(--yd-surface))`);
  set("--yd-on-accent", 0.299 * r + 0.587 * g + 0.114 * b > 150 ? "#111" : "#fff");
}

if (!customElements.get("yingda-chat")) customElements.define("yingda-chat", YingdaChat);
