// The frame of a section: heading, what it is for, what may be done; tabs; a drawer at the side.
import { words } from "../shared/i18n.js";
import { html } from "../shared/ui.js";
import { useEffect, useRef } from "../vendor/preact-htm.js";

const t = words({ zh: { close: "关闭" }, en: { close: "Close" } });

export const Head = ({ title, text, back, children }) => html`<div class="ad-head"><div>
  ${back && html`<a class="ad-back" href=${back.href}>← ${back.title}</a>`}<h1>${title}</h1>${text && html`<p>${text}</p>`}</div>
  ${children && html`<div class="yd-row yd-wrap">${children}</div>`}</div>`;

// tabs: [{ title, href, current }]
export const Tabs = ({ label, tabs }) => html`<nav class="ad-tabs" aria-label=${label}>${tabs.map((tab) => html`<a href=${tab.href} aria-current=${tab.current ? "page" : undefined}>${tab.title}</a>`)}</nav>`;

export function Drawer({ title, onClose, children }) {
  const element = useRef();
  useEffect(() => { element.current.showModal(); }, []);
  const outside = (event) => { if (event.target === element.current) onClose(); };
  return html`<dialog ref=${element} class="ad-drawer" aria-label=${title} onClose=${onClose} onClick=${outside}><div class="yd-stack">
    <div class="yd-row"><h2 class="yd-grow">${title}</h2><button class="yd-btn yd-btn-quiet yd-btn-icon" aria-label=${t("close")} onClick=${onClose}>×</button></div>${children}</div></dialog>`;
}

// facts: [[name, vnode]]; what is empty is left out.
export const Facts = ({ facts }) => html`<dl class="ad-facts">${facts.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

export const Meter = ({ share, tone }) => html`<div class="ad-bar-track"><div class="ad-bar-fill" data-tone=${tone} style=${{ width: `${Math.round(100 * Math.min(1, Math.max(0, share)))}%` }}></div></div>`;

export function bytes(size) {
  return size < 1024 ? `${size} B` : size < 1024 ** 2 ? `${(size / 1024).toFixed(1)} KB` : `${(size / 1024 ** 2).toFixed(1)} MB`;
}
