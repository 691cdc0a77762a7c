// Forms made of JSON Schemas. A control has an element, reads its value (undefined means: left empty), and shows what is wrong where a JSON
// pointer says.

import {clean, h, labelled, swap, uid, words} from "./dom.js";
import {arrayOf} from "./formlist.js";

// control makes the control of a schema. about: root (for references), title, required, initial.
export function control(given, about) {
  const schema = resolve(given, about.root);
  const initial = about.initial === undefined ? schema.default : about.initial;
  const at = {...about, initial, title: about.title ?? schema.title};
  const types = [schema.type ?? []].flat().filter((t) => t !== "null");
  const options = schema.oneOf ?? schema.anyOf;
  if ("const" in schema) return fixed(schema.const);
  if (schema.enum) return oneOfValues(schema.enum.map((value) => ({value, label: label(value)})), schema, at);
  if (options?.every((o) => "const" in o)) return oneOfValues(options.map((o) => ({value: o.const, label: o.title ?? label(o.const), more: o.description})), schema, at);
  if (options) return oneOfForms(options, schema, at);
  switch (types.length === 1 ? types[0] : "") {
    case "boolean": return oneOfValues([{value: true, label: "Yes"}, {value: false, label: "No"}], schema, at);
    case "integer": case "number": return number(schema, at);
    case "string": return text(schema, at);
    case "array": return arrayOf(schema, at, control, resolve, fieldset);
    case "object": if (schema.properties) return object(schema, at);
  }
  if (!schema.type && schema.properties) return object(schema, at);
  return json(schema, at);
}

function resolve(schema, root) {
  for (let hops = 0; typeof schema === "object" && schema?.$ref?.startsWith("#") && hops < 20; hops++) {
    const found = schema.$ref.slice(1).split("/").slice(1).reduce((o, key) => o?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")], root);
    const {$ref, ...beside} = schema;
    schema = {...found, ...beside};
  }
  return typeof schema === "object" && schema !== null ? schema : {};
}

const label = (value) => (typeof value === "string" ? labelled(value) || "(empty)" : JSON.stringify(value));

const fixed = (value) => ({el: null, read: () => value, fail: () => false, clear() {}});

// frame is a labelled line with one input, its help and its error.
function frame(input, schema, {title, required}) {
  const id = input.id || (input.id = uid("f"));
  const error = h("p", {class: "error", id: `${id}-e`, hidden: true});
  const help = schema.description ? h("p", {class: "help", id: `${id}-h`}, schema.description) : null;
  input.setAttribute("aria-describedby", `${id}-e${help ? ` ${id}-h` : ""}`);
  if (required) input.setAttribute("aria-required", "true");
  const el = h("div", {class: "field"}, title && h("label", {for: id}, title, !required && h("span", {class: "optional"}, " optional")), help, input, error);
  if (!title) input.setAttribute("aria-label", clean(schema.title ?? "Answer"));
  return {
    el,
    fail(_, reason) { swap(error, reason); error.hidden = false; input.setAttribute("aria-invalid", "true"); return input; },
    clear() { error.hidden = true; input.removeAttribute("aria-invalid"); },
  };
}

// fieldset is frame for several inputs that belong together.
export function fieldset(inner, schema, {title, required, kind = ""}) {
  const error = h("p", {class: "error", id: uid("e"), hidden: true});
  const el = h("fieldset", {class: `field ${kind}`, "aria-describedby": error.id},
    title && h("legend", null, title, !required && h("span", {class: "optional"}, " optional")),
    schema.description && h("p", {class: "help"}, schema.description), inner, error);
  return {
    el,
    fail(_, reason) { swap(error, reason); error.hidden = false; return el.querySelector("input, select, textarea, button") ?? el; },
    clear() { error.hidden = true; },
  };
}

// missing is what a required control says when it is empty.
export const missing = (problems, reason = "is needed") => { problems.push({pointer: "", reason}); return undefined; };

// under moves the problems of a part below its place.
export function under(key, part, problems) {
  const own = [];
  const value = part.read(own);
  problems.push(...own.map((p) => ({pointer: `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}${p.pointer}`, reason: p.reason})));
  return value;
}

function oneOfValues(options, schema, at) {
  const few = options.length <= 6;
  const name = uid("r");
  const chosen = options.findIndex((o) => JSON.stringify(o.value) === JSON.stringify(at.initial));
  if (!few) {
    const select = h("select", null, h("option", {value: ""}, at.required ? "Choose…" : "None"), options.map((o, n) => h("option", {value: n}, o.label)));
    if (chosen >= 0) select.value = chosen;
    const line = frame(select, schema, at);
    return {...line, read: (problems) => (select.value !== "" ? options[select.value].value : at.required ? missing(problems, "choose one") : undefined)};
  }
  const radios = options.map((o, n) => h("input", {type: "radio", name, value: n, checked: n === chosen, on: {change: () => at.changed?.()}}));
  // A radio that is chosen cannot be given back; where nothing is an answer too, it can.
  const none = !at.required && h("button", {type: "button", class: "quiet small", on: {click: () => { radios.forEach((r) => { r.checked = false; }); at.changed?.(); }}}, "Clear");
  const line = fieldset(h("div", {class: options.every((o) => !o.more && o.label.length < 14) ? "choices row" : "choices"},
    options.map((o, n) => h("label", {class: "choice"}, radios[n], h("span", null, o.label, o.badge && h("span", {class: "badge"}, o.badge), o.more && h("small", null, o.more)))), none), schema, {...at, kind: "plain"});
  return {
    ...line,
    read(problems) {
      const n = radios.findIndex((r) => r.checked);
      return n >= 0 ? options[n].value : at.required ? missing(problems, "choose one") : undefined;
    },
  };
}

export const choice = (options, at) => oneOfValues(options, {description: at.help}, at);

// oneOfForms offers several forms, of which one is filled in.
function oneOfForms(options, schema, at) {
  const name = uid("r"), body = h("div", {class: "indent"});
  const parts = options.map((o) => {
    const found = resolve(o, at.root);
    return {title: found.title ?? (Object.keys(found.properties ?? {}).map(words).join(", ") || words([found.type].flat().join(" or "))), schema: found, made: null};
  });
  let chosen = -1;
  const pick = (n) => {
    chosen = n;
    const part = parts[n];
    part.made ??= control(part.schema, {root: at.root, required: true, title: part.schema.properties ? "" : part.title});
    swap(body, part.made.el);
  };
  const line = fieldset([h("div", {class: "choices row"}, parts.map((part, n) => h("label", {class: "choice"},
    h("input", {type: "radio", name, value: n, on: {change: () => pick(n)}}), h("span", null, part.title)))), body], schema, at);
  if (parts.length === 1) pick(0);
  return {
    el: line.el,
    read: (problems) => (chosen >= 0 ? parts[chosen].made.read(problems) : at.required ? missing(problems, "choose one") : undefined),
    fail: (pointer, reason) => (chosen >= 0 && pointer ? parts[chosen].made.fail(pointer, reason) : line.fail("", reason)),
    clear() { line.clear(); parts[chosen]?.made.clear(); },
  };
}

function number(schema, at) {
  const whole = schema.type === "integer";
  const input = h("input", {type: "text", inputmode: whole ? "numeric" : "decimal", autocomplete: "off", class: "short", value: at.initial ?? ""});
  const line = frame(input, bounds(schema), at);
  return {
    ...line,
    read(problems) {
      const given = input.value.trim().replace(",", ".");
      if (given === "") return at.required ? missing(problems) : undefined;
      const n = Number(given);
      if (!Number.isFinite(n)) return missing(problems, "is not a number");
      if (whole && !Number.isSafeInteger(n)) return missing(problems, "is a whole number, at most 9,007,199,254,740,991");
      return n;
    },
  };
}

function bounds(schema) {
  const {minimum: low, maximum: high} = schema;
  const range = low !== undefined && high !== undefined ? `From ${low} to ${high}.` : low !== undefined ? `At least ${low}.` : high !== undefined ? `At most ${high}.` : "";
  return {...schema, description: [schema.description, range].filter(Boolean).join(" ")};
}

const formats = {date: "date", "date-time": "datetime-local", time: "time", email: "email", uri: "url"};

function text(schema, at) {
  const type = formats[schema.format];
  const long = !type && !schema.pattern && (schema.maxLength === undefined || schema.maxLength > 80) && !at.line;
  const input = long ? h("textarea", {rows: at.rows ?? 1, autocomplete: "off"}) : h("input", {type: type ?? "text", autocomplete: "off"});
  input.value = at.initial ?? "";
  const line = frame(input, schema, at);
  return {
    ...line,
    read(problems) {
      if (input.value === "") return at.required && (schema.minLength > 0 || type) ? missing(problems) : at.required ? "" : undefined;
      return schema.format === "date-time" ? new Date(input.value).toISOString() : input.value;
    },
  };
}

function json(schema, at) {
  const input = h("textarea", {rows: 3, class: "mono", spellcheck: "false", autocomplete: "off"});
  input.value = at.initial === undefined ? "" : JSON.stringify(at.initial, null, 2);
  const line = frame(input, {...schema, description: [schema.description, "As JSON."].filter(Boolean).join(" ")}, at);
  return {
    ...line,
    read(problems) {
      if (input.value.trim() === "") return at.required ? missing(problems) : undefined;
      try { return JSON.parse(input.value); } catch (err) { return missing(problems, `is not JSON: ${err.message}`); }
    },
  };
}

function object(schema, at) {
  const needed = new Set(schema.required ?? []);
  const parts = new Map();
  const gate = condition(schema);
  const place = (key) => h("div", {data: {key}, hidden: Boolean(gate?.keys.has(key))});
  const places = new Map(Object.keys(schema.properties).map((key) => [key, place(key)]));
  const shows = (key) => !gate?.keys.has(key) || gate.holds(parts.get(gate.key)?.read([]));
  const changed = () => {
    for (const key of gate?.keys ?? []) places.get(key).hidden = !shows(key);
    at.changed?.();
  };
  for (const [key, part] of Object.entries(schema.properties)) {
    const found = resolve(part, at.root);
    const own = {root: at.root, required: needed.has(key) || Boolean(gate?.keys.has(key)), title: found.title ?? words(key), initial: at.initial?.[key], changed};
    parts.set(key, own.required || !found.properties || own.initial !== undefined ? control(part, own) : later(part, own));
    if (parts.get(key).el) places.get(key).append(parts.get(key).el);
  }
  changed();
  const line = at.title ? fieldset([...places.values()], schema, {...at, kind: "object"}) : {el: h("div", {class: "object"}, [...places.values()]), fail: () => false, clear() {}};
  return {
    el: line.el,
    read(problems) {
      const out = {};
      for (const [key, part] of parts) {
        if (!shows(key)) continue;
        const value = under(key, part, problems);
        if (value !== undefined) out[key] = value;
      }
      return out;
    },
    fail(pointer, reason) {
      const [, key, ...rest] = pointer.split("/");
      const part = parts.get(key?.replaceAll("~1", "/").replaceAll("~0", "~"));
      return part ? part.fail(rest.length ? `/${rest.join("/")}` : "", reason) : line.fail("", reason);
    },
    clear() { line.clear(); for (const part of parts.values()) part.clear(); },
  };
}

// condition reads the one form of if, then and else that a form can follow: some fields are there only while another has a certain value.
function condition(schema) {
  const [[key, test] = [], ...more] = Object.entries(schema.if?.properties ?? {});
  if (!key || more.length > 0 || !("const" in test)) return null;
  const keys = new Set([...(schema.then?.required ?? [])].filter((k) => k in schema.properties && k !== key));
  return keys.size > 0 ? {key, keys, holds: (value) => JSON.stringify(value) === JSON.stringify(test.const)} : null;
}

// later is an optional part: it is made on demand, so that a schema may refer to itself.
function later(schema, at) {
  let made = null;
  const el = h("div", {class: "later"});
  const closed = () => swap(el, h("button", {type: "button", class: "quiet small", on: {click: open}}, `+ ${at.title}`));
  function open() {
    made = control(schema, {...at, required: true});
    swap(el, made.el, h("button", {type: "button", class: "quiet small", on: {click: () => { made = null; closed(); }}}, `Leave ${at.title} out`));
  }
  closed();
  return {el, read: (problems) => made?.read(problems), fail: (p, r) => made?.fail(p, r) ?? false, clear: () => made?.clear()};
}
