import { html } from "../vendor/preact-htm.js";

export const icon = (paths) => html`<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths.map((d) => html`<path d=${d} />`)}</svg>`;

export const ICONS = {
  chat: icon(["M21 11.5a8 8 0 0 1-8 8H4l2.2-2.7A8 8 0 1 1 21 11.5Z", "M9 10.5h7", "M9 14h4"]),
  down: icon(["m6 9 6 6 6-6"]),
  close: icon(["m6 6 12 12", "M18 6 6 18"]),
  fresh: icon(["M12 20H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1h7", "m10 14 .6-3L18.2 3.4a1.7 1.7 0 0 1 2.4 2.4L13 13.4Z"]),
  past: icon(["M4 12a8 8 0 1 0 2.6-5.9L4 8.5", "M4 4v4.5h4.5", "M12 8v4.5l3 1.7"]),
  done: icon(["m5 13 4.5 4.5L19 7"]),
  copy: icon(["M9 9h11v11H9Z", "M5 15H4V4h11v1"]),
  person: icon(["M4 14v-2a8 8 0 0 1 16 0v2", "M4 14a2 2 0 0 1 2-2h1v6H6a2 2 0 0 1-2-2Z", "M20 14a2 2 0 0 0-2-2h-1v6h1a2 2 0 0 0 2-2Z", "M18 18c0 2-2 3-5 3"]),
  clip: icon(["m20 11-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.4a1.7 1.7 0 0 1-2.4-2.3L14.5 7"]),
  send: icon(["M12 19V5", "m6 11 6-6 6 6"]),
  stop: html`<svg viewBox="0 0 24 24" width="20" height="20" fill="currentColor" aria-hidden="true"><rect x="7" y="7" width="10" height="10" rx="2" /></svg>`,
  up: icon(["M7 11v9H4v-9Z", "M7 11l4-8a2 2 0 0 1 2 2v4h5.5a2 2 0 0 1 2 2.4l-1.3 7A2 2 0 0 1 17.2 20H7"]),
  dislike: icon(["M17 13V4h3v9Z", "M17 13l-4 8a2 2 0 0 1-2-2v-4H5.5a2 2 0 0 1-2-2.4l1.3-7A2 2 0 0 1 6.8 4H17"]),
};
