// Connecting a language model: provider, key, a test with its sample answer; the environment wins and is shown so.
import { ago, number, words } from "../shared/i18n.js";
import { Failure, Field, Loaded, Tag, attempt, confirmed, html, useLoaded } from "../shared/ui.js";
import { useState } from "../vendor/preact-htm.js";
import { Facts } from "./page.js";
import { server } from "./server.js";

export const CONNECTION = "/api/v1/models/connection";
const t = words({
  zh: {
    title: "接入", inUse: "在用", none: "还没有接", noneText: "现在回答摘自知识库原文，语气设定不起作用。接上之后，下一句回答就由它来写，不用重启。", environment: "由环境变量设置", environmentText: "LLM_ 开头的设置优先于这里。要在这里接，先去掉它们并重启。", console: "在这里接的", others: "大模型由安装方统一设置。", by: "{by} · {when}",
    judges: "它也在把门：看资料里有没有写明答案。", provider: "提供商", baseUrl: "接口地址", baseUrlHint: "留空用这一家的：{url}", baseUrlNeeded: "一般以 /v1 结尾", model: "模型名", key: "密钥", keyHint: "只写不读，加密保存", keyKept: "已保存，留空则不变", keyNone: "自己的服务可以留空",
    test: "测试", testing: "正在测试…", save: "接入", change: "保存", saved: "已接入，下一句回答由它来写", drop: "断开", dropTitle: "断开大模型？", dropText: "密钥会删除，之后的回答摘自知识库原文。", dropped: "已断开", ok: "有回答", failed: "没有回答", first: "首字", total: "一共", ms: "{n} 毫秒", s: "{n} 秒", sample: "它说",
    deepseek: "DeepSeek", qwen: "通义千问（百炼）", doubao: "豆包（火山方舟）", kimi: "Kimi（月之暗面）", glm: "智谱 GLM", openai: "OpenAI", ollama: "Ollama（自己的）", vllm: "vLLM（自己的）", compatible: "其他兼容 OpenAI 的接口",
  },
  en: {
    title: "Connection", inUse: "In use", none: "None yet", noneText: "Answers are quoted from the knowledge base, and the tone does nothing. Once connected, it writes the next answer, without a restart.", environment: "Set by the environment", environmentText: "Settings that begin with LLM_ come before this page. To connect here, take them away and restart.", console: "Connected here", others: "Whoever runs this installation sets the language model.", by: "{by} · {when}",
    judges: "It is in the gate too: it judges whether the documents state the answer.", provider: "Provider", baseUrl: "Address", baseUrlHint: "Empty: {url}", baseUrlNeeded: "Usually ends in /v1", model: "Model", key: "Key", keyHint: "Never shown again, kept encrypted", keyKept: "One is kept; empty leaves it", keyNone: "A server of your own may need none",
    test: "Test", testing: "Testing…", save: "Connect", change: "Save", saved: "Connected; it writes the next answer", drop: "Disconnect", dropTitle: "Disconnect the model?", dropText: "Its key is deleted, and answers are quoted from the knowledge base.", dropped: "Disconnected", ok: "It answers", failed: "No answer", first: "First words", total: "In all", ms: "{n} ms", s: "{n} s", sample: "It says",
    deepseek: "DeepSeek", qwen: "Qwen (Alibaba Cloud)", doubao: "Doubao (Volcano Ark)", kimi: "Kimi (Moonshot)", glm: "Zhipu GLM", openai: "OpenAI", ollama: "Ollama (your own)", vllm: "vLLM (your own)", compatible: "Another OpenAI-compatible endpoint",
  },
});
const OWN = ["ollama", "vllm", "compatible"];
const time = (ms) => (ms >= 1000 ? t("s", { n: number(ms / 1000, 1) }) : t("ms", { n: number(ms) }));

export function Connection() {
  const state = useLoaded((signal) => server.get(CONNECTION, {}, { signal }), []);
  return html`<section class="yd-card yd-stack"><h2>${t("title")}</h2><${Loaded} state=${state}>${(found) => html`<${Using} found=${found} />${found.manageable ? html`<${Editor} key=${found.updated_at} found=${found} reload=${state.reload} />` : html`<p class="yd-small yd-muted">${t(found.source === "environment" ? "environmentText" : "others")}</p>`}`}<//></section>`;
}

const Using = ({ found }) => html`<p><${Tag} tone=${found.source === "none" ? "" : "good"}>${t(found.source)}<//> ${found.models.join("、")} ${found.updated_at && found.source === "console" && html`<span class="yd-small yd-muted">${t("by", { by: found.by, when: ago(found.updated_at) })}</span>`}</p>
  ${found.problem && html`<p class="yd-notice" data-tone="bad" role="alert">${found.problem}</p>`}${found.source === "none" && html`<p class="yd-small yd-muted">${t("noneText")}</p>`}${found.judges && html`<p class="yd-small yd-muted">${t("judges")}</p>`}`;

function Editor({ found, reload }) {
  const [form, setForm] = useState({ provider: found.provider || "deepseek", base_url: found.base_url, model: found.model || (found.source === "console" ? found.models[0] : ""), api_key: "" });
  const [state, setState] = useState({});
  const set = (name) => (event) => { setForm({ ...form, [name]: event.target.value, ...(name === "provider" && { base_url: "" }) }); setState({}); };
  const known = found.providers.find((one) => one.name === form.provider).base_url;
  const connected = found.source === "console";
  const test = async () => {
    setState({ busy: "test" });
    try { setState({ tested: await server.post(`${CONNECTION}/test`, form) }); } catch (error) { setState({ error }); }
  };
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: "save" });
    if (await attempt(() => server.put(CONNECTION, form), t("saved"))) reload(); else setState({});
  };
  const drop = async () => {
    if (!await confirmed({ title: t("dropTitle"), text: t("dropText"), action: t("drop") })) return;
    if (await attempt(() => server.delete(CONNECTION), t("dropped"))) reload();
  };
  const hint = connected && found.has_key ? "keyKept" : OWN.includes(form.provider) ? "keyNone" : "keyHint";
  return html`<form class="yd-stack" onSubmit=${save} aria-label=${t("title")}><div class="ad-fields">
      <${Field} label=${t("provider")}><select class="yd-input" name="provider" value=${form.provider} onChange=${set("provider")}>${found.providers.map((one) => html`<option value=${one.name} selected=${one.name === form.provider}>${t(one.name)}</option>`)}</select><//>
      <${Field} label=${t("model")}><input class="yd-input" name="model" maxlength="200" required value=${form.model} onInput=${set("model")} /><//>
      <${Field} label=${t("baseUrl")} hint=${known ? t("baseUrlHint", { url: known }) : t("baseUrlNeeded")}><input class="yd-input" type="url" name="base_url" required=${!known} value=${form.base_url} onInput=${set("base_url")} /><//>
      <${Field} label=${t("key")} hint=${t(hint)}><input class="yd-input" type="password" name="api_key" autocomplete="off" value=${form.api_key} onInput=${set("api_key")} /><//></div>
    <div aria-live="polite">${state.tested && html`<${Tested} found=${state.tested} />`}</div>${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-row yd-wrap">${connected && html`<button type="button" class="yd-btn yd-btn-danger" onClick=${drop}>${t("drop")}</button>`}<span class="yd-grow"></span><button type="button" class="yd-btn" disabled=${state.busy || !form.model} onClick=${test}>${t(state.busy === "test" ? "testing" : "test")}</button><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t(connected ? "change" : "save")}</button></div></form>`;
}

const Tested = ({ found }) => html`<div class="yd-notice" data-tone=${found.error ? "bad" : "good"}><strong>${t(found.error ? "failed" : "ok")}</strong>
  ${found.error ? html`<p class="yd-small">${found.error}</p>` : html`<${Facts} facts=${[[t("first"), time(found.first_token_ms)], [t("total"), time(found.total_ms)], [t("sample"), found.reply]]} />`}</div>`;
