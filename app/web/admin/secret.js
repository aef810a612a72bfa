// Something that is shown once, to be copied.
import { words } from "../shared/i18n.js";
import { html, toast } from "../shared/ui.js";
import { useRef } from "../vendor/preact-htm.js";

const t = words({ zh: { copy: "复制", copied: "已复制", label: "只显示这一次", select: "请按 Ctrl+C 复制" }, en: { copy: "Copy", copied: "Copied", label: "Shown this once", select: "Press Ctrl+C to copy" } });

export function Secret({ value, text }) {
  const field = useRef();
  const copy = async () => {
    field.current.select();
    if (!navigator.clipboard) { toast(t("select")); return; }  // a page over plain http has none
    await navigator.clipboard.writeText(value).then(() => toast(t("copied"), "good"), () => toast(t("select")));
  };
  return html`<p class="yd-notice" data-tone="warn">${text}</p><div class="yd-row"><input ref=${field} class="yd-input yd-mono yd-grow" readonly aria-label=${t("label")} value=${value} onFocus=${(event) => event.target.select()} /><button type="button" class="yd-btn" onClick=${copy}>${t("copy")}</button></div>`;
}
