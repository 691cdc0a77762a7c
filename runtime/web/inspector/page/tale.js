// What happened: a line for each row of a thread's log. The words are in words.js, which the terminal reads too; one table of rows and lines
// tests both.

import {clock, words} from "./dom.js";
import {known, named, titled} from "./names.js";
import table from "./words.js";

export const {orders} = table;

// bare takes what was called, and the code of the refusal, out of the text of a failure: they are for programs.
const coded = /(^|: )(?:[^:]{1,40}: )?(?:invalid|not_found|conflict|already_answered|superseded|expired|not_waiting|forbidden|ambiguous|no_route|many_routes|loop|in_doubt|incompatible|unavailable|outcome_unknown|internal): /g;
export const bare = (text) => text.replaceAll(coded, "$1");

const person = (by) => table.people[by ?? ""] ?? by;
const low = (text) => { const plain = words(text); return plain.charAt(0).toLowerCase() + plain.slice(1); };
const colon = (text, more) => (more ? `${text}: ${more}` : text);
const why = (failure) => bare(failure?.text ?? "") || (failure ? low(failure.code) : "");
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const wrapped = (value) => { const all = Object.values(value); return all.length === 1 && isObject(all[0]) ? all[0] : null; };
const moment = (ms) => new Date(ms).toLocaleString([], {month: "short", day: "numeric", hour: "2-digit", minute: "2-digit"});
const most = 240; // of what a line says of a result: the entry itself has all of it
const short = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// spoken puts a JSON value into words: no brackets, no quotes, and nothing of what is empty.
export function spoken(value, between = "; ") {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map((v) => spoken(v, ", ")).filter(Boolean).join(", ");
  if (!isObject(value)) return String(value);
  const inner = wrapped(value);
  if (inner) return spoken(inner, between);
  return Object.entries(value).map(([key, v]) => [low(key), spoken(v, ", ")]).filter(([, text]) => text).map((pair) => pair.join(": ")).join(between);
}

// gist is what a result or a message says. One that is made for people, or for the next model, has a text for it.
export function gist(value) {
  if (!isObject(value)) return spoken(value);
  const inner = wrapped(value);
  if (inner) return gist(inner);
  return ["text", "output", "answer"].map((name) => value[name]).find((text) => text && typeof text === "string") ?? spoken(value);
}

function ordered(value) {
  const o = isObject(value) ? value : {choice: value};
  if (o.target) return `go on at ${named(o.target)}`;
  return colon(low(orders[o.choice] ?? o.choice), o.text || spoken(o.input) || spoken(o.value));
}

// resolved puts an answer with several choices and confirmations into the words of its question.
function resolved(asked, given) {
  if (!isObject(given)) return "";
  const bare = (text) => text.replace(/[?.: ]+$/, "");
  const chosen = (asked?.choices ?? []).filter((c) => given.selectedChoices?.[c.choiceId]).map((c) => {
    const key = given.selectedChoices[c.choiceId];
    return `${bare(c.question)}: ${given.customInputs?.[c.choiceId] || c.options?.[key] || key}`;
  });
  const confirmed = (asked?.confirmationItems ?? []).filter((c) => typeof given.confirmations?.[c.confirmationId] === "boolean");
  return [...chosen, ...confirmed.map((c) => `${bare(c.statement)}: ${spoken(given.confirmations[c.confirmationId])}`)].join("; ");
}

// answeredWith puts an answer into words, with those of its question where that has any.
export function answeredWith(q, value) {
  if (!q) return spoken(value);
  if (q.kind === "user_escape" || q.kind === "system_error") return ordered(value);
  const same = (v) => JSON.stringify(v) === JSON.stringify(value);
  const choice = q.choices?.find((c) => same(c.value === undefined ? c.label : c.value));
  return choice?.label ?? (resolved(q.payload?.request, value) || spoken(value));
}

// asked is the text of a question.
export const asked = (q) => (q.kind === "system_error" ? bare(q.text ?? "") : q.text);

// fill writes a line of the table. {name} is a fact. The line fails, and fill returns null, if a fact is empty; {?name} is only looked at, and a part in
// [brackets] is left out if it fails.
const slot = /\[[^\]]*\]|\{\??[\w.]+\}/g;
function fill(line, fact) {
  let failed = false;
  const text = line.replaceAll(slot, (m) => {
    if (m[0] === "[") return fill(m.slice(1, -1), fact) ?? "";
    const value = fact(m.replaceAll(/[{}?]/g, ""));
    failed ||= !value;
    return m[1] === "?" ? "" : value;
  });
  return failed ? null : text;
}

// Teller remembers what rows refer to: the questions, what each frame is, and which step of a plan it has just done. It takes rows in their order,
// each once.
export class Teller {
  constructor() {
    this.questions = new Map();
    this.frames = new Map();
    this.steps = new Map();
    this.step = ""; // of a plan, that is being done
  }

  // tell returns the line of a row.
  tell(r) {
    if (r.question) this.questions.set(r.interrupt, r.type === "asked" ? r.question : this.questions.get(r.interrupt) ?? r.question);
    if (r.type === "entered") this.frames.set(r.frame, r);
    const {machine, name, parent} = this.frames.get(r.frame) ?? {};
    const asks = r.type === "asked" || r.type === "opened", named = r.type === "message" || r.type === "escape";
    const about = asks ? r.question ?? {kind: r.kind, text: words(r.name)} : null;
    const fact = this.facts(r.type === "returned" ? {...r, machine, name, parent} : r, about);
    const text = say([about?.kind, r.state, named && r.name].filter(Boolean).map((variant) => `${r.type}.${variant}`).concat(r.type, ""), fact);
    if (r.type === "returned") this.steps.delete(r.frame);
    if (r.type === "message" && r.name?.startsWith("task_")) this.step = r.name === "task_started" ? r.value?.task_description ?? "" : "";
    if (r.type === "message" && r.name === "task_completed") this.steps.set(r.frame, r.value?.task_description);
    return text.replaceAll(/[\n\t]/g, " ").trim();
  }

  question(id) {
    const q = this.questions.get(id);
    if (!q) return "a question";
    const text = [...(asked(q) || words(q.name)).trim().replaceAll(/\s+/g, " ")];
    return `“${text.length > 60 ? `${text.slice(0, 59).join("")}…` : text.join("")}”`;
  }

  // facts returns what is known of a row, and of the question that it asks if it asks one, by the names of the table.
  facts(r, about) {
    const v = isObject(r.value) ? r.value : {};
    const all = {
      answer: () => short(answeredWith(this.questions.get(r.interrupt), r.value)),
      asker: () => say(["asker"], fact),
      call: () => v.digest || r.value === undefined,
      change: () => v.modification_type && low(v.modification_type),
      claimer: () => r.name && person(r.name),
      clock: () => r.until && clock(r.until),
      day: () => moment(r.until),
      doing: () => this.step,
      done: () => this.steps.get(r.frame),
      gist: () => short(gist(r.value)),
      how: () => say([`how.${about.kind}`, "how"], fact),
      identifier: () => words(r.name),
      kind: () => about.kind && low(about.kind),
      machine: () => r.machine,
      maker: () => person(r.name || r.by),
      name: () => r.name,
      node: () => (about ? about.node && named(about.node) : named(r.name || r.machine)),
      other: () => r.other && this.question(r.other),
      parent: () => r.parent,
      part: () => say(["part"], fact),
      place: () => !r.pc.startsWith("!") && named(r.pc),
      planned: () => v.current_plan && String(v.current_plan.length),
      program: () => titled(r.machine),
      question: () => this.question(r.interrupt),
      route: () => r.routeTo && named(r.routeTo),
      said: () => short(spoken(r.value)),
      sender: () => (v.flow || v.node ? named(v.flow || v.node) : words(r.name)),
      skipped: () => v.skipped,
      state: () => low(r.state ?? ""),
      steps: () => `${v.total_steps} ${v.total_steps === 1 ? "step" : "steps"}`,
      text: () => (!about ? r.text : about.kind === "user_escape" ? about.text : asked(about) || words(about.name)),
      type: () => low(r.type),
      unnamed: () => about.node && !known(about.node),
      value: () => r.value !== undefined,
      who: () => person(r.by),
      why: () => why(r.failure),
    };
    const fact = (name) => (name.startsWith("value.") ? spoken(v[name.slice(6)]) : all[name]());
    return fact;
  }
}

// say returns the first line of the table, under one of some keys, whose facts are all there.
export function say(keys, fact) {
  for (const key of keys) {
    for (const line of table.lines[key] ?? []) {
      const text = fill(line, fact);
      if (text !== null) return text;
    }
  }
  return "";
}
