// What the keyboard does anywhere on the desk; the list of it is in `Shortcuts`.

const LETTERS = { KeyA: "accept", KeyI: "draft", KeyT: "transfer", KeyR: "resolve" };
const writing = (element) => element.closest("input, textarea, select, [contenteditable]");

// Returns how to stop listening.
export function shortcuts({ desk, open, act, composer }) {
  function next(step) {
    const ids = desk.listed;
    if (!ids.length) return;
    const at = ids.indexOf(desk.open);
    const id = ids[at < 0 ? (step > 0 ? 0 : ids.length - 1) : (at + step + ids.length) % ids.length];
    open(id);
    document.querySelector(`[data-session="${CSS.escape(id)}"]`)?.focus();
  }

  function onKey(event) {
    if (document.querySelector("dialog[open]") || event.defaultPrevented || event.isComposing) return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    let done = true;
    if (event.altKey && !event.ctrlKey && !event.metaKey) {
      if (digit) {
        const id = [...desk.mine.keys()][digit[1] - 1];
        if (id) { open(id); desk.wantFocus(id); }
      } else if (event.code === "KeyN") composer.current?.toggle();
      else if (event.code === "KeyW") composer.current?.focus();
      else if (LETTERS[event.code]) act(LETTERS[event.code]);
      else done = false;
    } else if (!event.ctrlKey && !event.metaKey && !writing(event.target)) {
      if (event.key === "j" || event.key === "J") next(1);
      else if (event.key === "k" || event.key === "K") next(-1);
      else if (event.key === "?") act("shortcuts");
      else done = false;
    } else done = false;
    if (done) event.preventDefault();
  }
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}
