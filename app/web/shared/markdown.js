// Markdown as elements. marked only cuts the text into tokens; what is not listed here is shown as the text it is, so
// nothing that a document or a model wrote is ever read as HTML.
import { lexer } from "../vendor/marked.js";
import { h } from "../vendor/preact-htm.js";

export const SAFE = /^(https?:|mailto:|tel:)/i;

// text: Markdown. mark: (text) => vnodes, given every plain piece, for example to turn [1] into a link. link: (address,
// vnodes) => vnode, for addresses that mean something to the page; what it does not know is an ordinary link, or text.
export function markdown(text, mark = (piece) => piece, link = () => null) {
  return blocks(lexer(text || "", { gfm: true, breaks: true }), Object.assign((piece) => mark(piece), { link }));
}

const blocks = (tokens, mark) => tokens.map((token) => block(token, mark));
const inlines = (tokens, mark) => (tokens || []).map((token) => inline(token, mark));

function block(token, mark) {
  switch (token.type) {
    case "space": return null;
    case "paragraph": return h("p", null, inlines(token.tokens, mark));
    case "heading": return h(`h${Math.min(token.depth + 2, 6)}`, null, inlines(token.tokens, mark));
    case "list": return h(token.ordered ? "ol" : "ul", token.ordered && token.start > 1 ? { start: token.start } : null, token.items.map((item) => h("li", null, blocks(item.tokens, mark))));
    case "blockquote": return h("blockquote", null, blocks(token.tokens, mark));
    case "code": return h("pre", null, h("code", null, token.text));
    case "hr": return h("hr");
    case "table": return h("div", { class: "yd-scroll", tabindex: 0 }, h("table", null,
      h("thead", null, h("tr", null, token.header.map((cell) => h("th", null, inlines(cell.tokens, mark))))),
      h("tbody", null, token.rows.map((row) => h("tr", null, row.map((cell) => h("td", null, inlines(cell.tokens, mark))))))));
    default: return token.tokens ? inlines(token.tokens, mark) : mark(unescaped(token.raw ?? token.text));
  }
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
