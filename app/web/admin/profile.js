// What makes the assistant the company's own, with a chat beside it that shows what the saved settings do.
import { words } from "../shared/i18n.js";
import { Failure, Field, Loaded, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useEffect, useState } from "../vendor/preact-htm.js";
import { CONNECTION } from "./connection.js";
import { Hours } from "./hours.js";
import { named } from "./names.js";
import { Head } from "./page.js";
import { server } from "./server.js";
import { TryOut } from "./tryout.js";

const PROFILE = "/api/v1/profile";
const INTENTS = ["knowledge_qa", "business_query", "ticket", "high_stakes", "human_request", "chitchat", "irrelevant", "out_of_scope"];
const t = words({
  zh: {
    title: "助手设定", text: "名字、语气、话术与服务时间。保存之后，下一句回答就照它来。", who: "是谁", says: "怎么说", opening: "开场", limits: "不谈什么", hours: "人工服务时间", learn: "教它您顾客的说法", model: "给大模型的补充说明",
    name: "名字", persona: "身份", personaHint: "例如：云笙商城的售后顾问", tone: "语气", toneHint: "要接大模型才起作用：现在没有接，回答摘自知识库原文", language: "回复语言", auto: "随顾客", zh: "中文", en: "英文", welcome: "开场白", welcomeHint: "留空时由产品自己问候", suggested: "推荐问题（每行一个，最多 10 个）", fallback: "没有依据时怎么说", fallbackHint: "清空则恢复默认的话",
    avoid: "不谈的话题（每行一个）", avoidHint: "顾客提到时，会礼貌地说明不便谈论", timezone: "时区", system: "说明", systemHint: "排在安全规则之后，不能取代它们；没有接入大模型时不起作用", examples: "各类说法的例句（每行一句）", examplesHint: "与内置例句一起学习，帮它分清顾客要什么；共 {n} / 500 条",
    save: "保存", saving: "正在保存…", saved: "已保存，下一句回答就照它来", dirty: "有没保存的修改", undo: "撤销修改", undoTitle: "撤销没保存的修改？", undoText: "表单会回到上次保存的样子。", readonly: "您的密钥只能查看，修改需要管理员的密钥。",
  },
  en: {
    title: "Assistant", text: "Name, tone, scripts and hours. What is saved counts from the next answer on.", who: "Who it is", says: "How it speaks", opening: "Opening", limits: "What it does not talk about", hours: "Hours of people", learn: "Teach it how your customers speak", model: "Further words to the language model",
    name: "Name", persona: "Persona", personaHint: "For example: after-sales adviser of Yunsheng Mall", tone: "Tone", toneHint: "Needs a language model: none is connected, and answers are quoted", language: "Language of replies", auto: "As the customer", zh: "Chinese", en: "English", welcome: "Welcome", welcomeHint: "Empty: the product greets by itself", suggested: "Suggested questions (one a line, 10 at most)", fallback: "When there is no evidence", fallbackHint: "Empty: back to the default",
    avoid: "Topics to avoid (one a line)", avoidHint: "A customer who brings one up is told politely", timezone: "Time zone", system: "Instructions", systemHint: "After the safety rules, never instead of them; without a language model they do nothing", examples: "Examples of each kind (one a line)", examplesHint: "Learnt together with the built-in ones; {n} of 500",
    save: "Save", saving: "Saving…", saved: "Saved; the next answer goes by it", dirty: "Unsaved changes", undo: "Undo", undoTitle: "Undo the changes?", undoText: "The form goes back to what was saved last.", readonly: "Your key may only look; changes need an administrator's key.",
  },
});
const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

export function Profile({ manages }) {
  const state = useLoaded((signal) => server.get(PROFILE, {}, { signal }), []);
  return html`<${Head} title=${t("title")} text=${t("text")} /><${Loaded} state=${state}>${(saved) => html`<${Editor} saved=${saved} manages=${manages} reload=${state.reload} />`}<//>`;
}

const formOf = (saved) => ({
  ...saved, avoid_topics: saved.avoid_topics.join("\n"), suggested_questions: saved.suggested_questions.join("\n"),
  intent_examples: Object.fromEntries(INTENTS.map((intent) => [intent, (saved.intent_examples[intent] || []).join("\n")])),
});

function bodyOf({ version: _, ...form }) {
  const examples = Object.entries(form.intent_examples).map(([intent, text]) => [intent, lines(text)]).filter(([, found]) => found.length);
  return { ...form, avoid_topics: lines(form.avoid_topics), suggested_questions: lines(form.suggested_questions), fallback_script: form.fallback_script.trim() || null, intent_examples: Object.fromEntries(examples) };
}

function Editor({ saved, manages, reload }) {
  const [form, setForm] = useState(() => formOf(saved));
  const [state, setState] = useState({});
  useEffect(() => setForm(formOf(saved)), [saved.version]);
  const dirty = JSON.stringify(bodyOf(form)) !== JSON.stringify(bodyOf(formOf(saved)));
  useEffect(() => {
    const leaving = (event) => event.preventDefault();
    if (dirty) addEventListener("beforeunload", leaving);
    return () => removeEventListener("beforeunload", leaving);
  }, [dirty]);
  const connected = useLoaded((signal) => (manages ? server.get(CONNECTION, {}, { signal }) : Promise.resolve(null)), []).data?.source !== "none";
  const put = (name, value) => setForm((before) => ({ ...before, [name]: value }));
  const set = (name) => (event) => put(name, event.target.value);
  const text = (name, label, hint, rows, most) => html`<${Field} label=${label} hint=${hint}>${rows
    ? html`<textarea class="yd-input" name=${name} rows=${rows} maxlength=${most} value=${form[name]} onInput=${set(name)}></textarea>` : html`<input class="yd-input" name=${name} maxlength=${most} value=${form[name]} onInput=${set(name)} />`}<//>`;
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const ok = await attempt(() => server.put(PROFILE, bodyOf(form)).catch((error) => { setState({ error }); throw error; }), t("saved"));
    if (ok) { setState({}); reload(); }
  };
  const undo = async () => { if (await confirmed({ title: t("undoTitle"), text: t("undoText"), action: t("undo") })) setForm(formOf(saved)); };
  const examples = Object.values(form.intent_examples).reduce((sum, each) => sum + lines(each).length, 0);
  return html`<div class="ad-profile"><form class="yd-stack" onSubmit=${save} aria-label=${t("title")}>${!manages && html`<p class="yd-notice">${t("readonly")}</p>`}<fieldset class="ad-plain yd-stack" disabled=${!manages}>
    <section class="yd-card yd-stack"><h2>${t("who")}</h2><div class="ad-fields">${text("name", t("name"), "", 0, 100)}
      <${Field} label=${t("language")}><select class="yd-input" value=${form.reply_language} onChange=${set("reply_language")}>${["auto", "zh", "en"].map((value) => html`<option value=${value} selected=${value === form.reply_language}>${t(value)}</option>`)}</select><//></div>${text("persona", t("persona"), t("personaHint"), 2, 500)}</section>
    <section class="yd-card yd-stack"><h2>${t("says")}</h2>${text("tone", t("tone"), connected ? "" : t("toneHint"), 0, 500)}${text("fallback_script", t("fallback"), t("fallbackHint"), 2, 500)}</section>
    <section class="yd-card yd-stack"><h2>${t("opening")}</h2>${text("welcome_message", t("welcome"), t("welcomeHint"), 2, 500)}${text("suggested_questions", t("suggested"), "", 4)}</section>
    <section class="yd-card yd-stack"><h2>${t("limits")}</h2>${text("avoid_topics", t("avoid"), t("avoidHint"), 3)}</section>
    <section class="yd-card yd-stack"><h2>${t("hours")}</h2><${Hours} lines=${form.business_hours} onChange=${(value) => put("business_hours", value)} />${text("timezone", t("timezone"), "", 0, 100)}</section>
    <section class="yd-card"><details><summary><strong>${t("learn")}</strong></summary><div class="yd-stack"><p class="yd-small yd-muted">${t("examplesHint", { n: examples })}</p>${INTENTS.map((intent) => html`<${Field} label=${named("intent", intent)}><textarea class="yd-input" rows="2" value=${form.intent_examples[intent]} onInput=${(event) => put("intent_examples", { ...form.intent_examples, [intent]: event.target.value })}></textarea><//>`)}</div></details></section>
    <section class="yd-card"><details><summary><strong>${t("model")}</strong></summary>${text("system_prompt", t("system"), t("systemHint"), 5, 4000)}</details></section></fieldset>
    ${state.error && html`<${Failure} error=${state.error} />`}
    ${manages && html`<div class="ad-savebar"><span class="yd-small yd-grow" role="status">${dirty && t("dirty")}</span>${dirty && html`<button type="button" class="yd-btn" onClick=${undo}>${t("undo")}</button>`}<button class="yd-btn yd-btn-primary" disabled=${!dirty || state.busy}>${state.busy ? t("saving") : t("save")}</button></div>`}
  </form><${TryOut} version=${saved.version} dirty=${dirty} /></div>`;
}
