// One entry of the conversation; every outcome has a look of its own.
import { clock } from "../shared/i18n.js";
import { Prose, SAFE } from "../shared/markdown.js";
import { told } from "../shared/ui.js";
import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { ICONS } from "./icons.js";
import { Sources, Unfold, marks, stretches } from "./sources.js";
import { PERSON, t } from "./words.js";

const LOOKS = { low_confidence: ["low", "lookLow"], no_evidence: ["none", "lookNone"], cannot_answer: ["unsure", "lookUnsure"], out_of_scope: ["scope", "lookScope"], partially_answered: ["part", "lookPart"], high_stakes: ["care", "lookCare"], clarify: ["ask", "lookAsk"], rejected: ["rejected"], handoff: ["person"] };
const UNHELPED = ["no_evidence", "cannot_answer", "out_of_scope"];
const RATED = ["answered", "partially_answered", "low_confidence", "no_evidence", "cannot_answer"];

// What can be done with an entry comes as `act`: {ask, open, load, rate, person, retry, trace}.
export function Entry({ entry, last, free, act }) {
  if (entry.who === "system") return entry.event ? html`<p class="event">${eventText(entry)}</p>` : null;
  if (entry.who === "customer") return html`<${Question} entry=${entry} act=${act} />`;
  if (entry.who === "staff") return html`<article class="entry staff"><div class="by">${entry.name || t("someone")} · <time>${clock(entry.at)}</time></div><div class="bubble prose"><p class="plain">${entry.text}</p></div></article>`;
  return html`<${Answer} entry=${entry} last=${last} free=${free} act=${act} />`;
}

function eventText({ event, name }) {
  return event === "expired" ? t("expired") : t(`event_${event}`, { n: name || t("someone") });
}

function Question({ entry, act }) {
  const seconds = useSeconds(entry.delivery === "limited" ? entry.until : 0);
  const failed = entry.delivery === "failed" || entry.delivery === "limited";
  return html`<article class="entry customer"><span class="yd-sr">${t("you")}</span><div class="bubble plain">${entry.text}</div>
    ${["sending", "reconnecting", "delivered"].includes(entry.delivery) && html`<div class="delivery" data-state=${entry.delivery} role="status">${t(entry.delivery)}</div>`}
    ${failed && html`<div class="delivery" data-state="failed" role="alert">
      <span>${entry.delivery === "limited" ? (seconds ? t("limited", { n: seconds }) : t("ready")) : `${t("failed")}：${told(entry.error)}`}</span>
      ${entry.error.requestId && html` <span class="yd-tiny yd-mono">${t("request", { id: entry.error.requestId })}</span>`}
      <button class="yd-btn yd-btn-small" disabled=${seconds > 0} onClick=${() => act.retry(entry)}>${t("retry")}</button></div>`}
  </article>`;
}

// Whole seconds until a moment; 0 once it has come.
function useSeconds(until) {
  const left = () => Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const [, tick] = useState(0);
  useEffect(() => {
    if (!until) return undefined;
    const timer = setInterval(() => { tick((value) => value + 1); if (!left()) clearInterval(timer); }, 500);
    return () => clearInterval(timer);
  }, [until]);
  return left();
}

function Answer({ entry, last, free, act }) {
  const [look, said] = entry.stopped ? ["part", "stopped"] : LOOKS[entry.outcome] || ["plain"];
  const head = look === "none" && entry.related?.length ? "lookNear" : said;
  const sources = entry.sources || [];
  const open = (source) => act.open(entry, source);
  const link = (href, children) => href === "#human" && html`<button class="link" onClick=${act.person}>${children}</button>`;
  const prose = (text) => html`<${Prose} text=${text} mark=${marks(sources, open)} link=${link} of=${sources} />`;
  const text = !entry.streaming && sources.some((source) => source.left_blocks) ? unfolding(entry, sources, prose, act) : prose(entry.text);
  const offered = free && (UNHELPED.includes(entry.outcome) || entry.escalate);
  const chips = last ? (entry.suggestions || []).filter((text) => !PERSON.includes(text)) : [];
  return html`<article class="entry bot" data-look=${look} data-outcome=${entry.outcome} aria-busy=${entry.streaming ? "true" : "false"}>
    <span class="yd-sr">${t("assistant")}</span>
    <div class="bubble">
      ${head && html`<div class="look">${t(head)}</div>`}
      ${entry.degraded?.length > 0 && html`<div class="look" data-tone="warn">${t("degraded")}</div>`}
      <div class="prose">${entry.withheld ? html`<p class="yd-muted">${t("withheld")}</p>` : entry.text ? text : entry.streaming && html`<p class="thinking"><i></i><i></i><i></i><span class="yd-sr">${t("thinking")}</span></p>`}</div>
      ${sources.length > 0 && html`<${Sources} sources=${sources} onOpen=${open} />`}
    </div>
    ${entry.buttons?.length > 0 && html`<${Buttons} buttons=${entry.buttons} ask=${act.ask} />`}
    ${!entry.streaming && html`<${Foot} entry=${entry} act=${act} />`}
    ${offered && last && html`<button class="yd-btn offer" onClick=${act.person}>${ICONS.person}${t("person")}</button>`}
    ${chips.length > 0 && html`<${Chips} chips=${chips} ask=${act.ask} head=${look === "ask" || entry.proposal ? "" : t("more")} />`}
  </article>`;
}

// Below the last stretch that quotes a source, what it left out of it.
function unfolding(entry, sources, prose, act) {
  const parts = stretches(entry.text);
  return parts.map(({ text, index }, at) => {
    const source = !parts.slice(at + 1).some((later) => later.index === index) && sources.find((one) => String(one.index) === index && one.left_blocks);
    return html`<div class="stretch">${prose(text)}${source && html`<${Unfold} source=${source} load=${() => act.load(entry, source)} />`}</div>`;
  });
}

const Chips = ({ chips, ask, head }) => html`<div class="chips">${head && html`<span class="yd-sr">${head}</span>`}${chips.map((text) => html`<button class="chip" onClick=${() => ask(text)}>${text}</button>`)}</div>`;

// What staff put below an answer: a page to open, or something to say. Of addresses only those that open nothing else.
const Buttons = ({ buttons, ask }) => html`<div class="chips buttons">${buttons.map(({ label, url, message }) => (url ? SAFE.test(url) && html`<a class="chip" href=${url} target="_blank" rel="noopener noreferrer nofollow">${label}</a>` : html`<button class="chip" onClick=${() => ask(message)}>${label}</button>`))}</div>`;

// Time, votes, and for those who may see it how the turn was decided.
function Foot({ entry, act }) {
  const [asking, setAsking] = useState(false);
  const [copied, setCopied] = useState(false);
  const rated = RATED.includes(entry.outcome) && entry.id && !entry.stopped;
  const vote = async (rating) => { if (await act.rate(entry, rating)) setAsking(rating === "down"); };
  const copy = async () => { await navigator.clipboard.writeText(entry.text.replace(/\[(\d+|SQL)\]/g, "")); setCopied(true); };
  return html`<div class="foot"><time>${clock(entry.at)}</time>
    ${entry.text && !entry.withheld && navigator.clipboard && html`<button class="vote" aria-label=${t(copied ? "copied" : "copy")} title=${t(copied ? "copied" : "copy")} onClick=${copy}>${ICONS[copied ? "done" : "copy"]}</button>`}
    ${rated && html`<button class="vote" aria-pressed=${entry.rating === "up" ? "true" : "false"} aria-label=${t("helpful")} title=${t("helpful")} onClick=${() => vote("up")}>${ICONS.up}</button>
      <button class="vote" aria-pressed=${entry.rating === "down" ? "true" : "false"} aria-label=${t("unhelpful")} title=${t("unhelpful")} onClick=${() => vote("down")}>${ICONS.dislike}</button>`}
    ${entry.rating && !asking && html`<span class="yd-tiny" role="status">${t("thanks")}</span>`}
    ${act.trace && entry.id && html`<button class="link" onClick=${() => act.trace(entry)}>${t("decided")}</button>`}
  </div>${asking && html`<${Reason} onDone=${(reason) => { setAsking(false); if (reason) act.rate(entry, "down", reason); }} />`}`;
}

function Reason({ onDone }) {
  const submit = (event) => { event.preventDefault(); onDone(new FormData(event.target).get("other").trim()); };
  return html`<form class="reason" onSubmit=${submit}><span class="yd-small">${t("why")}</span>
    <div class="chips">${t("reasons").split("|").map((text) => html`<button type="button" class="chip" onClick=${() => onDone(text)}>${text}</button>`)}</div>
    <div class="yd-row"><input class="yd-input" name="other" maxlength="1000" aria-label=${t("other")} placeholder=${t("other")} /><button class="yd-btn">${t("submit")}</button></div></form>`;
}
