// Puts the chat on a company's site: how it looks, seen at once, what it says first, and the snippet with a key of the site's own.
import { words } from "../shared/i18n.js";
import { Failure, Field, Loaded, attempt, html, toast, useLoaded } from "../shared/ui.js";
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Head } from "./page.js";
import { server } from "./server.js";

const WIDGET = "/api/v1/widget";
const MOST_BYTES = 40_000;
const SIDE = 96; // pixels of an avatar
const t = words({
  zh: {
    title: "网站挂件", text: "右边就是顾客会看到的样子。保存后网站一分钟内跟着变，代码不用重贴。", look: "外观", accent: "主色", accentLow: "这个颜色的字在浅色底上看不清，换深一些的", own: "用默认的蓝", avatar: "头像", avatarHint: "PNG、JPEG 或 WebP，会缩成 96 像素的方图", noAvatar: "不用图片", position: "位置", right: "右下角", left: "左下角", language: "界面语言", auto: "随网页", zh: "中文", en: "英文", label: "按钮上的字", labelHint: "留空只有图标",
    greetingZh: "中文开场白", greetingEn: "英文开场白", greetingHint: "留空用“助手设定”里的", closed: "挂件收起时", preview: "新消息在按钮上方露出", sound: "新消息响一声", proactive: "主动打招呼", proactiveText: "顾客打开这些网页一会儿之后说一句，一次访问只说一次；先合的先用。", page: "网页路径", pageHint: "* 代表任意一段，如 /pricing*", seconds: "几秒之后", message: "说什么", add: "加一条", remove: "删除这一条",
    save: "保存", saved: "已保存，网站一分钟内跟着变", preview_: "预览", again: "重新打开预览", install: "贴到网站", installText: "先给这个网站一把自己的密钥：只有写上的网页能用，丢了也只停用它。", origin: "网站地址", originHint: "只到域名，如 https://www.example.com；每行一个", make: "生成代码", keyless: "现在没有密钥，只有这台机器能用；先在“密钥”里建一个管理员密钥，再给网站建一把。", snippet: "放在每个网页的 </body> 之前", once: "密钥只显示这一次，请现在就贴好。", copy: "复制", copied: "已复制", have: "已有网站密钥的，把 data-key 换成它即可。", picture: "图片读不出来，换一张试试",
  },
  en: {
    title: "Website widget", text: "On the right is what customers will see. Your site follows within a minute of saving; the snippet stays as it is.", look: "Look", accent: "Colour", accentLow: "Words in this colour are hard to read on white; choose a darker one", own: "Use the default blue", avatar: "Picture", avatarHint: "PNG, JPEG or WebP; made a square of 96 pixels", noAvatar: "No picture", position: "Position", right: "Bottom right", left: "Bottom left", language: "Language", auto: "As the page", zh: "Chinese", en: "English", label: "Words on the button", labelHint: "Empty: the icon alone",
    greetingZh: "Welcome in Chinese", greetingEn: "Welcome in English", greetingHint: "Empty: as under “Assistant”", closed: "While it is closed", preview: "Show new messages above the button", sound: "A short sound for new messages", proactive: "Speak first", proactiveText: "Some seconds after one of these pages is opened, once a visit; the first rule that fits counts.", page: "Path of the page", pageHint: "* stands for anything, as in /pricing*", seconds: "After seconds", message: "What it says", add: "Add a rule", remove: "Remove this rule",
    save: "Save", saved: "Saved; your site follows within a minute", preview_: "Preview", again: "Open the preview anew", install: "Put it on your site", installText: "Give the site a key of its own: only the pages written down can use it, and a lost one is revoked alone.", origin: "Address of the site", originHint: "Up to the domain, as in https://www.example.com; one a line", make: "Make the snippet", keyless: "There are no keys yet: only this machine can use the server. Make an administrator's key under “Keys” first, then one for the site.", snippet: "Before </body> of every page", once: "The key is shown this once: paste it now.", copy: "Copy", copied: "Copied", have: "If the site has a key already, write it into data-key.", picture: "The picture cannot be read; try another one",
  },
});

export function Widget({ me }) {
  const state = useLoaded((signal) => server.get(WIDGET, {}, { signal }), []);
  return html`<${Head} title=${t("title")} text=${t("text")} /><${Loaded} state=${state}>${(saved) => html`<${Editor} saved=${saved} keyless=${me.keyless} />`}<//>`;
}

function Editor({ saved, keyless }) {
  const [form, setForm] = useState(saved);
  const [state, setState] = useState({});
  const put = (name, value) => setForm((before) => ({ ...before, [name]: value }));
  const set = (name) => (event) => put(name, event.target.type === "checkbox" ? event.target.checked : event.target.value);
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const ok = await attempt(() => server.put(WIDGET, form).catch((error) => { setState({ error }); throw error; }), t("saved"));
    if (ok) setState({});
  };
  const text = (name, label, hint, most) => html`<${Field} label=${label} hint=${hint}><input class="yd-input" name=${name} maxlength=${most} value=${form[name]} onInput=${set(name)} /><//>`;
  const choice = (name, label, values) => html`<${Field} label=${label}><select class="yd-input" name=${name} value=${form[name]} onChange=${set(name)}>${values.map((value) => html`<option value=${value} selected=${value === form[name]}>${t(value)}</option>`)}</select><//>`;
  const check = (name) => html`<label class="yd-row"><input type="checkbox" name=${name} checked=${form[name]} onChange=${set(name)} /><span>${t(name)}</span></label>`;
  const picture = async (event) => {
    try { put("avatar", await square(event.target.files[0])); } catch { toast(new Error(t("picture"))); }
  };
  return html`<div class="ad-profile"><div class="yd-stack"><form class="yd-stack" onSubmit=${save} aria-label=${t("title")}>
      <section class="yd-card yd-stack"><h2>${t("look")}</h2><div class="ad-fields">
        <${Field} label=${t("accent")} error=${form.accent && contrast(form.accent) < 4.5 && t("accentLow")}><input class="yd-input" type="color" name="accent" value=${form.accent || "#1a56f0"} onInput=${set("accent")} /><//>${text("label", t("label"), t("labelHint"), 20)}
        ${choice("position", t("position"), ["right", "left"])}${choice("language", t("language"), ["auto", "zh", "en"])}
        <${Field} label=${t("avatar")} hint=${t("avatarHint")}><input class="yd-input" type="file" name="avatar" accept="image/png,image/jpeg,image/webp" onChange=${picture} /><//></div>
        <div class="yd-row yd-wrap">${form.accent && html`<button type="button" class="yd-btn yd-btn-small" onClick=${() => put("accent", "")}>${t("own")}</button>`}${form.avatar && html`<button type="button" class="yd-btn yd-btn-small" onClick=${() => put("avatar", "")}>${t("noAvatar")}</button>`}</div>
        <div class="ad-fields">${text("greeting_zh", t("greetingZh"), t("greetingHint"), 200)}${text("greeting_en", t("greetingEn"), t("greetingHint"), 200)}</div></section>
      <section class="yd-card yd-stack"><h2>${t("closed")}</h2>${check("preview")}${check("sound")}</section>
      <${Rules} rules=${form.proactive} onChange=${(rules) => put("proactive", rules)} />
      ${state.error && html`<${Failure} error=${state.error} />`}<div class="ad-savebar"><span class="yd-grow"></span><button class="yd-btn yd-btn-primary" disabled=${state.busy}>${t("save")}</button></div></form>
    <${Install} keyless=${keyless} /></div><${Preview} look=${form} /></div>`;
}

function Rules({ rules, onChange }) {
  const change = (place, name, value) => onChange(rules.map((rule, at) => (at === place ? { ...rule, [name]: value } : rule)));
  return html`<section class="yd-card yd-stack"><div><h2>${t("proactive")}</h2><p class="yd-small yd-muted">${t("proactiveText")}</p></div>
    ${rules.map((rule, place) => html`<fieldset class="ad-plain ad-rule"><${Field} label=${t("page")} hint=${t("pageHint")}><input class="yd-input" required maxlength="200" pattern="/[^\\s?#]*" value=${rule.page} onInput=${(event) => change(place, "page", event.target.value)} /><//>
      <${Field} label=${t("seconds")}><input class="yd-input" type="number" required min="0" max="600" value=${rule.seconds} onInput=${(event) => change(place, "seconds", Number(event.target.value))} /><//>
      <${Field} label=${t("message")}><input class="yd-input" required maxlength="200" value=${rule.message} onInput=${(event) => change(place, "message", event.target.value)} /><//>
      <button type="button" class="yd-btn yd-btn-quiet yd-btn-icon" aria-label=${t("remove")} title=${t("remove")} onClick=${() => onChange(rules.filter((_, at) => at !== place))}>×</button></fieldset>`)}
    ${rules.length < 10 && html`<div><button type="button" class="yd-btn yd-btn-small" onClick=${() => onChange([...rules, { page: "/", seconds: 10, message: "" }])}>${t("add")}</button></div>`}</section>`;
}

// The widget itself, within a frame of its own: what is fixed to the window is fixed to an element that is transformed.
function Preview({ look }) {
  const place = useRef();
  const element = useRef();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let gone = false;
    import("../widget/main.js").then(() => {
      if (gone) return;
      element.current = Object.assign(document.createElement("yingda-chat"), { look });
      element.current.dataset.open = "";
      place.current.append(element.current);
    });
    return () => { gone = true; element.current?.remove(); };
  }, [round]);
  useEffect(() => element.current?.wear?.(look), [look]);
  return html`<aside class="ad-widget" aria-labelledby="ad-widget"><div class="yd-row"><h2 id="ad-widget" class="yd-grow">${t("preview_")}</h2><button class="yd-btn yd-btn-quiet yd-btn-small" onClick=${() => setRound(round + 1)}>${t("again")}</button></div><div class="ad-widget-frame" ref=${place}></div></aside>`;
}

function Install({ keyless }) {
  const [origins, setOrigins] = useState("");
  const [key, setKey] = useState("");
  const [state, setState] = useState({});
  const make = async (event) => {
    event.preventDefault();
    setState({ busy: true });
    const list = origins.split("\n").map((line) => line.trim().replace(/\/$/, "")).filter(Boolean);
    try {
      const made = await server.post("/api/v1/keys", { name: new URL(list[0]).host, role: "client", origins: list });
      setKey(made.key);
      setState({});
    } catch (error) { setState({ error }); }
  };
  const snippet = `<script src="${location.origin}/widget.js" data-key="${key || "…"}" defer></script>`;
  const copy = () => attempt(() => navigator.clipboard.writeText(snippet), t("copied"));
  return html`<section class="yd-card yd-stack"><div><h2>${t("install")}</h2><p class="yd-small yd-muted">${t("installText")}</p></div>
    ${keyless ? html`<p class="yd-notice" data-tone="warn">${t("keyless")}</p>` : html`<form class="yd-stack" onSubmit=${make}><${Field} label=${t("origin")} hint=${t("originHint")}><textarea class="yd-input" rows="2" name="origins" required value=${origins} onInput=${(event) => setOrigins(event.target.value)}></textarea><//><div><button class="yd-btn" disabled=${state.busy}>${t("make")}</button></div></form>`}
    ${state.error && html`<${Failure} error=${state.error} />`}
    <div class="yd-stack"><p class="yd-small">${t("snippet")}</p><pre class="yd-scroll yd-mono yd-small ad-snippet" tabindex="0">${snippet}</pre>${key ? html`<p class="yd-notice" data-tone="good">${t("once")}</p>` : html`<p class="yd-small yd-muted">${t("have")}</p>`}<div><button class="yd-btn yd-btn-small" onClick=${copy}>${t("copy")}</button></div></div></section>`;
}

// A picture as a small square, drawn anew: nothing but its pixels is kept.
async function square(file) {
  const picture = await createImageBitmap(file);
  const side = Math.min(picture.width, picture.height);
  const canvas = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE });
  canvas.getContext("2d").drawImage(picture, (picture.width - side) / 2, (picture.height - side) / 2, side, side, 0, 0, SIDE, SIDE);
  const url = canvas.toDataURL("image/webp", 0.85);
  if (url.length > MOST_BYTES) throw new Error("too large");
  return url;
}

// Of a colour on white, as WCAG has it.
function contrast(colour) {
  const [r, g, b] = colour.match(/\w\w/g).map((part) => parseInt(part, 16) / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05);
}
