// What counts as Markdown in texts of customer service. marked does the rest; knowledge/parsing/markdown_inline.py and
// markdown_blocks.py have the same rules for documents, and one list of lines (tests/service_lines.txt) holds for both.
import { Marked } from "../vendor/marked.js";

const MOST = 3; // of one mark in a row; more is a blank to be filled in or a masked number
const ENDS = "，。、；：！？,.;:!?)]}）】」』》〉”’…%";
const OPENS = "（【「『《〈“‘([{";
const IN_ADDRESS = "/\\.-@=&?#";
const KEY = /^ {0,3}[*#][ \t]*(?:号键|键(?![盘位值帽]))/;
const COMPARED = /^ {0,3}>=?\d/;
const FIGURE = /^ {0,3}>[ \t]*\d(?!\d?[.、)）][ \t]*[^\d])[^\n]*(?!\n {0,3}>)(?:\n|$)/;
const DEEP = /^ {0,3}(?:>[ \t]?){21}/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const BLOCK = /^ {0,3}(?:#{1,6}(?:[ \t]|$)|>|```|~~~|\|)/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const DELIMITER = /^[ \t|｜]*(?:[:：]?[ \t]*[-‐-―─－]+[ \t]*[:：]?[ \t]*(?:[|｜][ \t]*|$))+$/;

const word = (character) => /[\p{L}\p{N}]/u.test(character);
const digit = (character) => /\p{Nd}/u.test(character);
const space = (character) => character === "" || /\s/.test(character);

function canOpen(text, start, end) {
  const [before, after] = [text.charAt(start - 1), text.charAt(end)];
  if (space(after) || ENDS.includes(after)) return false;
  if (text[start] === "_") return !word(before) && !(before && IN_ADDRESS.includes(before));
  if (end - start > 1) return !(digit(before) && digit(after));
  const close = text.indexOf("*", end);
  return !word(before) && before !== "#" && after !== "#" && close > 0 && /\p{L}/u.test(text.slice(end, close));
}

function canClose(text, start, end) {
  const [before, after, next] = [text.charAt(start - 1), text.charAt(end), text.charAt(end + 1)];
  if (space(before) || OPENS.includes(before)) return false;
  const named = after === "." && word(next);
  if (text[start] === "_") return !word(after) && !named && (after === "" || after === "." || !IN_ADDRESS.includes(after));
  if (end - start > 1) return !(digit(before) && digit(after));
  return !word(after) && !named && before !== "#" && after !== "#";
}

function runEnd(text, start) {
  let end = start;
  while (text[end] === text[start]) end += 1;
  return end;
}

// Where the emphasis that begins at `start` is closed, by as many marks; -1 where it is not.
function closing(text, start, length) {
  let depth = 0;
  for (let at = text.indexOf(text[start], start + length), end; at >= 0; at = text.indexOf(text[start], end)) {
    end = runEnd(text, at);
    if (end - at !== length) continue;
    if (canClose(text, at, end)) { if (depth === 0) return at; depth -= 1; }
    else if (canOpen(text, at, end)) depth += 1;
  }
  return -1;
}

// undefined: the characters are text; false: marked decides.
const tokenizer = {
  emStrong(source, masked) {
    const start = masked.length - source.length;
    if (!"*_".includes(masked[start])) return undefined;
    const length = runEnd(masked, start) - start;
    if (masked[start - 1] === masked[start] || length > MOST || !canOpen(masked, start, start + length)) return undefined;
    const end = closing(masked, start, length);
    if (end < 0) return undefined;
    const text = source.slice(length, end - start);
    const inner = this.lexer.inlineTokens(text);
    const raw = source.slice(0, end - start + length);
    if (length === 3) return { type: "em", raw, text, tokens: [{ type: "strong", raw: text, text, tokens: inner }] };
    return { type: length === 2 ? "strong" : "em", raw, text, tokens: inner };
  },
  del(source, masked) {
    const start = masked.length - source.length;
    const found = /^~~(?=[^\s~])([\s\S]*?[^\s~])~~(?!~)/.exec(source);
    if (!found || masked[start - 1] === "~" || (digit(masked.charAt(start - 1)) && digit(found[1].charAt(0)))) return undefined;
    return { type: "del", raw: found[0], text: found[1], tokens: this.lexer.inlineTokens(found[1]) };
  },
  escape(source) {
    return /^\\\\[\p{L}\p{N}]/u.test(source) ? { type: "text", raw: "\\\\", text: "\\\\" } : false;
  },
  heading: (source) => (KEY.test(source) ? undefined : false),
  list: (source) => (KEY.test(source) ? undefined : false),
  blockquote: (source) => (COMPARED.test(source) || DEEP.test(source) || FIGURE.test(source) ? undefined : false),
  // An address ends where Chinese goes on: 请访问https://a.cn，再…
  url(source) {
    const found = /^(?:https?:\/\/|www\.)[^\s<>"'`*|\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…—]+/i.exec(source);
    if (!found) return /^(?:https?:|www\.)/i.test(source) ? undefined : false;
    const raw = found[0].replace(/[.,;:!?)\]]+$/, "");
    return { type: "link", raw, text: raw, href: /^www/i.test(raw) ? `http://${raw}` : raw, autolink: true, tokens: [{ type: "text", raw, text: raw.replace(/&/g, "&amp;") }] };
  },
  lheading: () => undefined, // a line above --- is a sentence, and --- a rule
  code: () => undefined, // an indented line is a paragraph that somebody indented
  def: () => undefined, // [客服]: 400-800-9000
  html: () => undefined,
};

const marked = new Marked({ gfm: true, breaks: true, tokenizer });

// The tokens of a text.
export const tokensOf = (text) => marked.lexer(laidOut(text));

// The text with what writers and the server leave out: the blank line behind a list, the ASCII form of a table's marks.
function laidOut(text) {
  const lines = text.split("\n");
  const out = [];
  let fence = "";
  let inList = false;
  let inTable = false;
  lines.forEach((line, at) => {
    const found = FENCE.exec(line);
    if (found && !fence) fence = found[1];
    else if (found && found[1].startsWith(fence) && !line.trim().replaceAll(fence[0], "")) { fence = ""; out.push(line); return; }
    if (fence) { inList &&= /^[ \t]/.test(line); out.push(line); return; }
    if (!inTable) inTable = /[|｜]/.test(line) && isDelimiter(lines[at + 1]);
    else inTable = /[|｜]/.test(line);
    if (inTable) line = isDelimiter(line) ? inAscii(line) : line.replaceAll("｜", "|");
    const item = ITEM.test(line) && !KEY.test(line);
    if (inList && !item && line.trim() && !/^[ \t]/.test(line)) {
      const wrapped = out.length > 0 && /[a-z,]$/.test(out.at(-1)) && /^[a-z(]/.test(line);
      if (!wrapped && !BLOCK.test(line) && out.at(-1)?.trim()) out.push("");
      inList = wrapped;
    }
    inList ||= item;
    out.push(line);
  });
  return out.join("\n");
}

const isDelimiter = (line) => line !== undefined && /[|｜]/.test(line) && DELIMITER.test(line);
const inAscii = (line) => line.replaceAll("｜", "|").replaceAll("：", ":").replace(/[‐-―─－]/g, "-");
