// A question: what is asked, by whom, until when, and the form of its answer.

import {answerers, bars, by, holder, learn, path, post, poster, Refused, session} from "./api.js";
import {answerOf} from "./answers.js";
import {changed, clock, h, say, swap, tell, uid, when, words} from "./dom.js";
import {kindOf} from "./inbox.js";
import {named} from "./names.js";
import {fields} from "./fields.js";
import {answeredWith, asked as askedText, bare} from "./tale.js";

const rules = [
  [/^minLength: got \d+, want (\d+)/, "needs $1 characters or more"], [/^maxLength: got \d+, want (\d+)/, "has more than $1 characters"],
  [/^minimum: .*want ([\d.,-]+)/, "is less than $1"], [/^maximum: .*want ([\d.,-]+)/, "is more than $1"], [/ does not match pattern .*/s, " does not look right"],
  [/^missing propert(?:y|ies) (.*)/, "$1 is missing"], [/^minItems: got \d+, want (\d+)/, "needs $1 or more"], [/^maxItems: got \d+, want (\d+)/, "has more than $1"],
];

// plainly says a rule of a schema as one person would to another.
function plainly(reason) {
  const rule = rules.find(([told]) => told.test(reason));
  return rule ? reason.replace(...rule) : reason;
}

// attempts lists failed runs; those that failed in the same way are one line.
function attempts(all) {
  const lines = new Map();
  for (const a of all) lines.set(`${a.code} ${a.text}`, [...(lines.get(`${a.code} ${a.text}`) ?? []), a]);
  return h("ol", {class: "attempts"}, [...lines.values()].map((same) => h("li", null,
    h("span", {class: "soft"}, `Tried ${same.length > 1 ? `${same.length} times, last ` : ""}at ${clock(Date.parse(same.at(-1).at))}: `), bare(same[0].text || words(same[0].code)))));
}

export class QuestionCard {
  // hooks: answered(interrupt), route(agentType) when another target is chosen, decide() for a paused thread.
  constructor(i, hooks) {
    this.hooks = hooks;
    this.target = "";
    this.dirty = false;
    this.post = poster();
    this.head = h("header", {class: "qhead"});
    this.body = h("div", {class: "qbody"});
    this.alarm = h("div", {class: "refusal", role: "alert", hidden: true});
    this.el = h("article", {class: "card question", data: {id: i.id, kind: i.kind}, "aria-label": `Question: ${i.text || i.name}`}, this.head, this.body);
    this.update(i);
  }

  // update shows the question as it is now. Typed text stays while it is the same question.
  update(i) {
    const fresh = !this.i || this.i.digest !== i.digest;
    const was = this.i?.state;
    this.i = i;
    this.el.dataset.state = i.state;
    this.drawHead();
    if (fresh) this.drawBody();
    else this.drawOrder();
    if (i.state !== "open" && (fresh || was !== i.state)) this.close();
    if (i.state === "open" && this.dirty === false && was && was !== "open") this.drawBody();
    if (i.state === "open") this.permit();
  }

  // permit offers an answer only where the token allows one and the question is for this person, and says so elsewhere.
  permit() {
    const why = bars(this.i);
    if (why === this.why) return; // what waits for its reply stays as it is
    this.why = why;
    for (const field of this.form?.elements ?? [this.decides]) field.disabled = why !== "";
    (this.form ? this.send : this.decides).title = why;
    this.barred.hidden = why === "";
    this.barred.textContent = why;
  }

  drawHead() {
    const i = this.i, kind = kindOf(i.kind);
    const has = holder(i), taken = has && has !== session.by, over = taken && session.may("operate");
    const why = bars(this.i);
    if (!changed(this.head, i.state, holder(i), i.due, i.votes, i.assignees, why)) return;
    swap(this.head,
      h("span", {class: "sign", "aria-hidden": "true"}, kind.sign),
      h("span", {class: "meta"}, h("strong", null, kind.one), i.node && h("span", null, named(i.node)), i.type && h("span", null, words(i.type)), when(i.created),
        i.due && i.state === "open" && h("span", {class: "due"}, when(i.due, {until: true, prefix: "due "})),
        i.assignees?.length > 0 && h("span", {class: "for"}, `for ${answerers(i)}`),
        i.quorum > 1 && h("span", null, `${i.votes?.length ?? 0} of ${i.quorum} votes`)),
      i.state === "open" && i.kind !== "user_escape" && h("button", {
        type: "button", class: "quiet small claim", disabled: Boolean(taken && !over || why), title: why || (over ? `${has} has it: it is yours afterwards` : taken ? "" : "So that no one else answers it meanwhile"),
        on: {click: () => this.claim(over ? {takeOver: true} : {release: Boolean(has)})},
      }, over ? `Take over from ${has}` : taken ? `${has} has it` : has ? "Lay down" : "Take on"));
  }

  drawBody() {
    const i = this.i, asked = i.payload?.request ?? i.payload ?? {};
    this.why = "";
    this.barred = h("p", {class: "soft barred", hidden: true});
    this.decides = h("button", {type: "button", class: "primary", on: {click: () => this.hooks.decide?.()}}, "Decide how it goes on");
    this.form = i.kind === "user_escape" ? null : this.drawForm();
    swap(this.body, h("h2", null, askedText(i) || words(i.name)),
      asked.contextForDecision && h("p", {class: "context"}, asked.contextForDecision),
      i.kind === "system_error" && asked.attempts?.length > 0 && attempts(asked.attempts),
      i.payload?.reasoning && h("p", {class: "context"}, i.payload.reasoning),
      i.payload?.args && h("div", {class: "about"}, fields(i.payload.args)),
      this.rest(asked), this.order = h("div", {class: "about", hidden: true}),
      this.barred, this.form ?? h("div", {class: "row"}, this.decides));
    this.drawOrder();
  }

  // drawOrder shows the reroute event that waits for the answer. It may come after the question.
  drawOrder() {
    const e = this.i.reroute;
    if (!this.order) return;
    this.order.hidden = !e;
    if (!e || this.order.dataset.id === e.eventId) return;
    this.order.dataset.id = e.eventId;
    swap(this.order, h("p", null, h("strong", null, `${e.requestedBy || "Somebody"} asked for an interrupt`), e.reason && `: ${e.reason}`),
      e.contextForDecision && h("p", {class: "context"}, e.contextForDecision),
      e.choices?.length > 0 && h("ul", null, e.choices.map((c) => h("li", null, `${c.label} (${c.value})${c.description ? `: ${c.description}` : ""}`))),
      e.confirmationItems?.length > 0 && h("ul", null, e.confirmationItems.map((c) => h("li", null, `To confirm: ${c.prompt}`))),
      e.rerouteToAgentType && h("p", null, "With an answer the work goes on at ", h("strong", null, named(e.rerouteToAgentType)), "."));
  }

  // rest shows what else the asker gave, for those who want it.
  rest(asked) {
    const failed = this.i.kind === "system_error" ? ["code", "recoverable", "step", "input_digest", "key"] : []; // for programs
    const skip = new Set([...failed, "node", "toolCallId", "choices", "confirmationItems", "contextForDecision", "reason", "type", "attempts", "args", "reasoning", "text", "questions"]);
    const left = Object.entries(typeof asked === "object" ? asked : {}).filter(([key, v]) => !skip.has(key) && v !== "" && v !== null && !(Array.isArray(v) && v.length === 0));
    return left.length > 0 && h("details", {class: "more"}, h("summary", null, "What the asker gave"),
      h("dl", null, left.map(([key, value]) => [h("dt", null, words(key)), h("dd", null, fields(value))])));
  }

  drawForm() {
    const i = this.i;
    this.control = answerOf(i);
    this.send = h("button", {type: "submit", class: "primary"}, "Answer");
    this.routed = h("div", {class: "routed", hidden: true});
    this.note = h("textarea", {id: uid("n"), rows: 2, maxlength: 4000});
    this.fields = h("div", {class: "fields"}, this.control.el);
    this.targets = i.kind === "agent_question" || !["system_error", "user_escape"].includes(i.kind) ? i.targets ?? [] : [];
    this.pick = this.targets.length > 0 && h("select", {id: uid("t"), on: {change: () => this.choose(this.pick.value)}},
      h("option", {value: ""}, "Nowhere else"), this.targets.map((t) => h("option", {value: t}, named(t))));
    return h("form", {class: "answer", novalidate: true, on: {
      submit: (e) => { e.preventDefault(); this.submit(); },
      input: (e) => {
        this.dirty = true;
        e.target.removeAttribute("aria-invalid");
        const error = e.target.closest(".field")?.querySelector(":scope > .error"); // it is being mended
        if (error) error.hidden = true;
      },
    }}, this.fields, this.routed, this.alarm, h("div", {class: "row end"},
      this.pick && h("label", {class: "elsewhere", for: this.pick.id}, "or go on at ", this.pick), this.send));
  }

  // choose sends the work elsewhere instead of answering; "" takes that back.
  choose(target) {
    if (!this.targets?.includes(target) && target !== "" || bars(this.i)) return;
    this.target = target;
    if (this.pick) this.pick.value = target;
    this.fields.hidden = target !== "";
    this.routed.hidden = target === "";
    if (target) {
      swap(this.routed, h("p", null, "The work goes on at ", h("strong", null, named(target)), " instead of with an answer."),
        h("div", {class: "field"}, h("label", {for: this.note.id}, "A note to it, if you like"), this.note),
        h("button", {type: "button", class: "quiet small", on: {click: () => this.choose("")}}, "Answer instead"));
      tell(`Chosen: go on at ${named(target)}`);
    }
    this.send.textContent = target ? "Send it there" : "Answer";
    this.hooks.route?.(target);
  }

  async submit() {
    const i = this.i, problems = [];
    this.control.clear();
    this.alarm.hidden = true;
    const note = this.note.value.trim();
    const given = this.target ? {routeTo: this.target, ...(note && {text: note})} : this.control.read(problems);
    if (problems.length > 0) { this.point(problems); return; }
    this.send.disabled = true;
    try {
      const out = await this.post(path`interrupts/${i.id}/answer`, by({...given, digest: i.digest}));
      this.dirty = false;
      if (session.once) await learn(); // it may have been for this one
      say(this.target ? `Sent to ${named(this.target)}` : out.interrupt?.state === "open" ? "Noted" : "Answered");
      this.hooks.answered?.(out.interrupt);
      if (out.interrupt) this.update(out.interrupt);
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      this.refused(err);
    } finally {
      this.send.disabled = bars(this.i) !== "";
    }
  }

  // refused shows why an answer was not taken. What was typed stays.
  refused(err) {
    const p = err.problem;
    if (err.code === "invalid" && p.problems?.length > 0) { this.point(p.problems); return; }
    const text = {
      already_answered: `${p.answeredBy || "Somebody"} was faster${p.answeredAt ? `, at ${clock(p.answeredAt)}` : ""}. Yours was not taken; it stays here until you leave.`,
      superseded: "A more urgent question took its place.", expired: "Its deadline is over.",
      conflict: "The question has changed since you read it, or has to wait for a more urgent one. It is read again.",
    }[err.code] ?? err.message;
    swap(this.alarm, h("p", null, text), p.left !== undefined && h("p", {class: "soft"}, `It is asked again ${p.left} more ${p.left === 1 ? "time" : "times"}.`));
    this.alarm.hidden = false;
    if (["already_answered", "superseded", "expired", "conflict"].includes(err.code)) this.hooks.answered?.(null);
  }

  // point shows problems beside their fields, and goes to the first.
  point(problems) {
    let first = null;
    const left = [];
    for (const p of problems) {
      const at = this.control.fail(p.pointer, plainly(p.reason));
      if (at) first ??= at; else left.push(`${p.pointer} ${plainly(p.reason)}`.trim());
    }
    if (left.length > 0) { swap(this.alarm, left.map((t) => h("p", null, t))); this.alarm.hidden = false; }
    first?.focus();
    tell(`${problems.length} ${problems.length === 1 ? "field needs" : "fields need"} another look`);
  }

  async claim(how) {
    try {
      this.update(await post(path`interrupts/${this.i.id}/claim`, by(how)));
    } catch (err) { say(err.message, {bad: true}); }
  }

  // close shows how the question ended. A draft that was not sent stays below, to be copied. The
  // alarm stays too: the stream may close the question before the refusal of an answer arrives.
  close() {
    const i = this.i;
    const how = {answered: i.routeTo ? `${i.answeredBy || "Somebody"} sent the work to ${named(i.routeTo)}` : `${i.answeredBy || "Somebody"} answered`,
      superseded: "A more urgent question took its place", cancelled: "Taken back", expired: "Nobody answered in time", queued: "Waits for a more urgent question"}[i.state] ?? words(i.state);
    const end = h("div", {class: "ended"}, h("p", null, h("strong", null, how), i.closedAt ? [" ", when(i.closedAt)] : null),
      i.answer !== undefined && h("p", {class: "about"}, answeredWith(i, i.answer)));
    if (this.dirty && this.form) {
      for (const field of this.form.elements) field.disabled = true;
      swap(this.body, h("h2", null, askedText(i) || words(i.name)), end, this.alarm, h("details", {class: "more", open: true}, h("summary", null, "What you had typed, not sent"), this.fields));
      if (i.state !== "queued") tell(how);
    } else {
      swap(this.body, h("h2", null, askedText(i) || words(i.name)), end, this.alarm);
    }
  }
}
