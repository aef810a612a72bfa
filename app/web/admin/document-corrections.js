// Correcting single passages of a document, and what was corrected of it.
import { words } from "../shared/i18n.js";
import { Dialog, Failure, Field, Tag, attempt, html, toast, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Named } from "./names.js";
import { server } from "./server.js";

const t = words({
  zh: { correct: "修正", title: "修正片段", text: "文字", heading: "各级标题", headingHint: "从上到下，每行一级", excluded: "停用：检索不到这一段", reason: "原因", save: "保存", saved: "已保存", indexing: "已保存，索引还在更新", left: "已停用", edited: "已修正", list: "修正", was: "原文", now: "改为", drop: "撤销", dropped: "已撤销", unmatched: "新版本里找不到原文的修正没有生效，请看过之后重新修正，或撤销。" },
  en: { correct: "Correct", title: "Correct a passage", text: "Text", heading: "Headings", headingHint: "From the top down, one a line", excluded: "Exclude: no search finds it", reason: "Reason", save: "Save", saved: "Saved", indexing: "Saved, the index is still at work", left: "Excluded", edited: "Corrected", list: "Corrections", was: "As it was read", now: "Corrected to", drop: "Take back", dropped: "Taken back", unmatched: "Corrections whose passage is not in the new version do not hold; correct it again, or take them back." },
});

export const Marks = ({ chunk }) => html`${chunk.excluded ? html`<${Tag} tone="warn">${t("left")}<//>` : chunk.correction && html`<${Tag} tone="accent">${t("edited")}<//>`}`;

// path: of the document; changed: called after a passage was corrected.
export function Correct({ path, chunk, changed }) {
  const [shown, setShown] = useState(false);
  return html`<button class="yd-btn yd-btn-small" onClick=${() => setShown(true)}>${t("correct")}</button>
    ${shown && html`<${Form} path=${path} chunk=${chunk} onClose=${() => setShown(false)} onDone=${() => { setShown(false); changed(); }} />`}`;
}

function Form({ path, chunk, onClose, onDone }) {
  const [values, setValues] = useState({ text: chunk.text, heading: chunk.heading_path.join("\n"), excluded: chunk.excluded, reason: "" });
  const [state, setState] = useState({});
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const heading_path = values.heading.split("\n").map((line) => line.trim()).filter(Boolean);
    try {
      const response = await server.raw("PUT", `${path}/chunks/${chunk.id}/correction`, { body: { text: values.text, heading_path, excluded: values.excluded, reason: values.reason } });
      toast(response.status === 202 ? t("indexing") : t("saved"), "good");
      onDone();
    } catch (error) { setState({ error }); }
  };
  return html`<${Dialog} title=${t("title")} onClose=${onClose}><form class="yd-stack" onSubmit=${save}>
    <${Field} label=${t("text")}><textarea class="yd-input" rows="8" maxlength="4000" required value=${values.text} onInput=${set("text")}></textarea><//>
    <${Field} label=${t("heading")} hint=${t("headingHint")}><textarea class="yd-input" rows="3" value=${values.heading} onInput=${set("heading")}></textarea><//>
    <label class="yd-row"><input type="checkbox" checked=${values.excluded} onChange=${set("excluded")} />${t("excluded")}</label>
    <${Field} label=${t("reason")}><input class="yd-input" maxlength="500" value=${values.reason} onInput=${set("reason")} /><//>
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("save")}</button></div></form><//>`;
}

// again: changes when there may be others.
export function Corrections({ path, manages, again, changed }) {
  const { data, reload } = useLoaded((signal) => server.get(`${path}/corrections`, {}, { signal }), [path, again]);
  if (!data?.corrections.length) return null;
  const drop = async (correction) => {
    if (await attempt(() => server.raw("DELETE", `${path}/corrections/${correction.id}`), t("dropped"))) { reload(); changed(); }
  };
  return html`<section class="yd-card" aria-label=${t("list")}><div class="ad-card-title"><h2>${t("list")}</h2></div>
    ${data.corrections.some((one) => one.state === "unmatched") && html`<p class="yd-small">${t("unmatched")}</p>`}
    <ul class="ad-list">${data.corrections.map((one) => html`<li key=${one.id} class="yd-stack yd-small"><div class="yd-row yd-wrap"><${Named} kind="correction" value=${one.state} /><span class="ad-sub yd-grow">${[one.author, one.reason].filter(Boolean).join(" · ")}</span>
      ${manages && html`<button class="yd-btn yd-btn-small" onClick=${() => drop(one)}>${t("drop")}</button>`}</div>
      <p class="ad-text"><strong>${t("was")}</strong> ${one.original_text}</p>
      ${one.excluded ? html`<p>${t("left")}</p>` : html`<p class="ad-text"><strong>${t("now")}</strong> ${[one.heading_path?.join(" › "), one.text].filter(Boolean).join("\n")}</p>`}</li>`)}</ul></section>`;
}
