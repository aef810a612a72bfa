// What one version changed of another, paragraph by paragraph.
import { number, words } from "../shared/i18n.js";
import { Dialog, Loaded, html, useLoaded } from "../shared/ui.js";
import { server } from "./server.js";

const t = words({
  zh: { title: "第 {new} 版与第 {old} 版的不同", first: "第 {new} 版的内容", same: "文字没有不同。", counts: "新增 {added} 段，删去 {removed} 段", part: "改动太多，只列出了一部分。", at: "从第 {n} 段起", added: "新增", removed: "删去" },
  en: { title: "Version {new} compared with {old}", first: "Version {new}", same: "The text is the same.", counts: "{added} paragraphs added, {removed} removed", part: "There are too many changes; some are left out.", at: "From paragraph {n}", added: "added", removed: "removed" },
});
const ELEMENTS = { same: "span", removed: "del", added: "ins" };

// path: of the document; version: what is looked at.
export function Diff({ path, version, onClose }) {
  const state = useLoaded((signal) => server.get(`${path}/versions/${version}/diff`, {}, { signal }), [version]);
  const { against } = state.data || {};
  const title = against ? t("title", { new: version, old: against }) : t("first", { new: version });
  return html`<${Dialog} title=${title} wide onClose=${onClose}><${Loaded} state=${state} empty=${() => false}>${(diff) => (diff.hunks.length === 0 ? html`<p>${t("same")}</p>` : html`<div class="yd-stack">
    <p class="yd-small yd-muted">${t("counts", { added: number(diff.added), removed: number(diff.removed) })}${diff.truncated && ` · ${t("part")}`}</p>
    ${diff.hunks.map((hunk) => html`<section class="ad-diff" aria-label=${t("at", { n: hunk.new_start })}>
      ${hunk.lines.map((line) => html`<${ELEMENTS[line.kind]} class="ad-text">${line.kind !== "same" && html`<span class="yd-sr">${t(line.kind)} </span>`}${line.text}<//>`)}</section>`)}</div>`)}<//><//>`;
}
