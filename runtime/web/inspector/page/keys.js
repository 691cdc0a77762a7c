// The keyboard. Keys work outside of text fields.

import {session} from "./api.js";
import {h, modal} from "./dom.js";

// help has the keys, what each does, and the right that it takes; lists are the operator's.
const help = [
  ["j, k", "next and previous in the list", "list"], ["Enter", "open it", "list"], ["g i, g t, g s", "inbox, threads, stats", "list"], ["a", "to the answer", "answer"],
  ["Ctrl Enter", "send the answer", "answer"], ["p, Esc", "pause the thread, or decide how it goes on", "escape"], ["[, ]", "a step back and forward in its history", "inspect"],
  ["arrows", "from node to node on the map"], ["t", "light, dark, or as the system"], ["Esc", "close; from a thread with nothing to pause, back to the list"], ["?", "this"],
];

const offered = ([, , right]) => !right || (right === "list" ? !session.thread : session.may(right));

export function showHelp() {
  modal("Keyboard", (dialog) => dialog.append(
    h("h2", null, "Keyboard"),
    h("dl", {class: "keys"}, help.filter(offered).map(([key, what]) => [h("dt", null, key.split(", ").map((k, n) => [n ? " " : "", h("kbd", null, k)])), h("dd", null, what)])),
    h("form", {method: "dialog", class: "row end"}, h("button", {class: "primary"}, "Close"))));
}

// keyboard hands keys to the page. pause reports whether there was anything to pause.
export function keyboard({list, pause, step, answer, theme}) {
  let went = 0; // when g was pressed
  addEventListener("keydown", (e) => {
    const form = e.target.closest?.("form.answer, dialog form");
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && form) { e.preventDefault(); form.requestSubmit(); return; }
    if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    if (e.target.closest?.("input, textarea, select")) { if (e.key === "Escape") e.target.blur(); return; }
    if (went && Date.now() - went < 1200) {
      went = 0;
      const to = {i: "inbox", t: "threads", s: "stats"}[e.key];
      if (to) { location.hash = `#/${to}`; e.preventDefault(); return; }
    }
    switch (e.key) {
      case "g": went = Date.now(); break;
      case "j": case "k": move(list(), e.key === "j" ? 1 : -1); break;
      case "[": step(-1); break;
      case "]": step(1); break;
      case "a": answer(); break;
      case "p": pause(); break;
      case "t": theme(); break;
      case "?": showHelp(); break;
      case "Escape": escape(e, pause); break;
      default: return;
    }
    e.preventDefault();
  });
}

// escape leaves the form that has the focus. Elsewhere it pauses what works here, and goes back from what does not. A key that is held down has
// closed a dialog just now, and must not open it again.
function escape(e, pause) {
  if (e.repeat) return;
  if (e.target.closest?.("form")) e.target.blur();
  else if (!pause() && location.hash.startsWith("#/t/")) location.hash = "#/inbox";
}

function move(list, by) {
  const items = [...list.querySelectorAll("a.item")];
  if (items.length === 0) return;
  const at = items.indexOf(document.activeElement), chosen = items.findIndex((a) => a.getAttribute("aria-current"));
  const from = at >= 0 ? at : chosen;
  items[Math.max(0, Math.min(items.length - 1, from < 0 ? 0 : from + by))].focus();
}
