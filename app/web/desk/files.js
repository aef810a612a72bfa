// Pictures and files of a conversation: those that wait to be sent, those that were, and what is written in pictures.
import { useState } from "../vendor/preact-htm.js";
import { ACCEPT, said, useWaiting, Waiting } from "../widget/files.js";
import { confirmed, Dialog, html, Spinner, toast } from "../shared/ui.js";
import { api } from "./store.js";
import { t } from "./words.js";

export { ACCEPT, said, useWaiting, Waiting };

const at = (session, id) => `/api/v1/conversations/${encodeURIComponent(session)}/attachments/${id}`;

function Shown({ session, one, insert, onClose, onGone }) {
  const [text, setText] = useState();
  const read = async () => {
    setText(null);
    try { setText((await api.get(`${at(session, one.id)}/text`)).text); } catch (error) { setText(undefined); toast(error); }
  };
  const erase = async () => {
    if (!(await confirmed({ title: t("fileDelete"), text: t("fileErase", { name: one.name }), action: t("fileDelete") }))) return;
    try { await api.delete(at(session, one.id)); onGone(one.id); onClose(); } catch (error) { toast(error); }
  };
  return html`<${Dialog} title=${one.name} onClose=${onClose}><img class="desk-picture-full" src=${at(session, one.id)} alt=${one.name} />
    ${text && html`<pre class="desk-picture-text" tabindex="0">${text}</pre>`}${text === "" && html`<p class="desk-none">${t("fileNoText")}</p>`}
    <div class="yd-row yd-wrap">${text === null ? html`<${Spinner} />` : html`<button class="yd-btn" onClick=${read}>${t("fileText")}</button>`}
      ${text && insert && html`<button class="yd-btn" onClick=${() => { insert(text); onClose(); }}>${t("insert")}</button>`}
      <a class="yd-btn" href=${`${at(session, one.id)}?download=true`} download=${one.name}>${t("fileSave")}</a><span class="yd-grow"></span><button class="yd-btn yd-btn-quiet" onClick=${erase}>${t("fileDelete")}</button></div><//>`;
}

export function Files({ session, attachments, insert }) {
  const [shown, show] = useState(null);
  const [gone, setGone] = useState([]);
  if (!attachments?.length) return null;
  return html`<div class="desk-files">${attachments.map((one) => (gone.includes(one.id) ? html`<span class="desk-none">${t("fileGone")}</span>` : one.width ? html`<button class="desk-picture" aria-label=${t("fileOpen", { name: one.name })} onClick=${() => show(one)}><img loading="lazy" src=${at(session, one.id)} alt=${one.name} width=${one.width} height=${one.height} onError=${() => setGone([...gone, one.id])} /></button>` : html`<a class="desk-file" href=${at(session, one.id)} download=${one.name}>${one.name}</a>`))}
    ${shown && html`<${Shown} session=${session} one=${shown} insert=${insert} onClose=${() => show(null)} onGone=${(id) => setGone([...gone, id])} />`}</div>`;
}
