// What an answer cites: pills below it, and the passage that a pill opens.
import { Prose } from "../shared/markdown.js";
import { Dialog, Loaded, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { t } from "./words.js";

export const isRow = (source) => source.index === "SQL";

function name(source) {
  if (isRow(source)) return t("rows");
  if (source.index === 0) return source.title || t("yourPage");
  return `《${source.title}》`;
}

const label = (source) => name(source) + (source.page ? ` ${t("page", { n: source.page })}` : "");

// Passages of one document and page are told apart by their headings.
function pill(source, sources) {
  const alike = sources.filter((other) => label(other) === label(source)).length > 1;
  const part = alike && (source.heading || "").split(" > ").pop();
  return part && part !== source.title ? `${label(source)} · ${part}` : label(source);
}

export const Sources = ({ sources, onOpen }) => html`<div class="sources">
  <span class="sources-head">${t("sources")}</span>
  ${sources.map((source) => html`<button class="pill" title=${source.heading || label(source)} onClick=${() => onOpen(source)}>
    ${!isRow(source) && html`<b>${source.index}</b>`}<span class="yd-clip">${pill(source, sources)}</span></button>`)}
</div>`;

// load: () => promise of the whole passage; what the answer quoted stands in where it cannot be read.
export function Passage({ source, load, onClose }) {
  const state = useLoaded(() => (isRow(source) || source.index === 0 ? Promise.resolve(source) : load().catch(() => ({ ...source, current: true }))), [source]);
  return html`<${Dialog} title=${label(source)} onClose=${onClose}>
    <${Loaded} state=${state}>${(passage) => html`<div class="passage">
      ${passage.heading && html`<p class="yd-muted yd-small">${passage.heading}</p>`}
      ${passage.current === false && html`<p class="yd-notice" data-tone="warn">${t("passageGone")}</p>`}
      ${isRow(passage) ? html`<dl class="rows">${Object.entries(passage.fields).map(([field, value]) => html`<dt>${field}</dt><dd>${value}</dd>`)}</dl>` : html`<div class="prose"><${Prose} text=${passage.text || passage.snippet} /></div>`}
      ${/^https?:/i.test(passage.url || "") && html`<a href=${passage.url} target="_blank" rel="noopener noreferrer nofollow">${t("original")}</a>`}
    </div>`}<//><//>`;
}

// What an answer left out of a passage, unfolded below what it quotes. load: as in Passage.
export function Unfold({ source, load }) {
  const [open, setOpen] = useState(false);
  return html`<div class="unfold"><button class="link" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${t(open ? "fold" : "unfold", { n: source.left_blocks, title: source.title })}</button>
    ${open && html`<${Parts} load=${load} source=${source} />`}</div>`;
}

function Parts({ load, source }) {
  const state = useLoaded(load, [source]);
  return html`<${Loaded} state=${state}>${(passage) => html`<section class="parts" aria-label=${label(source)}>
    ${passage.current ? passage.parts.map((part) => html`<div class="prose" data-quoted=${part.quoted ? "" : undefined}>${part.quoted && html`<span class="yd-sr">${t("quoted")}</span>`}<${Prose} text=${part.markdown} /></div>`) : html`<p class="yd-notice" data-tone="warn">${t("passageGone")}</p>`}
  </section>`}<//>`;
}

// A reply in stretches, each with the source that it ends with, if any. A mark within code ends nothing.
export function stretches(text) {
  const found = [];
  let open = "";
  const pieces = text.split(/(\[\d+\])(?:\n|$)/);
  for (let at = 0; at < pieces.length; at += 2) {
    open += pieces[at] + (pieces[at + 1] || "");
    if (open.split("```").length % 2) { if (open) found.push({ text: open, index: pieces[at + 1]?.slice(1, -1) }); open = ""; } else open += "\n";
  }
  return open ? [...found, { text: open }] : found;
}

// [1] of a reply as a small button that opens its source.
export function marks(sources, onOpen) {
  return (text) => text.split(/(\[\d+\])/).map((part) => {
    const source = /^\[\d+\]$/.test(part) && sources.find((one) => String(one.index) === part.slice(1, -1));
    return source ? html`<button class="mark" aria-label=${`${source.index} ${label(source)}`} onClick=${() => onOpen(source)}>${source.index}</button>` : part;
  });
}
