// The widget as people see it: launcher, panel, conversation, and the line to write in.
import { language, moment } from "../shared/i18n.js";
import { Dialog, told } from "../shared/ui.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact-htm.js";
import { DeskBar, Rating } from "./desk.js";
import { Entry } from "./entries.js";
import { ACCEPT, useWaiting, Waiting } from "./files.js";
import { ICONS } from "./icons.js";
import { Passage } from "./sources.js";
import { t } from "./words.js";

const MOST_CHARS = 2000;
const NEAR_END = 80; // pixels from the end within which new messages are followed

export function useConversation(conversation) {
  const [, draw] = useState(0);
  useLayoutEffect(() => conversation.subscribe(() => draw((value) => value + 1)), [conversation]); // at once: what is said meanwhile is not missed
  return conversation.state;
}

// The floating form: a launcher, and the panel that it opens.
export function Floating({ conversation, options, opened, onOpen }) {
  const state = useConversation(conversation);
  const launcher = useRef();
  const close = () => { onOpen(false); launcher.current.focus(); };
  useEffect(() => { if (opened) { conversation.start(language()); conversation.set({ unread: 0 }); } }, [opened, opened && state.unread]);
  const { look } = options;
  const latest = state.unread > 0 && look.preview !== false && state.entries.findLast((entry) => entry.who === "staff")?.text;
  const nudge = !opened && (latest || state.nudge);
  const heard = useRef(0);
  useEffect(() => { if (state.unread > heard.current && !opened && look.sound) beep(); heard.current = state.unread; }, [state.unread]);
  return html`${nudge && html`<div class="nudge" role="status"><button onClick=${() => onOpen(true)}>${nudge.slice(0, 200)}</button><button class="tool" aria-label=${t("close")} onClick=${() => conversation.set({ nudge: "", unread: 0 })}>${ICONS.close}</button></div>`}<button ref=${launcher} class="launcher" aria-expanded=${opened ? "true" : "false"} aria-label=${opened ? t("opened") : t("open")} onClick=${() => onOpen(!opened)}>
      ${opened ? ICONS.down : ICONS.chat}${options.label && !opened && html`<span>${options.label}</span>`}
      ${!opened && state.unread > 0 && html`<b class="badge" role="status" aria-label=${t("unread", { n: state.unread })}>${state.unread}</b>`}</button>
    ${opened && html`<section class="panel" role="dialog" aria-label=${state.greeting?.name || t("title")} onKeyDown=${(event) => event.key === "Escape" && !event.defaultPrevented && !event.target.closest("dialog") && close()}>
      <${Chat} conversation=${conversation} state=${state} look=${look} onClose=${close} /></section>`}`;
}

// A short soft tone.
function beep() {
  try {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.connect(volume).connect(audio.destination);
    volume.gain.value = 0.06;
    tone.frequency.value = 760;
    tone.start();
    tone.stop(audio.currentTime + 0.16);
  } catch { /* a browser that plays nothing before it was touched */ }
}

// The whole page.
export function Full({ conversation, options, tools }) {
  const state = useConversation(conversation);
  useEffect(() => { conversation.start(language()); }, []);
  return html`<section class="panel full"><${Chat} conversation=${conversation} state=${state} tools=${tools} trace=${options.trace} full=${true} /></section>`;
}

function Chat({ conversation, state, look = {}, onClose, tools, trace, full }) {
  const [passage, setPassage] = useState(null);
  const [looking, setLooking] = useState(null);
  const [sure, setSure] = useState(null);
  const [failure, setFailure] = useState(null);
  const input = useRef();
  const log = useRef();
  const attempt = async (work) => {
    setFailure(null);
    try { await work(); return true; } catch (error) { setFailure(error); return false; }
  };
  const desk = (work) => { log.current.focus(); return attempt(work); }; // the button that was pressed goes away
  const act = {
    ask: (text) => { conversation.send(text); input.current?.focus(); },
    open: (entry, source) => setPassage({ entry, source }),
    load: (entry, source) => conversation.readPassage(entry, source),
    blob: (one) => conversation.readFile(one),
    rate: (entry, rating, reason) => attempt(() => conversation.rateAnswer(entry.key, rating, reason)),
    person: () => desk(() => conversation.requestPerson()),
    askPerson: () => setSure({ title: t("person"), text: t("personSure"), action: t("personYes"), work: act.person }),
    leave: () => desk(() => conversation.leaveQueue()),
    end: () => setSure({ title: t("end"), text: t("endSure"), action: t("end"), work: () => desk(() => conversation.endService()) }),
    note: (text, contact) => conversation.send([t("noteLine", { text }), contact && t("noteContactLine", { contact })].filter(Boolean).join("\n")), // goes on the ticket
    retry: (entry) => conversation.deliver(entry.key),
    trace,
  };
  const fresh = () => { attempt(() => conversation.startOver()); input.current?.focus(); };
  const free = !["queued", "out_of_hours", "assigned"].includes(state.handoff.state);
  const name = state.greeting?.name || t("title");
  const files = useWaiting((file) => conversation.uploadFile(file), setFailure);
  const send = (text) => { conversation.send(text, files.waiting.map(({ key, ...one }) => one)); files.clear(); input.current?.focus(); };
  useEffect(() => {
    const read = () => document.hidden || conversation.tell("seen");
    read();
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, [state.entries.length, state.handoff.state]);
  return html`<header class="head"><div class="face" aria-hidden="true">${look.avatar ? html`<img src=${look.avatar} alt="" />` : [...name][0]}</div>${full ? html`<h1 class="yd-grow yd-clip">${name}</h1>` : html`<h2 class="yd-grow yd-clip">${name}</h2>`}
      ${free && state.phase === "ready" && html`<button class="tool" aria-label=${t("person")} title=${t("person")} onClick=${act.askPerson}>${ICONS.person}</button>`}
      ${conversation.proof.past().length > 0 && html`<button class="tool" aria-label=${t("past")} title=${t("past")} onClick=${() => setLooking(conversation.proof.past())}>${ICONS.past}</button>`}
      ${state.entries.length > 0 && html`<button class="tool" aria-label=${t("fresh")} title=${t("fresh")} onClick=${() => setSure({ title: t("fresh"), text: t("restart"), action: t("restartYes"), work: fresh })}>${ICONS.fresh}</button>`}
      ${tools}${onClose && html`<button class="tool" aria-label=${t("close")} title=${t("close")} onClick=${onClose}>${ICONS.close}</button>`}</header>
    <${DeskBar} state=${state} act=${act} />
    ${free && html`<${Rating} state=${state} onRate=${(score, comment) => attempt(() => conversation.rateService(score, comment))} onLater=${() => conversation.set({ asked: false })} />`}
    <${Log} look=${look} log=${log} conversation=${conversation} state=${state} act=${act} free=${free} full=${full} attempt=${attempt} />
    ${failure && html`<div class="bar" data-tone="bad" role="alert"><span class="yd-grow">${told(failure)} ${failure.requestId && html`<span class="yd-tiny yd-mono">${t("request", { id: failure.requestId })}</span>`}</span><button class="link" onClick=${() => setFailure(null)}>${t("close")}</button></div>`}
    <${Composer} input=${input} state=${state} files=${files} onSend=${send} onType=${() => { conversation.proof.open().catch(() => {}); conversation.tell("typing"); }} onStop=${() => conversation.stop()} />
    ${passage && html`<${Passage} source=${passage.source} load=${() => conversation.readPassage(passage.entry, passage.source)} onClose=${() => setPassage(null)} />`}
    ${looking && html`<${Dialog} title=${t("past")} onClose=${() => setLooking(null)}><div class="questions">${looking.map((one) => html`<button class="question" onClick=${() => { setLooking(null); attempt(() => conversation.goBack(one)); }}><div class="yd-clip">${one.title}</div><small class="yd-muted">${moment(one.at)}</small></button>`)}</div><//>`}
    ${sure && html`<${Dialog} title=${sure.title} onClose=${() => setSure(null)}><p>${sure.text}</p>
      <div class="yd-row"><span class="yd-grow"></span><button class="yd-btn" onClick=${() => setSure(null)}>${t("cancel")}</button><button class="yd-btn yd-btn-primary" onClick=${({ target }) => { target.closest("dialog").close(); sure.work(); }}>${sure.action}</button></div><//>`}`;
}

function Log({ look, log, conversation, state, act, free, full, attempt }) {
  const [following, setFollowing] = useState(true);
  const { entries } = state;
  const newest = entries[entries.length - 1];
  const lastAnswer = entries.findLast((entry) => entry.who === "bot");
  useEffect(() => { if (newest?.who === "customer") setFollowing(true); }, [newest?.key]);
  useLayoutEffect(() => { if (following || newest?.who === "customer") log.current.scrollTop = log.current.scrollHeight; });
  const onScroll = ({ target }) => setFollowing(target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END);
  return html`<div class="log" ref=${log} role="log" aria-label=${t("log")} tabindex="0" onScroll=${onScroll}><div class="column">
      ${state.problem ? html`<${Problem} error=${state.problem} retry=${() => conversation.start(language())} />` : state.phase !== "ready" ? html`<div class="skeleton" role="status" aria-label=${t("loading")}><i></i><i></i></div>` : html`
      ${state.previous && html`<button class="yd-btn yd-btn-small earlier" onClick=${() => attempt(() => conversation.loadEarlier())}>${t("earlier")}</button>`}
      <${Welcome} greeting=${{ ...state.greeting, ...(look[`greeting_${language()}`] && { welcome_message: look[`greeting_${language()}`] }) }} empty=${entries.length === 0} ask=${act.ask} full=${full} />
      ${entries.map((entry) => html`<${Entry} key=${entry.key} entry=${entry} last=${entry === lastAnswer && !state.busy} free=${free} act=${act} />`)}
      ${state.busy && newest?.who === "customer" && html`<article class="entry bot"><div class="bubble"><p class="thinking" role="status"><i></i><i></i><i></i><span class="yd-sr">${t("thinking")}</span></p></div></article>`}`}
    </div></div>
    ${!following && html`<button class="newest" onClick=${() => setFollowing(true)}>${ICONS.down}${t("newest")}</button>`}`;
}

function Welcome({ greeting, empty, ask, full }) {
  const questions = greeting.suggested_questions;
  return html`<div class=${empty && full ? "welcome big" : "welcome"}><article class="entry bot"><div class="bubble prose"><p class="plain">${greeting.welcome_message}</p></div></article>
    ${empty && questions.length > 0 && html`<nav class="questions" aria-label=${t("welcome")}><h3>${t("welcome")}</h3>${questions.map((text) => html`<button class="question" onClick=${() => ask(text)}>${text}</button>`)}</nav>`}</div>`;
}

const KEYS = { origin_not_allowed: "badOrigin" };

function Problem({ error, retry }) {
  if (error.status === 401) return html`<div class="problem" role="alert"><h2>${t("needKey")}</h2><p>${t("needKeyWhy")}</p></div>`;
  return html`<div class="problem" role="alert"><h2>${error.status === 403 ? t("badKey") : t("failed")}</h2><p>${KEYS[error.code] ? t(KEYS[error.code]) : told(error)}</p>
    ${error.requestId && html`<p class="yd-tiny yd-mono">${t("request", { id: error.requestId })}</p>`}<button class="yd-btn" onClick=${retry}>${t("retry")}</button></div>`;
}

function Composer({ input, state, files, onSend, onStop, onType }) {
  const picker = useRef();
  const [text, setText] = useState("");
  const ready = state.phase === "ready";
  const full = text.trim() || files.waiting.length > 0;
  useEffect(() => { if (matchMedia("(hover: hover)").matches) input.current.focus({ preventScroll: true }); }, [ready]);
  useLayoutEffect(() => {
    const { style } = input.current;
    style.height = "auto";
    style.height = `${Math.min(input.current.scrollHeight + 2, 140)}px`;
  }, [text]);
  const send = (event) => {
    event?.preventDefault();
    if (!full || state.busy || !ready || files.busy) return;
    onSend(text.trim());
    setText("");
  };
  const typed = (event) => { onType(); setText(event.target.value); };
  const given = (event, { files: list }) => { if (!list.length || !ready) return; event.preventDefault(); files.take(list); };
  const pressed = (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event); };
  return html`<form class="composer" onSubmit=${send} onDragOver=${(event) => event.preventDefault()} onDrop=${(event) => given(event, event.dataTransfer)} onPaste=${(event) => given(event, event.clipboardData)}><div class="column"><${Waiting} files=${files} /><div class="yd-row">
    <input ref=${picker} type="file" multiple hidden accept=${ACCEPT} onChange=${({ target }) => { files.take(target.files); target.value = ""; }} /><button type="button" class="tool clip" aria-label=${t("attach")} title=${t("attach")} disabled=${!ready} onClick=${() => picker.current.click()}>${ICONS.clip}</button>
    <textarea ref=${input} class="yd-input" rows="1" value=${text} maxlength=${MOST_CHARS} disabled=${!ready} aria-label=${t("say")} placeholder=${t("say")} onInput=${typed} onKeyDown=${pressed}></textarea>
    ${state.busy ? html`<button type="button" class="round" aria-label=${t("stop")} title=${t("stop")} onClick=${onStop}>${ICONS.stop}</button>` : html`<button class="round" aria-label=${t("send")} title=${t("send")} disabled=${!full || !ready || files.busy}>${ICONS.send}</button>`}</div></div></form>`;
}
