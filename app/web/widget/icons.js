import { html } from "../vendor/preact-htm.js";

const icon = (paths) => html`<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths.map((d) => html`<path d=${d} />`)}</svg>`;

export const ICONS = {
  chat: icon(["M21 11.5a8 8 0 0 1-8 8H4l2.2-2.7A8 8 0 1 1 21 11.5Z", "M9 10.5h7", "M9 14h4"]),
  down: icon(["m6 9 6 6 6-6"]),
  close: icon(["m6 6 12 12", "M18 6 6 18"]),
  fresh: icon(["M12 20H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1h7", "m10 14 .6-3L18.2 3.4a1.7 1.7 0 0 1 2.4 2.4L13 13.4Z"]),
  past: icon(["M4 12a8 8 0 1 0 2.6-5.9L4 8.5", "M4 4v4.5h4.5", "M12 8v4.5l3 1.7"]),
  done: icon(["m5 13 4.5 4.5L19 7"]),
  copy: icon(["M9 9h11v11H9Z", "M5 15H4V4h11v1"]),
  person: icon(["M4 14v-2a8 8 0 0 1 16 0v2", "M4 14a2 2 0 0 1 2-2h1v6H6a2 2 0 0 1-2-2Z", "M20 14a2 2 0 0 0-2-2h-1v6h1a2 2 0 0 0 2-2Z", "M18 18c0 2-2 3-5 3"]),
  send: icon(["M12 19V5", "m6 11 6-6 6 6"]),
  stop: html`<svg viewBox="0 0 24 24" width="20" height="20" fill="currentColor" aria-hidden="true"><rect x="7" y="7" width="10" height="10" rx="2" /></svg>`,
  up: icon(["M7 11v9H4v-9Z", "M7 11l4-8a2 2 0 0 1 2 2v4h5.5a2 2 0 0 1 2 2.4l-1.3 7A2 2 0 0 1 17.2 20H7"]),
  dislike: icon(["M17 13V4h3v9Z", "M17 13l-4 8a2 2 0 0 1-2-2v-4H5.5a2 2 0 0 1-2-2.4l1.3-7A2 2 0 0 1 6.8 4H17"]),
  source: icon(["M14 3H6a1 1 0 0 0-1 1v16a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8Z", "M14 3v5h5", "M9 13h6", "M9 17h4"]),
  info: icon(["M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z", "M12 11v5", "M12 8v.01"]),
  theme: icon(["M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5Z"]),
};
