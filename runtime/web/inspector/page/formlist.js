// The lists of a form: boxes to tick where the values are known, lines to add where they are not.

import {h, labelled, uid} from "./dom.js";

export function arrayOf(schema, at, control, resolve, fieldset) {
  const items = resolve(schema.items ?? {}, at.root);
  if (items.enum && schema.uniqueItems !== false) return boxes(items.enum, schema, at, fieldset);
  const parts = [];
  const rows = h("div", {class: "rows"});
  const add = (initial) => {
    const part = control(items, {root: at.root, required: true, title: items.properties ? `${at.title ?? "Entry"} ${parts.length + 1}` : "", initial, line: true});
    const row = h("div", {class: "rowline"}, part.el, h("button", {
      type: "button", class: "quiet small", "aria-label": "Remove this line",
      on: {click: () => { parts.splice(parts.indexOf(part), 1); row.remove(); more.hidden = false; more.focus(); }},
    }, "✕"));
    parts.push(part);
    rows.append(row);
    more.hidden = parts.length >= (schema.maxItems ?? Infinity);
    return row;
  };
  const more = h("button", {type: "button", class: "quiet small", id: uid("b"), on: {click: () => add().querySelector("input, textarea, select")?.focus()}}, "+ Add a line");
  for (const initial of Array.isArray(at.initial) ? at.initial : Array.from({length: schema.minItems ?? 0})) add(initial);
  const line = fieldset([rows, more], schema, {...at, kind: "listing"});
  return {
    el: line.el,
    read(problems) {
      const out = parts.map((part, n) => {
        const own = [], value = part.read(own);
        problems.push(...own.map((p) => ({pointer: `/${n}${p.pointer}`, reason: p.reason})));
        return value;
      });
      if (out.length < (schema.minItems ?? 0)) problems.push({pointer: "", reason: `needs ${schema.minItems} or more`});
      return out.length > 0 || at.required ? out : undefined;
    },
    fail(pointer, reason) {
      const [, n, ...rest] = pointer.split("/");
      return parts[n] ? parts[n].fail(rest.length ? `/${rest.join("/")}` : "", reason) : line.fail("", reason);
    },
    clear() { line.clear(); for (const part of parts) part.clear(); },
  };
}

function boxes(values, schema, at, fieldset) {
  const all = values.map((value) => h("input", {type: "checkbox", checked: Array.isArray(at.initial) && at.initial.includes(value)}));
  const line = fieldset(h("div", {class: "choices row"}, values.map((value, n) => h("label", {class: "choice"}, all[n],
    h("span", null, typeof value === "string" ? labelled(value) : JSON.stringify(value))))), schema, {...at, kind: "plain"});
  return {
    ...line,
    read(problems) {
      const out = values.filter((_, n) => all[n].checked);
      if (out.length < (schema.minItems ?? 0)) problems.push({pointer: "", reason: `choose ${schema.minItems} or more`});
      return out.length > 0 || at.required ? out : undefined;
    },
  };
}
