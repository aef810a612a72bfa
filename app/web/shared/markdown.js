// Markdown as elements. The rules cut the text into tokens; what is not listed here is shown as the text it is, so that
// nothing that a document or a model wrote is ever read as HTML.
import { Component, h, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { words } from "./i18n.js";
import { tokensOf } from "./markdown-rules.js";

const t = words({ zh: { copy: "复制", copied: "已复制", code: "代码" }, en: { copy: "Copy", copied: "Copied", code: "Code" } });
const COPIED_MS = 2000;

export const SAFE = /^(https?:|mailto:|tel:)/i;

// text: Markdown. mark: (text) => vnodes, given every plain piece, for example to turn [1] into a link. link: (address,
// vnodes) => vnode, for addresses that mean something to the page; what it does not know is an ordinary link, or text.
// of: what `mark` and `link` depend on. A text that cannot be drawn (quotations without end) is shown as it is.
export class Prose extends Component {
  static getDerivedStateFromError() { return { failed: true }; }

  componentDidUpdate(before) {
    if (this.state.failed && before.text !== this.props.text) this.setState({ failed: false });
  }

  render({ text, mark, link, of }, { failed }) {
    return failed ? h("p", { style: { whiteSpace: "pre-wrap" } }, text) : h(Drawn, { text, mark, link, of });
  }
}

function Drawn({ text, mark, link, of }) {
  return useMemo(() => markdown(text, mark, link), [text, of]);
}

function markdown(text, mark = (piece) => piece, link = () => null) {
  return blocks(tokensOf(text || ""), Object.assign((piece) => mark(piece), { link }));
}

const blocks = (tokens, mark, within = false) => tokens.map((token) => block(token, mark, within));
const inlines = (tokens, mark) => (tokens || []).map((token) => inline(token, mark));

function block(token, mark, within) {
  switch (token.type) {
    case "space": return null;
    case "paragraph": return h("p", null, inlines(token.tokens, mark));
    case "heading": return h(`h${Math.min(token.depth + 2, 6)}`, null, inlines(token.tokens, mark));
    case "list": return stands(token, within) ? alone(token.items[0], mark) : list(token, mark);
    case "blockquote": return h("blockquote", null, blocks(token.tokens, mark));
    case "code": return h(Code, { text: token.text });
    case "hr": return h("hr");
    case "table": return h("div", { class: "yd-scroll", tabindex: 0 }, h("table", null,
      h("thead", null, h("tr", null, token.header.map((cell) => h("th", null, inlines(cell.tokens, mark))))),
      h("tbody", null, token.rows.map((row) => h("tr", null, row.map((cell) => h("td", null, inlines(cell.tokens, mark))))))));
    default: return token.tokens ? inlines(token.tokens, mark) : mark(unescaped(token.raw ?? token.text));
  }
}

function Code({ text }) {
  const shown = useRef();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text, shown.current))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return h("div", { class: "yd-code" },
    h("pre", { tabindex: 0, role: "region", "aria-label": t("code") }, h("code", { ref: shown }, text)),
    h("button", { type: "button", class: "yd-btn yd-btn-small", onClick: copy }, h("span", { "aria-live": "polite" }, t(copied ? "copied" : "copy"))));
}

// Pages without TLS have no clipboard to write to: there the code is selected and copied as if by hand.
async function copyText(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}

// Numbers as they were typed, where they rise.
function list(token, mark) {
  const numbers = token.items.map((item) => parseInt(item.raw, 10));
  const rise = token.ordered && numbers.every((number, at) => at === 0 || number > numbers[at - 1]);
  return h(token.ordered ? "ol" : "ul", rise && numbers[0] > 1 ? { start: numbers[0] } : null, token.items.map((item, at) => (
    h("li", rise && at > 0 && numbers[at] !== numbers[at - 1] + 1 ? { value: numbers[at] } : null, blocks(item.tokens, mark, true)))));
}

// A list of one is a line that begins like one: 3. 5 折起, + 86 开头, - 10℃.
const stands = (token, within) => token.items.length === 1 && token.items[0].tokens.length < 2 && (token.ordered || !within);

function alone(item, mark) {
  const [marker] = /^\s*\S+/.exec(item.raw);
  const [first, ...rest] = item.tokens;
  if (!first) return h("p", null, marker.trim());
  const running = first.type === "text" || first.type === "paragraph";
  const line = h("p", null, `${marker.trim()} `, running ? inlines(first.tokens, mark) : null);
  return [line, running ? null : block(first, mark, true), blocks(rest, mark, true)];
}

function inline(token, mark) {
  switch (token.type) {
    case "strong": return h("strong", null, inlines(token.tokens, mark));
    case "em": return h("em", null, inlines(token.tokens, mark));
    case "del": return h("del", null, inlines(token.tokens, mark));
    case "codespan": return h("code", null, unescaped(token.text));
    case "br": return h("br");
    case "link": return mark.link(token.href, inlines(token.tokens, mark)) || linked(token, mark);
    case "image": return token.text || token.raw;
    case "text": case "escape": return token.tokens ? inlines(token.tokens, mark) : mark(unescaped(token.text));
    default: return token.raw;
  }
}

function linked(token, mark) {
  return SAFE.test(token.href) ? h("a", { href: token.href, target: "_blank", rel: "noopener noreferrer nofollow" }, inlines(token.tokens, mark)) : token.raw;
}

// marked escapes for HTML, which elements do not need.
function unescaped(text) {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name]);
}
