// The dialog of a pause: ask for it, hear that it is asked for and then that it is there, and say how the work goes on.

import {by, forbids, path, post, poster, Refused, session} from "./api.js";
import {add, h, modal, say, swap, tell, uid} from "./dom.js";

// askPause asks whether to pause. Closing the dialog does nothing.
export function askPause(context) {
  return modal("Pause", (dialog) => {
    const reason = h("textarea", {id: uid("p"), rows: 2, maxlength: 4000});
    const mode = (value, title, more, checked) => h("label", {class: "choice"}, h("input", {type: "radio", name: "mode", value, checked}), h("span", null, title, h("small", null, more)));
    const alarm = h("p", {class: "refusal", role: "alert", hidden: true});
    const send = h("button", {class: "primary", type: "submit"}, "Pause");
    const ask = poster();
    const form = h("form", {class: "escape", on: {submit: async (e) => {
      e.preventDefault();
      send.disabled = true;
      alarm.hidden = true;
      try {
        const {ack} = await ask(path`threads/${context.id}/escape`, by({mode: new FormData(form).get("mode"), reason: reason.value.trim()}));
        waiting(dialog, context, ack);
      } catch (err) {
        swap(alarm, err.message.includes("not_running") ? "Nothing runs there now: there is nothing to pause." : err.message);
        alarm.hidden = false;
        send.disabled = false;
      }
    }}}, h("h2", null, "Pause this thread"), h("p", {class: "soft"}, "Open questions make way for it, and are asked again when the work goes on. How it goes on is decided then."),
    h("div", {class: "choices"}, mode("safe", "At the next safe point", "The step that runs may end first.", true), mode("now", "Now", "What runs is cancelled.", false)),
    h("label", {for: reason.id}, "Why ", h("span", {class: "optional"}, "optional")), reason, alarm,
    h("div", {class: "row end"}, h("button", {type: "button", class: "quiet", on: {click: () => dialog.close()}}, "Leave it running"), send));
    dialog.append(form);
  });
}

// waiting shows the acknowledgement until the pause is there.
function waiting(dialog, context, ack) {
  const text = ack === "already_pending" ? "A pause was asked for already. Waiting for it…" : "Requested. It pauses at the next safe point…";
  tell(text);
  swap(dialog, h("div", {class: "escape"}, h("h2", null, "Pausing"), h("p", {class: "progress", data: {ack}}, h("span", {class: "dots", "aria-hidden": "true"}), text),
    h("div", {class: "row end"}, h("button", {type: "button", class: "quiet", on: {click: () => dialog.close()}}, "Close"))));
  let there = false; // once: what is typed then must stay
  const look = () => {
    if (there || !dialog.open) return;
    if (context.interrupt()) {
      there = true;
      context.heard(null);
      tell("Paused");
      fill(dialog, context);
    } else if (["done", "failed", "cancelled", "handed_off"].includes(context.thread()?.status)) dialog.close(); // it ended first
  };
  context.heard(look);
  context.load().then(look);
}

// decide is the dialog of a thread that is paused. Closing it does nothing.
export function decide(context) {
  return modal("How shall it go on?", (dialog) => fill(dialog, context));
}

// suggested are changes that the plan itself suggests.
function suggested(plan) {
  const [now, next, ...rest] = plan.steps;
  return [now && `skip “${now}”`, next && `do “${next}” first`, rest.length > 0 && `leave out “${rest.at(-1)}”`, "add a step: "].filter(Boolean);
}

function fill(dialog, context) {
  const i = context.interrupt(), plan = context.plan(), often = session.may("operate");
  if (forbids("operate")) {
    swap(dialog, h("div", {class: "escape"}, h("h2", null, "Paused"), h("p", null, `${forbids("operate")} Somebody else says how it goes on.`),
      h("div", {class: "row end"}, h("button", {type: "button", class: "primary", on: {click: () => dialog.close()}}, "Close"))));
    return;
  }
  const text = h("textarea", {id: uid("m"), rows: 3, maxlength: 4000, placeholder: plan ? "For example: add a boat trip" : "In your words"});
  const alarm = h("div", {class: "refusal", role: "alert", hidden: true});
  const shown = h("div", {class: "preview", "aria-live": "polite"});
  const allowed = new Set((i.choices ?? []).map((c) => c.label));
  let busy = false;
  const run = async (f, done) => {
    if (busy) return;
    busy = true;
    dialog.classList.add("busy");
    alarm.hidden = true;
    try {
      await f();
      if (done) { say(done); dialog.close(); await context.load(); }
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      swap(alarm, err.code === "conflict" ? `${err.message} Preview it again.` : err.message);
      alarm.hidden = false;
    } finally {
      busy = false;
      dialog.classList.remove("busy");
    }
  };
  const send = poster();
  const answer = (value) => send(path`interrupts/${i.id}/answer`, by({value, digest: i.digest}));
  const button = (label, cls, act, name) => h("button", {type: "button", class: cls, data: {act: name}, on: {click: act}}, label);
  const preview = button("Preview", "", () => run(async () => {
    swap(shown, h("p", {class: "progress"}, h("span", {class: "dots", "aria-hidden": "true"}), "Asking what would become of the plan…"));
    try {
      const proposal = await post(path`threads/${context.id}/plan/preview`, by({modification: text.value.trim()}));
      swap(shown, proposed(proposal, () => run(() => post(path`threads/${context.id}/plan/apply`, by({preview: proposal.id})), "Applied: it goes on with the new plan"), () => swap(shown)));
    } catch (err) { swap(shown); throw err; }
  }), "preview");
  const change = h("button", {type: "submit", class: "primary"}, "Change and go on");
  const typed = () => { const none = text.value.trim() === ""; preview.disabled = none; change.disabled = none; };
  text.addEventListener("input", typed);
  typed();
  const form = h("form", {class: "escape", on: {submit: (e) => { e.preventDefault(); if (!change.disabled) run(() => answer({choice: "modify", text: text.value.trim()}), "Changed: it goes on"); }}},
    h("button", {type: "button", class: "quiet shut", "aria-label": "Close; it stays paused", data: {act: "close"}, on: {click: () => dialog.close()}}, "✕"),
    h("h2", null, "Paused. How shall it go on?"),
    i.payload?.reason && h("p", {class: "soft"}, `${i.payload.by || "Somebody"}: ${i.payload.reason}`),
    plan && h("ol", {class: "plan small"}, plan.done.map((d) => h("li", {class: "done"}, h("b", null, d.step))), plan.steps.map((s, n) => h("li", {class: n === 0 ? "here" : ""}, h("b", null, s)))),
    allowed.has("modify") && [h("label", {for: text.id}, "What should change?"), text,
      plan && h("div", {class: "suggested", role: "group", "aria-label": "Suggested changes"}, suggested(plan).map((s) => h("button", {type: "button", class: "chip", on: {click: () => {
        text.value = s;
        text.focus();
        text.setSelectionRange(s.length, s.length);
        typed();
      }}}, s.trim())))],
    shown, alarm,
    h("div", {class: "row spread wrap"}, h("div", {class: "start"},
      allowed.has("cancel") && button("End the thread", "quiet danger", () => run(() => answer("cancel"), "Ended"), "cancel"),
      often && plan?.undo > 0 && button("Undo the last change", "quiet", () => run(() => post(path`threads/${context.id}/plan/undo`, by({})), "Undone: it goes on as before"), "undo"),
      often && plan?.redo > 0 && button("Redo", "quiet", () => run(() => post(path`threads/${context.id}/plan/redo`, by({})), "Done again"), "redo")),
      allowed.has("continue") && button("Continue as is", "", () => run(() => answer("continue"), "It goes on"), "continue"),
      often && plan && allowed.has("modify") && preview, allowed.has("modify") && change));
  swap(dialog, form);
  text.focus();
}

// proposed shows what a change would make of the plan, before anything is changed.
function proposed(p, apply, drop) {
  const same = p.added.length === 0 && p.removed.length === 0 && p.before.join("\n") === p.after.join("\n");
  const gone = [...p.removed], lines = [];
  for (const step of p.before) {
    const n = gone.indexOf(step);
    if (n >= 0) { gone.splice(n, 1); lines.push(["removed", "−", step]); }
  }
  const fresh = [...p.added];
  for (const step of p.after) {
    const n = fresh.indexOf(step);
    if (n >= 0) { fresh.splice(n, 1); lines.push(["added", "+", step]); } else lines.push(["kept", "", step]);
  }
  const box = h("div", {class: "proposal"}, h("h3", null, p.after.length === 0 ? "The plan would end" : same ? "Nothing would change" : "The plan would be"));
  if (p.answer) add(box, h("p", {class: "context"}, p.answer));
  add(box, h("ul", {class: "diff"}, lines.map(([kind, sign, step]) => h("li", {class: kind}, h("span", {"aria-hidden": "true"}, sign), h("span", {class: "unseen"}, {added: "added: ", removed: "removed: ", kept: ""}[kind]), step))));
  add(box, h("div", {class: "row end"}, h("button", {type: "button", class: "quiet", on: {click: drop}}, "Discard"),
    p.after.length > 0 && !same && h("button", {type: "button", class: "primary", data: {act: "apply"}, on: {click: apply}}, "Apply")));
  return box;
}
