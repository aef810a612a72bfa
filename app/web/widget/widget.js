import(new URL("/web/widget/main.js", document.currentScript.src));
