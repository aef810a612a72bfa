// A few faces and signs that people send to customers.
import { useState } from "../vendor/preact-htm.js";
import { html } from "../shared/ui.js";
import { t } from "./words.js";

const SIGNS = [..."😊😀😄😅😉🥰🤗🤔😢😭😮🙏👍👌👏💪🤝👋✌️💡✅❌⚠️❗❓⏰📦🚚🎁🎉🌹❤️💯📷📎📞📧💰🧾🔧🔍🏠".matchAll(/\p{Extended_Pictographic}\uFE0F?/gu)].map((found) => found[0]);

export function Emoji({ onPick }) {
  const [shown, show] = useState(false);
  return html`<span class="desk-emoji" onKeyDown=${(event) => { if (shown && event.key === "Escape") { event.stopPropagation(); show(false); } }}>
    <button type="button" class="yd-btn yd-btn-quiet yd-btn-icon" aria-label=${t("emoji")} title=${t("emoji")} aria-expanded=${shown ? "true" : "false"} onClick=${() => show(!shown)}>☺</button>
    ${shown && html`<span class="desk-emoji-box" role="group" aria-label=${t("emoji")}>${SIGNS.map((sign) => html`<button type="button" onClick=${() => { onPick(sign); show(false); }}>${sign}</button>`)}</span>`}</span>`;
}
