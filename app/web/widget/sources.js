// What an answer cites: pills below it, and the passage that a pill opens.
import { Prose } from "../shared/markdown.js";
import { Dialog, Loaded, html, useLoaded } from "../shared/ui.js";
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

// [1] of a reply as a small button that opens its source.
export function marks(sources, onOpen) {
  return (text) => text.split(/(\[\d+\])/).map((part) => {
    const source = /^\[\d+\]$/.test(part) && sources.find((one) => String(one.index) === part.slice(1, -1));
    return source ? html`<button class="mark" aria-label=${`${source.index} ${label(source)}`} onClick=${() => onOpen(source)}>${source.index}</button>` : part;
  });
}
