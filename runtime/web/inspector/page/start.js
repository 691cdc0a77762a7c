// The dialog that starts a thread of a program, with a form made of what the program takes.

import {by, get, poster} from "./api.js";
import {control} from "./form.js";
import {h, modal, say, swap, uid} from "./dom.js";

// startThread shows the form for a new thread, and resolves to the thread, or to null.
export async function startThread() {
  let made = null;
  const {items} = await get("programs");
  const starts = items.flatMap((p) => p.starts.map((start) => ({...start, machine: p.machine, program: p.title})));
  await modal("Start a thread", (dialog) => {
    const pick = h("select", {id: uid("s"), on: {change: () => choose(starts[pick.value])}}, starts.map((s, n) => h("option", {value: n}, `${s.program}: ${s.title}`)));
    const slot = h("div", {class: "fields"}), alarm = h("p", {class: "refusal", role: "alert", hidden: true});
    const send = poster();
    let input = null, start = null;
    const choose = (s) => {
      start = s;
      input = control(s.schema ?? {}, {root: s.schema ?? {}, required: true, title: s.schema?.properties ? "" : s.schema?.title ?? "Input", initial: s.example});
      swap(slot, s.doc && h("p", {class: "soft"}, s.doc), input.el);
    };
    dialog.append(h("form", {class: "escape", novalidate: true, on: {submit: async (e) => {
      e.preventDefault();
      input.clear();
      alarm.hidden = true;
      const problems = [], value = input.read(problems);
      if (problems.length > 0) { problems.map((p) => input.fail(p.pointer, p.reason))[0]?.focus?.(); return; }
      try {
        made = await send("threads", by({machine: start.machine, ...(start.name ? {name: start.name} : {}), input: value ?? null}));
        say(`Started: ${made.id}`);
        dialog.close();
      } catch (err) {
        const left = (err.problem?.problems ?? []).filter((p) => !input.fail(p.pointer.replace(/^\/input/, ""), p.reason));
        swap(alarm, left.map((p) => `${p.pointer} ${p.reason}`).join("; ") || err.message);
        alarm.hidden = false;
      }
    }}}, h("h2", null, "Start a thread"), starts.length > 0
      ? [h("label", {for: pick.id}, "Of which program"), pick, slot, alarm]
      : h("p", null, "This server does not say what can be started here."),
    h("div", {class: "row end"}, h("button", {type: "button", class: "quiet", on: {click: () => dialog.close()}}, "Close"),
      starts.length > 0 && h("button", {class: "primary", type: "submit"}, "Start"))));
    if (starts.length > 0) choose(starts[0]);
  });
  return made;
}
