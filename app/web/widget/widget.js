// The one script that other sites include. Its data-* attributes become those of the element that it adds to the page;
// data-manual leaves adding <yingda-chat> to the page, for example to a framework. bundle.js is main.js and
// all that it imports, written by scripts/widget_bundle.py.
(() => {
  const script = document.currentScript;
  const loaded = import(new URL("web/widget/bundle.js", script.src));
  if ("manual" in script.dataset) return;
  const add = () => {
    if (document.querySelector("yingda-chat")) return;
    const element = document.createElement("yingda-chat");
    Object.assign(element.dataset, script.dataset);
    document.body.append(element);
  };
  loaded.then(() => (document.body ? add() : addEventListener("DOMContentLoaded", add)));
})();
