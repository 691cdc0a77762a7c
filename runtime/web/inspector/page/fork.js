// The dialogs of a fork and of an end.

import {by, path, poster} from "./api.js";
import {brief, h, modal, say, swap, uid, words} from "./dom.js";

// confirmFork shows what has happened since, and forks. It resolves to what was made, or to null.
export async function confirmFork(id, seq, rows) {
  const after = effectsAfter(rows, seq);
  let made = null;
  await modal("Fork", (dialog) => {
    const name = h("input", {id: uid("n"), type: "text", pattern: "[A-Za-z0-9_~][A-Za-z0-9._~\\-]{0,199}", placeholder: "Made up, if you leave it empty", autocomplete: "off"});
    const alarm = h("p", {class: "refusal", role: "alert", hidden: true});
    const send = poster();
    const form = h("form", {class: "escape", on: {submit: async (e) => {
      e.preventDefault();
      try {
        made = await send(path`threads/${id}/fork`, by({seq, ...(name.value ? {id: name.value} : {})}));
        say(`Forked: ${made.thread.id}`);
        dialog.close();
      } catch (err) { swap(alarm, err.message); alarm.hidden = false; }
    }}}, h("h2", null, "Fork from entry ", seq), h("p", {class: "soft"}, `A new thread goes on from there. ${id} stays as it is, and its later answers are not handed on.`),
    after.length > 0
      ? [h("p", null, h("strong", null, `${after.length} ${after.length === 1 ? "effect has" : "effects have"} happened since.`), " The fork may do them again, under keys of its own:"),
        h("ul", {class: "effects"}, after.slice(0, 30).map((e) => h("li", null, h("b", null, e.name), " ", h("span", {class: `badge ${e.state}`}, words(e.state).toLowerCase()), h("small", null, brief(e.value ?? "", 90)))),
          after.length > 30 && h("li", {class: "soft"}, `and ${after.length - 30} more`))]
      : h("p", null, "No effects have happened since."),
    h("label", {for: name.id}, "Id of the new thread ", h("span", {class: "optional"}, "optional")), name, alarm,
    h("div", {class: "row end"}, h("button", {type: "button", class: "quiet", on: {click: () => dialog.close()}}, "Do not fork"), h("button", {class: "primary", type: "submit"}, "Fork")));
    dialog.append(form);
  });
  return made;
}

// effectsAfter are the effects that began after an entry, each with its latest state, but those that are known to have failed. One of a name that
// is done is over: the next of that name is another one.
function effectsAfter(rows, seq) {
  const found = [];
  for (const r of rows) {
    if (r.type !== "effect" || r.seq <= seq) continue;
    const at = found.findIndex((f) => f.frame === r.frame && f.name === r.name && f.state !== "done");
    if (at >= 0) found[at] = r; else found.push(r);
  }
  return found.filter((r) => r.state !== "failed");
}

// confirmEnd resolves to the reason, or to null. idle: no turn runs.
export async function confirmEnd(id, idle) {
  const then = idle ? "It cannot go on afterwards." : "What it does now cannot go on afterwards; a conversation waits for the next message.";
  let out = null;
  await modal("End", (dialog) => {
    const reason = h("input", {id: uid("r"), type: "text", maxlength: 4000});
    swap(dialog, h("form", {class: "escape", on: {submit: (e) => { e.preventDefault(); out = reason.value.trim(); dialog.close(); }}},
      h("h2", null, "End ", id, "?"), h("p", null, then, " Its history stays, and can be forked."),
      h("label", {for: reason.id}, "Why ", h("span", {class: "optional"}, "optional")), reason,
      h("div", {class: "row end"}, h("button", {type: "button", class: "quiet", on: {click: () => dialog.close()}}, "Keep it"), h("button", {class: "primary bad", type: "submit"}, "End it"))));
  });
  return out;
}
