// A list as a file for spreadsheets: what is shown, in the reader's language, safe to open.

const RUN = /^'*[=+\-@\t\r＝＋－＠]/;  // a spreadsheet would run it; see knowledge/sheets.py
const MOST = 10000;  // rows of one file

// columns: [{ title, text: (row) => string or number }]
export function csv(columns, rows) {
  const lines = [columns.map((column) => column.title), ...rows.map((row) => columns.map((column) => column.text(row)))];
  return `\ufeff${lines.map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}

function cell(value) {
  if (typeof value === "number") return String(value);
  const text = String(value ?? "");
  const safe = RUN.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// All rows of a list that comes in pages, MOST of them. load: ({offset, limit}) => data; rowsOf: (data) => rows.
export async function allRows(load, rowsOf, limit) {
  const rows = [];
  for (;;) {
    const data = await load({ offset: rows.length, limit });
    const page = rowsOf(data);
    rows.push(...page);
    if (page.length === 0 || rows.length >= Math.min(data.total, MOST)) return rows.slice(0, MOST);
  }
}

export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
