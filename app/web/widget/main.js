// <yingda-chat>: the widget as a custom element. Its styles are sheets of its own shadow root, so that the site's policy
// needs to allow nothing but this server's scripts and requests.
import { setLanguage } from "../shared/i18n.js";
import { html, render } from "../vendor/preact-htm.js";
import { Conversation } from "./conversation.js";
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
    const root = this.attachShadow({ mode: "open" });
    this.place = root.appendChild(document.createElement("div"));
    this.place.className = "root";
    root.adoptedStyleSheets = await styles();
    this.draw();
    if (this.mode !== "full") await this.conversation.revive(this.tongue());
  }

  disconnectedCallback() {
    queueMicrotask(() => { if (!this.isConnected) this.conversation?.line.close(); });
  }

  attributeChangedCallback(_name, before, after) {
    if (!this.place || before === after) return;
    setLanguage(this.tongue(), false);
    this.conversation.greet(this.tongue());
    this.draw();
  }

  tongue() {
    return /^zh/i.test(this.dataset.lang || document.documentElement.lang || navigator.language) ? "zh" : "en";
  }

  open() { this.show(true); }
  close() { this.show(false); }
  // Asks a question as if the customer had typed it.
  ask(text) { this.show(true); return this.conversation.start(this.tongue()).then(() => this.conversation.send(text)); }
  // For a customer who signs out: forgets the conversation in this browser.
  reset() { return this.conversation.fresh(); }

  show(opened) {
    this.opened = opened;
    this.draw();
    this.dispatchEvent(new CustomEvent("yingda-toggle", { detail: { open: opened } }));
  }

  draw() {
    const options = { label: this.dataset.label, trace: this.trace };
    this.place.lang = this.tongue() === "zh" ? "zh-CN" : "en";
    render(this.mode === "full" ? html`<${Full} conversation=${this.conversation} options=${options} tools=${this.tools} />` : html`<${Floating} conversation=${this.conversation} options=${options} opened=${this.opened} onOpen=${(opened) => this.show(opened)} />`, this.place);
  }
}

if (!customElements.get("yingda-chat")) customElements.define("yingda-chat", YingdaChat);
