// Pictures and files: those that wait to be sent, and those of the conversation. A picture is drawn and not linked, so that
// a site's policy need not allow it, and no address of it is left behind.
import { Dialog } from "../shared/ui.js";
import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { t } from "./words.js";

export const ACCEPT = "image/png,image/jpeg,image/webp,image/gif,.pdf,.docx,.xlsx,.pptx,.txt,.csv,.mp4,.mov,.mp3,.m4a,.wav,.amr";
const MOST = 9;
const bare = (text) => text === "[图片]" || text === "[文件]";
const size = (bytes) => `${Math.ceil(bytes / 1024)} KB`;

// What was said beside the files; empty where the server put words there.
export const said = (entry) => (entry.attachments?.length && bare(entry.text) ? "" : entry.text);

function Picture({ one, load }) {
  const canvas = useRef();
  const [gone, setGone] = useState(false);
  useEffect(() => {
    let left = false;
    load(one).then(createImageBitmap).then((bitmap) => {
      if (left) return;
      canvas.current.getContext("2d").drawImage(bitmap, 0, 0);
    }).catch(() => setGone(true));
    return () => { left = true; };
  }, [one.id]);
  return gone ? html`<span class="yd-muted">${t("fileGone")}</span>` : html`<canvas ref=${canvas} role="img" aria-label=${one.name} width=${one.width} height=${one.height}></canvas>`;
}

export function Files({ entry, load }) {
  const [shown, show] = useState(null);
  const save = async (one) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await load(one));
    link.download = one.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 9999);
  };
  if (!entry.attachments?.length) return null;
  return html`<div class="files">${entry.attachments.map((one) => html`<button key=${one.id} class=${one.width ? "picture" : "file"} onClick=${() => (one.width ? show(one) : save(one).catch(() => show(one)))}>
      ${one.width ? html`<${Picture} one=${one} load=${load} />` : html`<b class="yd-clip">${one.name}</b><span class="yd-tiny">${size(one.bytes)}</span>`}</button>`)}
    ${shown && html`<${Dialog} title=${shown.name} onClose=${() => show(null)}><div class="look-at">${shown.width ? html`<${Picture} one=${shown} load=${load} />` : t("fileGone")}</div>${shown.width > 0 && html`<button class="yd-btn" onClick=${() => save(shown)}>${t("save")}</button>`}<//>`}</div>`;
}

// Files on their way: {waiting, take, drop, clear, busy}. Each is uploaded as soon as it is chosen.
export function useWaiting(upload, fail) {
  const [waiting, set] = useState([]);
  const take = (files) => [...files].slice(0, MOST - waiting.length).forEach(async (file) => {
    const key = {};
    set((before) => [...before, { key, name: file.name }]);
    try {
      const sent = await upload(file);
      set((before) => before.map((one) => (one.key === key ? { key, ...sent } : one)));
    } catch (error) {
      set((before) => before.filter((one) => one.key !== key));
      fail(error);
    }
  });
  return { waiting, take, busy: waiting.some(({ id }) => !id), drop: (key) => set((before) => before.filter((one) => one.key !== key)), clear: () => set([]) };
}

export const Waiting = ({ files }) => files.waiting.length > 0 && html`<ul class="waiting">${files.waiting.map((one) => html`<li><span class="yd-clip">${one.name}</span>${one.id ? "" : html` <span class="yd-tiny" role="status">${t("uploading")}</span>`}<button type="button" class="link" aria-label=${`${t("remove")} ${one.name}`} onClick=${() => files.drop(one.key)}>×</button></li>`)}</ul>`;
