// Where the customer stands with a person: the queue, outside of hours, being served.
import { html, useState } from "../vendor/preact-htm.js";
import { t } from "./words.js";

export function DeskBar({ state, act }) {
  const { handoff, connected, offline, typing } = state;
  if (offline) return html`<div class="bar" data-tone="warn" role="status">${t("offline")}</div>`;
  const active = ["queued", "out_of_hours", "assigned"].includes(handoff.state);
  return html`${handoff.state === "assigned" && html`<div class="bar" data-tone="good" role="status"><span class="dot"></span>
      <span class="yd-grow"><b>${handoff.agent ? t("serving", { n: handoff.agent }) : t("servingSome")}</b>${typing && html` <span class="yd-small">${t("typing")}</span>`}</span>
      <button class="link" onClick=${act.end}>${t("end")}</button></div>`}
    ${handoff.state === "queued" && html`<div class="bar" role="status"><div class="yd-grow"><b>${t("queued")}</b>${t("position", { n: handoff.position })}
      <div class="yd-small">${waiting(handoff)}${handoff.ticket && ` · ${t("ticket", { n: handoff.ticket })}`}</div></div><button class="link" onClick=${act.leave}>${t("leave")}</button></div>`}
    ${handoff.state === "out_of_hours" && html`<div class="bar" data-tone="warn" role="status"><div class="yd-grow"><b>${t("closed")}</b>
      <div class="yd-small">${handoff.ticket && t("ticket", { n: handoff.ticket })}</div></div><button class="link" onClick=${act.leave}>${t("leave")}</button></div>`}
    ${active && !connected && html`<div class="bar" data-tone="warn" role="status">${t("lineLost")}</div>`}
    ${handoff.ticket && ["queued", "out_of_hours"].includes(handoff.state) && html`<${Note} key=${handoff.ticket} open=${handoff.state === "out_of_hours"} onSend=${act.note} />`}`;
}

// How it was with a person: 1 to 5, then a word, if one likes.
export function Rating({ state, onRate, onLater }) {
  const [score, setScore] = useState(0);
  if (state.thanked) return html`<div class="bar" data-tone="good" role="status">${t("rated")}</div>`;
  if (!state.asked) return null;
  const submit = (event) => { event.preventDefault(); onRate(score, new FormData(event.target).get("comment").trim()); };
  return html`<form class="bar rate" onSubmit=${submit}><div class="yd-grow yd-stack"><div class="yd-row"><b class="yd-grow">${t("rateAsk")}</b><button type="button" class="link" onClick=${onLater}>${t("rateLater")}</button></div>
    <div class="stars" role="group" aria-label=${t("rateAsk")}>${[1, 2, 3, 4, 5].map((n) => html`<button type="button" aria-label=${t("rateStar", { n })} aria-pressed=${score === n} data-on=${n <= score} onClick=${() => setScore(n)}>${n <= score ? "★" : "☆"}</button>`)}</div>
    ${score > 0 && html`<input class="yd-input" name="comment" maxlength="500" aria-label=${t("rateWord")} placeholder=${t("rateWord")} /><button class="yd-btn yd-btn-primary">${t("submit")}</button>`}</div></form>`;
}

function waiting({ estimated_wait_s: seconds }) {
  if (seconds === null || seconds === undefined) return t("nobody");
  return `${seconds < 60 ? t("soon") : t("wait", { n: Math.ceil(seconds / 60) })} · ${t("answering")}`;
}

// Nobody is there: what is written here goes on the ticket.
function Note({ open, onSend }) {
  const [sent, setSent] = useState(false);
  if (sent) return null;
  const submit = (event) => {
    event.preventDefault();
    const { text, contact } = Object.fromEntries(new FormData(event.target));
    if (!text.trim()) return;
    setSent(true);
    onSend(text.trim(), contact.trim());
  };
  return html`<details class="note" open=${open}><summary>${t("note")}</summary><form class="yd-stack" onSubmit=${submit}>
    <textarea class="yd-input" name="text" rows="3" required maxlength="1500" aria-label=${t("noteText")} placeholder=${t("noteText")}></textarea>
    <input class="yd-input" name="contact" maxlength="100" autocomplete="email" aria-label=${t("noteContact")} placeholder=${t("noteContact")} />
    <button class="yd-btn yd-btn-primary">${t("noteSend")}</button></form></details>`;
}
