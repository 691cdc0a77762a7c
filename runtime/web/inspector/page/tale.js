// What happened, in words: a line for each row of a thread's log. A terminal says the same of each: one table of rows and lines is the test of both.

import {clock, words} from "./dom.js";
import {known, named, titled} from "./names.js";

export const orders = {
  retry: "Run the step again", edit: "Run it with another input", skip: "Go on without it", reroute: "Go on elsewhere", abort: "End the thread",
  done: "It has happened", run: "It has not happened: run it", continue: "Go on as planned", modify: "Change the work", cancel: "End the thread",
  status: "Say how far it is",
};

// bare takes what was called, and the code of the refusal, out of the text of a failure: they are for programs.
const coded = /(^|: )(?:[^:]{1,40}: )?(?:invalid|not_found|conflict|already_answered|superseded|expired|not_waiting|forbidden|ambiguous|no_route|many_routes|loop|in_doubt|incompatible|unavailable|outcome_unknown|internal): /g;
export const bare = (text) => text.replaceAll(coded, "$1");

const people = {"": "somebody", policy: "a rule", deadline: "the deadline", operator: "the operator"};
const person = (by) => people[by ?? ""] ?? by;
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

// Teller remembers what rows refer to: the questions, and what each frame is and has just done. It is told rows in their order, each once.
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
    const text = this.line(r).replaceAll(/[\n\t]/g, " ").trim();
    if (r.type === "returned") this.steps.delete(r.frame);
    if (r.type === "message" && r.name?.startsWith("task_")) this.step = r.name === "task_started" ? r.value?.task_description ?? "" : "";
    if (r.type === "message" && r.name === "task_completed") this.steps.set(r.frame, r.value?.task_description);
    return text;
  }

  question(id) {
    const q = this.questions.get(id);
    if (!q) return "a question";
    const text = [...(asked(q) || words(q.name)).trim().replaceAll(/\s+/g, " ")];
    return `“${text.length > 60 ? `${text.slice(0, 59).join("")}…` : text.join("")}”`;
  }

  line(r) {
    const q = this.question(r.interrupt), who = person(r.by), other = r.other ? this.question(r.other) : "something more urgent";
    const answer = () => short(answeredWith(this.questions.get(r.interrupt), r.value));
    switch (r.type) {
      case "started": return r.value?.thread ? `${person(r.name || r.by)} made this thread from ${r.value.thread}, as that was at entry ${r.value.seq}` : `${who} started the thread`;
      case "message": return this.message(r);
      case "asked": case "opened": return this.asks(r);
      case "queued": return `${q} waits for ${other}`;
      case "superseded": return r.other ? `${q} makes way for ${other}` : `${q} is not asked any more`;
      case "answered": return r.routeTo ? colon(`${who} sent the work to ${named(r.routeTo)}, instead of an answer to ${q}`, r.value === undefined ? "" : short(r.value)) : colon(`${who} answered ${q}`, answer());
      case "voted": return colon(`${who} answered ${q}, as one of several`, answer());
      case "reasked": return colon(`the answer to ${q} was unclear, so it is asked again`, r.text);
      case "expired": return `nobody answered ${q} in time`;
      case "cancelled": return `${q} was taken back`;
      case "claimed": return r.name ? `${person(r.name)} took on ${q}` : `${who} laid down ${q}`;
      case "extended": return `${who} gave ${q} more time, until ${moment(r.until)}`;
      case "reminded": return `the time to answer ${q} is nearly over`;
      case "escalated": return `nobody answered ${q} in time: ${r.name || "others"} may answer now`;
      case "escape": return colon(`${who} asked for a pause${r.name === "now" ? " at once" : ""}`, r.text);
      case "paused": return "the work is paused";
      case "resumed": return r.text ? `${who} let the work go on, with a change: ${r.text}` : `${who} let the work go on unchanged`;
      case "modified": return "the change has reached the work";
      case "reroute": return this.reroute(r);
      case "returned": return this.ended(r);
      case "over": return over(r);
      default: return inside(r);
    }
  }

  asks(r) {
    const q = r.question ?? {kind: r.kind, text: words(r.name)};
    const text = asked(q) || words(q.name);
    if (q.kind === "user_escape") return colon("somebody has to say how the work goes on", q.text);
    const what = r.type === "opened" ? "asks now" : {superseded: "does not ask, because something more urgent is open", queued: "will ask, when something more urgent is answered"}[r.state] ?? "asks";
    const how = {agent_question: "", system_error: " for help"}[q.kind] ?? (q.kind ? ` (${low(q.kind)})` : "");
    const from = !q.node ? "it" : this.step && !known(q.node) ? `the step “${this.step}”` : named(q.node);
    return `${from} ${what}${how}: ${text}`;
  }

  reroute(r) {
    if (r.state === "used") return "the order to interrupt the work was followed";
    if (r.state === "expired") return "the order to interrupt the work came too late";
    if (r.value === undefined) return "the next order to interrupt the work has its turn";
    return `${person(r.by)} ordered to interrupt the work${r.routeTo ? ` and go on at ${named(r.routeTo)}` : ""}${r.state === "queued" ? ", after an earlier order" : ""}`;
  }

  ended(r) {
    const step = this.steps.get(r.frame), f = this.frames.get(r.frame);
    if (step) return `the step “${step}” ended`;
    const what = !f ? "a part of the work" : f.parent ? named(f.name || f.machine) : "the work";
    if (r.state === "cancelled") return colon(`${person(r.by)} ended ${what}`, why(r.failure));
    if (r.failure && r.state !== "skipped") return colon(`${what} failed`, why(r.failure));
    return colon(r.state === "skipped" ? `${person(r.by)} went on without ${what}` : `${what} ended`, short(gist(r.value)));
  }

  message(r) {
    const v = isObject(r.value) ? r.value : {};
    switch (r.name) {
      case "status": return `${person(r.by)} asked how far it is${v.current_plan ? `: ${v.completed_steps} of ${v.current_plan.length} done` : ""}`;
      case "interrupt_message": return colon("the work is told to stop here", v.reason);
      case "aside": return `${person(r.by)} said something that is answered beside, in thread ${v.thread ?? ""}`;
      case "request": if (v.digest || r.value === undefined) return "a call is noted, so that it counts once"; break;
      case "grant": return colon(`a token was made${v.by ? ` for ${v.by}` : ""}`, (v.actions ?? []).join(", "));
      case "grant_revoked": return "a token was revoked";
    }
    const from = v.flow || v.node;
    return planned(r.name, v) || colon(from ? named(from) : words(r.name), short(gist(r.value)));
  }
}

// planned says what an event of a plan says; "" when it is none.
function planned(name, v) {
  if (!Array.isArray(v.plan_steps)) return "";
  const step = `step ${v.step_number} of ${v.total_steps}`;
  switch (name) {
    case "plan_created": return `the plan is made: ${v.total_steps} ${v.total_steps === 1 ? "step" : "steps"}`;
    case "task_started": return `${step} begins: ${v.task_description}`;
    case "task_completed": return v.skipped ? `${step} is skipped: ${v.task_description}` : colon(`${step} is done: ${v.task_description}`, v.result);
    case "task_stopped": return `${step} stopped, to be planned anew: ${v.task_description}`;
    case "plan_updated": return `the plan was looked at: ${v.completed_count} of ${v.total_steps} done`;
    case "plan_modified": return colon("the plan is changed", v.details || low(v.modification_type));
    case "completion_refused": return colon("it goes on, since steps are left", v.details);
    case "completion_accepted": return colon("it ends, though steps are left", v.details);
    default: return "";
  }
}

function over(r) {
  switch (r.state) {
    case "done": return colon("the thread is done", short(gist(r.value)));
    case "failed": return colon("the thread failed", why(r.failure));
    case "cancelled": return colon(`${person(r.by)} ended the thread`, why(r.failure));
    case "handed_off": return colon("the thread was handed off", short(gist(r.value)));
    default: return `the thread is ${low(r.state)}`;
  }
}

const effects = {intended: "has begun", done: "is done", in_doubt: "may have happened", failed: "did not happen"};

// inside is what is said of what the history has and the outbox has not.
function inside(r) {
  switch (r.type) {
    case "entered": return `${r.parent ? named(r.name || r.machine) : titled(r.machine)} begins`;
    case "stepped": return r.pc.startsWith("!") ? "goes on between two nodes" : `goes on at ${named(r.pc)}`;
    case "calling": return "waits for its parts";
    case "shows": return "its questions show how far it is";
    case "metadata": return "what came with the message is kept";
    case "effect": return `${words(r.name)} ${effects[r.state] ?? low(r.state)}`;
    case "failed": return colon(r.until ? `a step failed, and is tried again at ${clock(r.until)}` : "a step failed", why(r.failure));
    case "again":
      if (r.routeTo) return `${person(r.by)} ordered it to go on at ${named(r.routeTo)}`;
      return r.name ? `${person(r.by)} ordered the step to run again` : "the step runs again";
    case "held": return colon(`${person(r.by)} answered ${words(r.name)} before it was asked`, spoken(r.value));
    case "taken": return `the early answer to ${words(r.name)} is used`;
    default: return `something happened that this page has no words for: ${low(r.type)}`;
  }
}
