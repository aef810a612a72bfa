import { html, render } from "../shared/ui.js";

render(html`<h1>应答</h1>`, document.getElementById("app"));
