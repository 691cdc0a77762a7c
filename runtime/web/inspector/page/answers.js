// What a question takes as its answer, as a control: from its schema, from what its asker put into it, or from how plain text is read.

import {h, labelled} from "./dom.js";
import {choice, control, missing, under} from "./form.js";
import {named} from "./names.js";
import {orders} from "./tale.js";

// answerOf returns a control whose value is {value} or {text} for the answer call, or {routeTo}.
export function answerOf(i) {
  if (i.kind === "system_error") return order(i);
  const asked = i.payload?.request ?? {};
  if (i.plain && (asked.choices?.length > 0 || asked.confirmationItems?.length > 0)) return valued(resolution(asked));
  if (i.schema && i.schema !== true) {
    const simple = i.plain && plain(i);
    return simple || valued(control(i.schema, {root: i.schema, required: true, title: i.schema.properties ? "" : i.schema.title ?? "Your answer", initial: i.payload?.args === undefined ? undefined : {args: i.payload.args}}));
  }
  return plain(i) || (i.choices?.length > 0 ? valued(offered(i.choices)) : valued(control({}, {title: "Answer", required: true})));
}

const valued = (c) => ({...c, read(problems) { const value = c.read(problems); return value === undefined ? {} : {value}; }});

// plain is the control of a question that reads plain text.
function plain(i) {
  switch (i.plain) {
    case "yes_no": return valued(choice([{value: true, label: "Yes"}, {value: false, label: "No"}], {required: true, title: "Your answer"}));
    case "choice": return valued(offered(i.choices ?? []));
    case "text": {
      if (i.choices?.length > 0) return valued(offered(i.choices));
      const c = control({type: "string", minLength: 1}, {required: true, title: "Your answer", rows: 3});
      return {...c, read(problems) { const text = c.read(problems); return text ? {text} : {}; }};
    }
    default: return null;
  }
}

function offered(choices) {
  return choice(choices.map((c) => ({value: c.value === undefined ? c.label : c.value, label: labelled(c.label), more: c.description})), {required: true, title: "Your answer"});
}

// order is the form for a failed step, or for an effect whose result is unknown.
function order(i) {
  const input = control({description: "What the step runs with."}, {title: "New input", required: true});
  const value = control({description: "What stands for its result."}, {title: "Value", required: false});
  const target = (i.targets?.length ?? 0) > 0 && choice(i.targets.map((t) => ({value: t, label: named(t)})), {title: "Where", required: true});
  const more = {edit: ["input", input], skip: ["value", value], done: ["value", value], reroute: target && ["target", target]};
  const slot = h("div", {class: "indent"});
  const pick = choice((i.choices ?? []).map((c) => ({value: c.label, label: orders[c.label] ?? labelled(c.label)})), {
    required: true, title: "What shall be done?",
    changed() { slot.replaceChildren(...[more[pick.read([])]?.[1].el].filter(Boolean)); },
  });
  return {
    el: h("div", null, pick.el, slot),
    read(problems) {
      const chosen = pick.read(problems), extra = more[chosen];
      if (chosen === undefined) return {};
      const given = extra && under(extra[0], extra[1], problems);
      return {value: given === undefined ? chosen : {choice: chosen, [extra[0]]: given}};
    },
    fail(pointer, reason) {
      const extra = more[pick.read([])];
      return extra && pointer.startsWith(`/${extra[0]}`) ? extra[1].fail("", reason) : pick.fail("", reason);
    },
    clear() { for (const c of [pick, input, value, target]) c?.clear?.(); },
  };
}

// resolution is the form of structured choices and confirmations.
function resolution(asked) {
  const choices = (asked.choices ?? []).map((c) => {
    const custom = control({type: "string", minLength: 1}, {title: "In your words", required: true, rows: 2});
    const slot = h("div", {class: "indent"});
    const pick = choice(Object.entries(c.options ?? {}).map(([key, label]) => ({
      value: key, label, badge: key === c.recommended ? "recommended" : "",
    })), {required: true, title: c.question, help: c.context, changed() { slot.replaceChildren(...(pick.read([]) === "CUSTOM" ? [custom.el] : [])); }});
    return {id: c.choiceId, pick, custom, slot};
  });
  const confirmations = (asked.confirmationItems ?? []).map((c) => ({
    id: c.confirmationId,
    pick: choice([{value: true, label: "Yes"}, {value: false, label: "No", more: c.impactIfNo}], {required: true, title: c.statement, help: c.context, initial: c.defaultValue}),
  }));
  const all = [...choices, ...confirmations];
  return {
    el: h("div", {class: "resolution"}, choices.map((c) => h("div", null, c.pick.el, c.slot)), confirmations.map((c) => c.pick.el)),
    read(problems) {
      const out = {selectedChoices: {}, confirmations: {}}, customInputs = {};
      for (const c of choices) {
        const picked = under(c.id, {read: (p) => c.pick.read(p)}, problems);
        if (picked !== undefined) out.selectedChoices[c.id] = picked;
        if (picked === "CUSTOM") customInputs[c.id] = c.custom.read(problems) || missing(problems);
      }
      for (const c of confirmations) {
        const said = under(c.id, {read: (p) => c.pick.read(p)}, problems);
        if (said !== undefined) out.confirmations[c.id] = said;
      }
      if (Object.keys(customInputs).length > 0) out.customInputs = customInputs;
      return out;
    },
    fail(pointer, reason) {
      const found = all.find((c) => pointer.split("/").includes(c.id));
      return found ? found.pick.fail("", reason) : false;
    },
    clear() { for (const c of all) { c.pick.clear(); c.custom?.clear(); } },
  };
}
