// One thread: what it asks, where it is, and what happened to it.

import {bars, by, forbids, get, pages, path, post, poster, Refused, session} from "./api.js";
import {changed, h, once, say, swap, tell, when, words} from "./dom.js";
import {live} from "./live.js";
import {failure, interrupt} from "./inbox.js";
import {Journey, lanesOf} from "./journey.js";
import {programOf, titled} from "./names.js";
import {fields} from "./fields.js";
import {bare} from "./tale.js";
import {History} from "./history.js";
import {QuestionCard} from "./question.js";
import {askPause, decide} from "./escape.js";
import {pill} from "./threads.js";

export class ThreadView {
  constructor(id) {
    this.id = id;
    this.cards = new Map();
    this.rows = [];
    this.lit = "";
    this.end = new AbortController();
    this.head = h("header", {class: "thead"});
    this.note = h("div", {class: "moment", hidden: true});
    this.questions = h("div", {class: "questions"});
    this.journey = new Journey((target) => this.route(target));
    this.history = new History({show: (point) => this.show(point), fork: (seq) => this.fork(seq)});
    this.talk = h("div", {class: "talk"});
    this.grid = h("div", {class: "grid"},
      h("div", {class: "side"}, this.questions, this.talk),
      h("section", {class: "card map-card", "aria-label": "Where it is"}, h("h2", {class: "cardtitle"}, "Where it is"), this.note, this.journey.el),
      this.history.el);
    this.el = h("div", {class: "thread"}, this.head, h("p", {class: "soft pad"}, "Reading…"));
    this.load = once(() => this.read());
    const on = {signal: this.end.signal};
    live.addEventListener("row", (e) => { if (e.detail.thread === id) this.load(); }, on);
    live.addEventListener("fresh", () => this.load(), on);
    this.load();
  }

  close() {
    this.end.abort();
    clearTimeout(this.timer);
  }

  // again reads a thread that runs once more in a moment: the stream has what concerns people, and not each of its steps.
  again() {
    clearTimeout(this.timer);
    if (this.t.status === "running" && !this.end.signal.aborted) this.timer = setTimeout(() => this.load(), document.hidden ? 10_000 : 700);
  }

  async read() {
    try {
      const t = await get(path`threads/${this.id}`);
      const last = this.rows.at(-1)?.seq ?? 0;
      const news = t.seq > last ? await pages(path`threads/${this.id}/${session.may("inspect") ? "history" : "outbox"}?limit=500`, last ? `${this.id}/${last}` : "", 20000) : [];
      if (this.end.signal.aborted) return;
      this.rows.push(...news.filter((r) => r.seq > (this.rows.at(-1)?.seq ?? 0)));
      this.t = t;
      this.history.el.classList.toggle("only", !session.may("inspect"));
      if (this.moment?.thread?.seq !== t.seq) this.moment = await this.at(t.seq);
      this.program = session.may("inspect") ? await programOf(this.machine()) : null;
      if (this.end.signal.aborted) return;
      this.draw();
      this.again();
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      if (!this.t) swap(this.el, this.back(), failure(err, err.status === 404 ? null : () => this.load()));
    }
  }

  // machine is that of the first frame, or of the last turn when nothing runs.
  machine() {
    return this.t.frames[0]?.machine ?? this.rows.findLast((r) => r.type === "entered" && !r.parent)?.machine ?? "";
  }

  // at reads the record as it was after an entry. Nothing of the program runs for that.
  async at(seq) {
    try {
      if (session.may("inspect")) return await get(path`threads/${this.id}/at/${seq}`);
      throw new Refused({detail: "Your token does not let you look at earlier moments."});
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      const lanes = lanesOf(this.rows, seq);
      return {thread: this.t, frames: (this.t?.frames ?? []).map((f) => ({...f, node: lanes.get(f.id)?.stops.at(-1)})), missing: err.message};
    }
  }

  back() { return h("a", {class: "back", href: "#/inbox"}, "← All"); }

  draw() {
    if (!this.grid.isConnected) swap(this.el, this.head, this.grid);
    this.drawHead();
    this.drawQuestions();
    this.drawTalk();
    this.history.update(this.rows, this.t);
    if (!this.history.past) this.drawJourney();
    this.hint?.();
  }

  drawHead() {
    const t = this.t, over = ["done", "failed", "cancelled", "handed_off"].includes(t.status);
    const was = this.status;
    this.status = t.paused ? "paused" : t.status;
    if (was && was !== this.status) tell(`${t.id} is ${words(this.status).toLowerCase()} now`);
    const running = !over && t.status !== "idle";
    if (!this.names) { // made once: a button that is made anew loses the focus, and a click on its way
      this.names = h("div", {class: "names"});
      this.pauses = h("button", {type: "button", data: {act: "pause"}, on: {click: () => this.pause()}});
      this.ends = h("button", {type: "button", class: "danger", data: {act: "end"}, on: {click: () => this.stop()}}, "End…");
      swap(this.head, session.thread ? null : this.back(), this.names, h("div", {class: "acts"}, this.pauses, this.ends));
    }
    this.pauses.hidden = !running;
    this.pauses.className = t.paused ? "primary" : "";
    this.pauses.textContent = t.paused ? "Decide…" : "Pause…";
    this.ends.hidden = over;
    for (const [button, action] of [[this.pauses, t.paused ? "operate" : "escape"], [this.ends, "cancel"]]) {
      button.title = forbids(action);
      button.disabled = button.title !== "";
    }
    if (!changed(this.names, this.status, this.machine(), this.program?.title, t.user)) return;
    swap(this.names, h("h1", null, t.id, " ", pill(t.status, t.paused)),
      h("p", {class: "meta"}, h("span", null, titled(this.machine())), t.user && h("span", null, `for ${t.user}`), when(t.created, {prefix: "started "}),
        t.forkedFrom && h("a", {href: path`#/t/${t.forkedFrom.thread}`}, `fork of ${t.forkedFrom.thread} at ${t.forkedFrom.seq}`)));
  }

  // drawQuestions keeps a card for each question, so that typed text survives every change of the rest.
  async drawQuestions() {
    const open = this.t.open.filter((i) => i.state === "open" || i.state === "queued");
    for (const i of open) {
      const card = this.cards.get(i.id);
      if (card) card.update(i);
      else {
        const made = new QuestionCard(i, {answered: () => this.load(), route: (target) => this.lights(target), decide: () => this.pause()});
        this.cards.set(i.id, made);
      }
    }
    for (const [id, card] of this.cards) {
      if (open.some((i) => i.id === id)) continue;
      const wrote = card.dirty;
      if (!wrote) { this.cards.delete(id); continue; }
      if (card.i.state === "open" || card.i.state === "queued") interrupt(id).then((i) => card.update(i), () => {});
    }
    const cards = [...this.cards.values()].sort((a, b) => a.i.priority - b.i.priority || a.i.created - b.i.created);
    const want = cards.map((c) => c.el);
    const ended = cards.length === 0 && h("div", {class: "card calm"}, this.quiet());
    if (want.length !== this.questions.children.length || want.some((el, n) => this.questions.children[n] !== el)) swap(this.questions, want, ended);
    else if (ended) swap(this.questions, ended);
  }

  quiet() {
    const t = this.t;
    switch (t.status) {
      case "running": return [h("h2", null, h("span", {class: "dots", "aria-hidden": "true"}), "It works"), h("p", {class: "soft"}, "What it asks appears here.")];
      case "waiting": return [h("h2", null, "It waits"), h("p", {class: "soft"}, t.wake ? ["Until ", when(t.wake, {until: true}), "."] : "For others.")];
      case "idle": return [h("h2", null, "Between turns"), h("p", {class: "soft"}, "The next message starts a turn.")];
      case "failed": return [h("h2", null, "It failed"), h("p", null, bare(t.failure?.text ?? "") || words(t.failure?.code))];
      default: return [h("h2", null, words(t.status)), t.result !== undefined && t.result !== null && h("div", {class: "about"}, fields(t.result))];
    }
  }

  // drawTalk offers to say something, where the thread takes the next turn. What was typed stays while it cannot be sent.
  drawTalk() {
    this.talk.hidden = this.t.status !== "idle";
    if (this.talk.hidden || this.box) return;
    const other = this.program?.talks && this.t.user && !session.thread && this.t.user !== (session.by || "operator") ? this.t.user : "";
    const why = forbids("deliver") || (other && `This conversation is with ${other}.`);
    const text = h("textarea", {rows: 2, "aria-label": "Message", placeholder: why || "Say something to start the next turn", disabled: why !== ""});
    const send = poster();
    this.box = h("form", {class: "card say", on: {submit: async (e) => {
      e.preventDefault();
      const said = text.value;
      if (!said.trim()) return;
      try {
        await send(path`threads/${this.id}/messages`, by({message: said}));
        if (text.value === said) text.value = "";
        this.load();
      } catch (err) { say(err.message, {bad: true}); }
    }}}, text, h("div", {class: "row end"}, h("button", {class: "primary", type: "submit", title: why, disabled: why !== ""}, "Send")));
    swap(this.talk, this.box);
  }

  // planOf returns the plan at a time. The record has no plan after its end; the rows have.
  planOf(moment, past) {
    if (moment.plan || past) return moment.plan;
    const said = this.rows.findLast((r) => r.type === "message" && Array.isArray(r.value?.plan_steps) && Array.isArray(r.value.completed_steps))?.value;
    if (!said) return undefined;
    const over = new Set([...said.completed_steps, ...(said.skipped_steps ?? [])]);
    const result = (step) => this.rows.findLast((r) => r.name === "task_completed" && r.value?.task_description === step)?.value.result;
    return {
      goal: this.rows.find((r) => r.type === "entered")?.value ?? "",
      done: said.plan_steps.filter((s) => over.has(s)).map((step) => ({step, result: result(step), skipped: said.skipped_steps?.includes(step)})),
      steps: said.plan_steps.filter((s) => !over.has(s)), over: this.status === "done",
    };
  }

  drawJourney(moment = this.moment, past = false) {
    const open = past ? [] : this.t.open.filter((i) => i.state === "open");
    const targets = [...new Set(open.filter((i) => !bars(i)).flatMap((i) => i.targets ?? []))];
    const sends = past || targets.length > 0 || this.sources().length === 0 ? [] : this.program.routes.map((r) => r.agentType);
    const asks = (past ? moment.thread?.open ?? [] : open).map((i) => i.node).filter(Boolean);
    this.journey.show({program: this.program, frames: moment.frames, lanes: lanesOf(this.rows, past ? moment.row?.seq : undefined), plan: this.planOf(moment, past), lit: targets, sends, chosen: this.lit, asking: new Set(asks)});
  }

  lights(target) {
    this.lit = target;
    this.drawJourney();
  }

  // sources are the frames that run a node which can be told to interrupt, each with its node. Sending them elsewhere takes the right to operate.
  sources() {
    if (!session.may("operate") || !this.program?.reroutes || this.t.status !== "running" || this.t.paused) return [];
    return (this.moment?.frames ?? []).flatMap((f) => {
      const node = this.program.nodes.find((n) => n.key === f.node && n.branches.some((b) => b.kind === "interrupt"));
      return node && !(f.children ?? []).some((c) => !c.done) ? [{frame: f.id, node}] : [];
    });
  }

  // send offers to send running work to a node.
  async send(target) {
    const sources = this.sources(), to = this.program.routes.find((r) => r.agentType === target);
    if (!to || sources.length === 0) return;
    const {confirmSend} = await import("./send.js");
    if (await confirmSend(this.id, sources, to)) this.load();
  }

  // route hands the choice of a lit node to the question that allows it. Where none does, work that runs can be sent there.
  route(target) {
    for (const card of this.cards.values()) {
      if (card.i.state === "open" && (target === "" || card.targets?.includes(target))) {
        card.choose(target);
        if (target) card.el.scrollIntoView({block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
        return;
      }
    }
    if (target) this.send(target);
  }

  // show puts the page back to an earlier point; null is now.
  async show(point) {
    if (!point) {
      this.note.hidden = true;
      this.el.classList.remove("then");
      this.drawJourney();
      return null;
    }
    const moment = await this.at(point.seq);
    if (this.history.past?.seq !== point.seq) return moment;
    this.el.classList.add("then");
    this.note.hidden = false;
    swap(this.note, h("span", null, "As it was at entry ", h("strong", null, `${point.seq}`), ` of ${this.t.seq}`, ", ", when(point.at)),
      h("button", {type: "button", class: "quiet small", on: {click: () => this.history.now()}}, "Back to now"));
    this.drawJourney(moment, true);
    return moment;
  }

  step(by) { this.history.step(by); }

  // pause opens the dialog of a pause, or says why it may not, and reports whether there is anything to pause.
  pause() {
    const t = this.t;
    if (!t || ["done", "failed", "cancelled", "handed_off", "idle"].includes(t.status)) return false;
    const open = () => this.t.open.find((i) => i.kind === "user_escape" && i.state === "open");
    const context = {id: this.id, thread: () => this.t, plan: () => this.moment?.plan, interrupt: open, load: () => this.load(), heard: (f) => { this.hint = f; }};
    const why = forbids(t.paused && open() ? "operate" : "escape");
    if (why) { say(why); return true; }
    (t.paused && open() ? decide(context) : askPause(context)).then(() => { this.hint = null; });
    return true;
  }

  async stop() {
    const {confirmEnd} = await import("./fork.js");
    const reason = await confirmEnd(this.id, this.t.status === "idle");
    if (reason === null) return;
    try {
      await post(path`threads/${this.id}/cancel`, by({reason}));
      say("Ended");
      this.load();
    } catch (err) { say(err.message, {bad: true}); }
  }

  async fork(seq) {
    const {confirmFork} = await import("./fork.js");
    const made = await confirmFork(this.id, seq, this.rows);
    if (made) location.hash = path`#/t/${made.thread.id}`;
  }
}
