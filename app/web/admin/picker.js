// Choosing a document by a few letters of its name, and a passage of it.
import { words } from "../shared/i18n.js";
import { Field, html, toast, useLoaded } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { server } from "./server.js";

const DOCUMENTS = "/api/v1/knowledge/documents";
const PAUSE = 200;
const t = words({
  zh: { document: "文档", type: "输入文档名的几个字", none: "没有这样的文档", passage: "片段", any: "整篇文档（自动取最接近的一段）" },
  en: { document: "Document", type: "A few letters of its name", none: "No such document", passage: "Passage", any: "The whole document (its closest passage)" },
});

export function DocumentPicker({ value, onPick }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState(null);
  const waiting = useRef();
  const place = useRef();
  useEffect(() => {
    if (!value) { setText(""); return; }
    server.get(`${DOCUMENTS}/${value}`).then(({ document }) => setText(document.title || document.name), () => setText(value));
  }, [value]);
  const asking = useRef(0);  // an answer that comes after the next question, or after the choice, is too late
  const search = (query) => {
    const mine = ++asking.current;
    server.get(DOCUMENTS, { q: query, limit: 12 }).then((page) => mine === asking.current && setFound(page.items), toast);
  };
  const type = (event) => {
    const query = event.target.value;
    setText(query);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => search(query.trim()), PAUSE);
  };
  const pick = (item) => { asking.current += 1; setFound(null); setText(item.title || item.name); onPick(item.id); };
  const left = (event) => { if (!place.current.contains(event.relatedTarget)) setFound(null); };
  return html`<div class="ad-pick" ref=${place} onFocusOut=${left} onKeyDown=${(event) => event.key === "Escape" && setFound(null)}>
    <${Field} label=${t("document")}><input class="yd-input" type="search" placeholder=${t("type")} value=${text} onInput=${type} onFocus=${() => search(value ? "" : text.trim())} /><//>
    ${found && html`<ul aria-label=${t("document")}>${found.map((item) => html`<li><button type="button" onClick=${() => pick(item)}>${item.title || item.name}<span class="ad-sub">${item.path}</span></button></li>`)}
      ${found.length === 0 && html`<li class="yd-small yd-muted" style=${{ padding: "12px" }}>${t("none")}</li>`}</ul>`}</div>`;
}

export function PassagePicker({ document, value, onPick }) {
  const state = useLoaded((signal) => server.get(`${DOCUMENTS}/${document}/chunks`, { limit: 200 }, { signal }), [document]);
  const shown = (chunk) => `#${chunk.ordinal + 1} ${[...(chunk.question || chunk.heading_path.at(-1) || chunk.text)].slice(0, 40).join("")}`;
  return html`<${Field} label=${t("passage")}><select class="yd-input" value=${value} onChange=${(event) => onPick(event.target.value)}><option value="">${t("any")}</option>
    ${state.data?.items.map((chunk) => html`<option value=${chunk.id} selected=${chunk.id === value}>${shown(chunk)}</option>`)}</select><//>`;
}
