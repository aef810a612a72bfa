// One figure that matters, with what it is made of below.
import { html } from "../shared/ui.js";

export const Figure = ({ title, value, text, tone }) => html`<section class="yd-card ad-figure" data-tone=${tone}><h3>${title}</h3><div class="ad-figure-value yd-nums">${value}</div>${text && html`<p class="yd-tiny yd-muted">${text}</p>`}</section>`;
