// A small chat with the saved profile, so that one sees at once what a change does.
import { events } from "../core/api.js";
import { words } from "../shared/i18n.js";
import { Prose } from "../shared/markdown.js";
import { Failure, html, useLoaded } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Named } from "./names.js";
import { server } from "./server.js";
import { TraceDrawer } from "./trace.js";

const t = words({
  zh: { title: "试一试", saved: "用的是已保存的设定", dirty: "先保存，再试新的设定", placeholder: "像顾客一样问一句", send: "发送", again: "重新开始", thinking: "正在回答…", trace: "怎么答的", said: "对话" },
  en: { title: "Try it", saved: "With the saved settings", dirty: "Save first to try the new settings", placeholder: "Ask as a customer would", send: "Send", again: "Start over", thinking: "Answering…", trace: "How it was decided", said: "Conversation" },
});
const CHANNEL = "console";

export function TryOut({ version, dirty }) {
  const greeting = useLoaded((signal) => server.get("/api/v1/profile/greeting", {}, { signal }), [version]);
  const [talk, setTalk] = useState([]);
  const [session, setSession] = useState("");
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [traced, setTraced] = useState("");
  const end = useRef();
  useEffect(() => { end.current.scrollTop = end.current.scrollHeight; }, [talk]);
  const restart = () => { setTalk([]); setSession(""); };
  useEffect(restart, [version]);
  const ask = async (message) => {
    if (!message.trim() || busy) return;
    setText("");
    setBusy(true);
    setTalk((before) => [...before, { who: "customer", text: message }, { who: "bot", text: "" }]);
    const last = (change) => setTalk((before) => [...before.slice(0, -1), { ...before.at(-1), ...change(before.at(-1)) }]);
    try {
      const response = await server.raw("POST", "/api/v1/chat/stream", { body: { message, session_id: session || null, channel: CHANNEL } });
      for await (const { event, data } of events(response)) {
        if (event === "token") last((said) => ({ text: said.text + data.text }));
        else if (event === "replace") last(() => ({ text: data.text }));
        else if (event === "done") { setSession(data.session_id); last(() => ({ text: data.reply, done: data })); }
        else if (event === "error") last(() => ({ error: { message: data.error.message, requestId: data.error.request_id } }));
      }
    } catch (error) { last(() => ({ error })); }
    setBusy(false);
  };
  return html`<aside class="yd-card ad-try" aria-labelledby="ad-try"><div class="yd-row"><h2 id="ad-try" class="yd-grow">${t("title")}</h2>${talk.length > 0 && html`<button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${restart}>${t("again")}</button>`}</div>
    <p class="yd-small ${dirty ? "ad-warn" : "yd-muted"}">${dirty ? t("dirty") : t("saved")}</p>
    <div class="ad-try-talk" ref=${end} role="log" tabindex="0" aria-label=${t("said")}><div class="ad-talk">
      ${greeting.data && html`<div><div class="ad-say" data-who="bot"><${Prose} text=${greeting.data.welcome_message} /></div></div>`}
      ${talk.map((said) => html`<div class="ad-turn">${said.error ? html`<${Failure} error=${said.error} />` : html`<div class="ad-say" data-who=${said.who}>${said.who === "bot" ? (said.text ? html`<${Prose} text=${said.text} />` : t("thinking")) : said.text}</div>`}
        ${said.done && html`<div class="ad-said"><${Named} kind="outcome" value=${said.done.outcome} /><button class="yd-btn yd-btn-small" onClick=${() => setTraced(said.done.message_id)}>${t("trace")}</button></div>`}</div>`)}
      ${talk.length === 0 && greeting.data?.suggested_questions.length > 0 && html`<div class="yd-row yd-wrap">${greeting.data.suggested_questions.map((question) => html`<button class="yd-btn yd-btn-small" onClick=${() => ask(question)}>${question}</button>`)}</div>`}</div></div>
    <form class="yd-row" onSubmit=${(event) => { event.preventDefault(); ask(text); }}><input class="yd-input" aria-label=${t("placeholder")} placeholder=${t("placeholder")} maxlength="2000" value=${text} onInput=${(event) => setText(event.target.value)} /><button class="yd-btn yd-btn-primary" disabled=${busy || !text.trim()}>${t("send")}</button></form>
    ${traced && html`<${TraceDrawer} id=${traced} onClose=${() => setTraced("")} />`}</aside>`;
}
