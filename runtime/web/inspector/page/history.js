// The history: every entry of the thread's log, and a slider that shows the record as it was after each of its commits.

import {add, brief, clock, h, once, pretty, swap, tell, words} from "./dom.js";

const kindsOfRows = {
  questions: ["asked", "opened", "queued", "superseded", "answered", "voted", "reasked", "expired", "cancelled", "claimed", "extended", "reminded", "escalated", "held", "taken"],
  effects: ["effect", "failed", "again"],
  moves: ["started", "entered", "stepped", "calling", "returned", "over", "reroute"],
  people: ["message", "escape", "paused", "resumed", "modified", "answered", "claimed", "voted"],
};

const signs = {
  asked: "?", answered: "✓", queued: "⇅", superseded: "⇅", expired: "⌛", effect: "●", failed: "!", escape: "II", paused: "II", resumed: "▸", message: "“", over: "■",
  reroute: "↪", entered: "↓", stepped: "→", calling: "⋔", returned: "↑", started: "◆", again: "↻", modified: "✎",
};

export class History {
  // hooks: show(row or null), fork(seq)
  constructor(hooks) {
    this.hooks = hooks;
    this.rows = [];
    this.only = "";
    this.past = null;
    this.range = h("input", {type: "range", min: 0, max: 0, value: 0, "aria-label": "Moment of the history", on: {input: () => this.slide(Number(this.range.value))}});
    this.at = h("output", {class: "at"});
    this.back = h("button", {type: "button", class: "quiet", "aria-label": "A step back ([)", on: {click: () => this.step(-1)}}, "‹");
    this.ahead = h("button", {type: "button", class: "quiet", "aria-label": "A step forward (])", on: {click: () => this.step(1)}}, "›");
    this.forks = h("button", {type: "button", class: "small", data: {act: "fork"}, on: {click: () => this.fork()}}, "Fork from here…");
    this.filters = h("div", {class: "filters", role: "group", "aria-label": "Show only"}, ["", ...Object.keys(kindsOfRows)].map((name) =>
      h("button", {type: "button", class: "chip", "aria-pressed": String(name === ""), data: {name}, on: {click: () => this.filter(name)}}, name ? words(name) : "All")));
    this.list = h("ol", {class: "log"});
    this.detail = h("div", {class: "then-detail"});
    this.el = h("section", {class: "card history", "aria-label": "History"},
      h("div", {class: "cardtitle row"}, h("h2", null, "History"), this.filters, this.forks),
      h("div", {class: "slider"}, this.back, this.range, this.ahead, this.at), h("div", {class: "columns"}, this.list, this.detail));
    this.questions = new Map();
    this.read = once(async () => { // a slider that moves fast asks for where it stands only
      const row = this.past, moment = await this.hooks.show(row);
      if (moment && this.past === row) this.show(row, moment);
    });
  }

  update(rows, t) {
    const was = this.count ?? 0;
    this.rows = rows;
    this.thread = t;
    this.count = rows.length;
    this.stops = rows;
    for (const r of rows.slice(was)) if (r.question) this.questions.set(r.interrupt, r.question);
    this.range.max = Math.max(0, this.stops.length - 1);
    if (!this.past) this.range.value = this.range.max;
    this.mark();
    if (rows.length !== was) this.draw(was);
    if (was === 0 && !this.past) swap(this.detail, h("p", {class: "soft"}, "Move the slider, or choose an entry, to see the plan, the frames and the prompt at that point. Nothing is run for that."));
  }

  filter(name) {
    this.only = name;
    for (const chip of this.filters.children) chip.setAttribute("aria-pressed", String(chip.dataset.name === name));
    this.draw(0);
  }

  draw(from) {
    const fits = (r) => !this.only || kindsOfRows[this.only].includes(r.type);
    if (from === 0) swap(this.list);
    const most = 400, fresh = this.rows.slice(from).filter(fits);
    const hidden = from === 0 ? Math.max(0, fresh.length - most) : 0;
    if (hidden > 0) add(this.list, h("li", {class: "soft"}, `${hidden} earlier entries: move the slider to go there.`));
    add(this.list, fresh.slice(hidden).map((r) => this.row(r)));
    if (!this.past) this.list.scrollTop = this.list.scrollHeight;
    this.mark();
  }

  row(r) {
    return h("li", {data: {seq: r.seq, type: r.type}, class: r.end ? "ends" : null}, h("button", {type: "button", on: {click: () => this.go(r)}},
      h("span", {class: "seq"}, r.seq), h("span", {class: "sign", "aria-hidden": "true"}, signs[r.type] ?? "·"),
      h("span", {class: "what"}, this.tale(r)), h("time", null, clock(r.at))));
  }

  asked(id) {
    const q = this.questions.get(id);
    return q ? `“${brief(q.text || q.name, 60)}”` : "a question";
  }

  // tale says in a few words what an entry is about.
  tale(r) {
    const by = r.by ? `${r.by} ` : "";
    switch (r.type) {
      case "started": return r.value?.thread ? `forked from ${r.value.thread} at ${r.value.seq}` : `started${r.by ? ` by ${r.by}` : ""}`;
      case "entered": return [h("b", null, words(r.name || r.machine)), " begins"];
      case "stepped": return ["goes to ", h("b", null, words(r.pc.replace("!", "")))];
      case "calling": return ["waits for its children at ", h("b", null, words(r.pc.replace("!", "")))];
      case "returned": return r.failure ? `ended with ${r.failure.code}: ${brief(r.failure.text ?? "", 80)}` : `ended${r.state ? `, ${r.state}` : ""}`;
      case "effect": return [h("b", null, r.name), " ", h("span", {class: `badge ${r.state}`}, words(r.state).toLowerCase())];
      case "failed": return `failed: ${brief(r.failure?.text ?? r.failure?.code ?? "", 90)}${r.until ? ", tries again" : ""}`;
      case "again": return `${by}runs again${r.name ? ` (${r.name})` : ""}${r.routeTo ? ` at ${words(r.routeTo)}` : ""}`;
      case "asked": return [r.state === "queued" ? "asks, but has to wait: " : "asks ", this.asked(r.interrupt)];
      case "opened": return ["has its turn: ", this.asked(r.interrupt)];
      case "queued": return [h("span", {class: "badge clash"}, "clash"), " ", this.asked(r.interrupt), " waits for ", this.asked(r.other)];
      case "superseded": return [h("span", {class: "badge clash"}, r.other ? "clash" : "dropped"), " ", this.asked(r.interrupt), r.other ? [" made way for ", this.asked(r.other)] : " counts no more"];
      case "answered": return [h("b", null, r.by || "somebody"), r.routeTo ? ` sent the work to ${words(r.routeTo)}` : ` answered ${brief(r.value ?? "", 80)}`];
      case "voted": return [h("b", null, r.by), ` said ${brief(r.value ?? "", 80)}`];
      case "reasked": return `was unclear: ${brief(r.text ?? "", 80)}`;
      case "expired": return ["nobody answered ", this.asked(r.interrupt), " in time"];
      case "claimed": return r.name ? `${r.name} took on ${this.asked(r.interrupt)}` : `${by}laid down ${this.asked(r.interrupt)}`;
      case "escape": return `${by}asked to pause${r.name === "now" ? " now" : ""}${r.text ? `: ${brief(r.text, 60)}` : ""}`;
      case "paused": return "is paused";
      case "shows": return "its questions show how far it is";
      case "metadata": return "notes what came with the message";
      case "resumed": return `${by}let it go on${r.text ? `, changed: ${brief(r.text, 80)}` : ""}`;
      case "modified": return "took the change";
      case "reroute": return r.routeTo ? `${by}wants it to go on at ${words(r.routeTo)} (${r.state})` : `reroute ${r.state}`;
      case "message": if (r.name === "request" && r.value?.digest) return "notes a call, so that it counts once";
        if (r.name === "grant" && r.value?.actions) return [h("b", null, "a token"), ` was made${r.value.by ? ` for ${r.value.by}` : ""}: ${r.value.actions.join(", ")}`];
        if (r.name === "grant_revoked") return [h("b", null, "a token"), " was revoked"];
        if (Array.isArray(r.value?.plan_steps) && !r.value.task_description) return [h("b", null, words(r.name)), ` ${r.value.completed_count} of ${r.value.total_steps} done${r.value.modification_type ? `, ${r.value.modification_type}` : ""}`];
        return [h("b", null, words(r.name)), " ", brief(r.value?.text ?? r.value?.task_description ?? r.text ?? r.value ?? "", 90)];
      case "over": return `is over: ${words(r.state).toLowerCase()}`;
      default: return [words(r.type), " ", brief(r.name ?? r.text ?? "", 80)];
    }
  }

  go(r) { this.slide(this.stops.indexOf(r)); }

  // fork begins at the last commit up to the moment that is shown: within one there never was a record.
  fork() {
    const seq = this.past?.seq ?? Infinity;
    const end = this.rows.findLast((r) => r.end && r.seq <= seq) ?? this.rows.find((r) => r.end);
    if (end) this.hooks.fork(end.seq);
  }

  step(by) { this.slide(Math.max(0, Math.min(this.stops.length - 1, Number(this.range.value) + by))); }

  now() { this.slide(this.stops.length - 1); }

  slide(n) {
    const stop = this.stops[n];
    if (!stop) return;
    this.range.value = n;
    this.past = n === this.stops.length - 1 ? null : stop;
    this.mark();
    if (!this.past) {
      swap(this.detail, h("p", {class: "soft"}, "This is now."));
      this.list.scrollTop = this.list.scrollHeight;
    } else this.list.querySelector("li.on")?.scrollIntoView({block: "nearest"});
    this.read();
  }

  mark() {
    const stop = this.past ?? this.stops.at(-1);
    this.at.textContent = this.past ? `${stop.seq} of ${this.rows.length}` : `now, ${this.rows.length}`;
    this.range.setAttribute("aria-valuetext", stop ? `entry ${stop.seq}, ${clock(stop.at)}${this.past ? "" : ", now"}` : "empty");
    this.forks.disabled = !stop;
    for (const li of this.list.querySelectorAll("li[data-seq]")) {
      const seq = Number(li.dataset.seq);
      li.classList.toggle("on", Boolean(this.past) && seq === this.past.seq);
      li.classList.toggle("after", Boolean(this.past) && seq > this.past.seq);
    }
  }

  // show is the record at a point: plan, frames, prompt, and the entry itself.
  show(row, moment) {
    tell(`Entry ${row.seq}: ${row.type}`);
    const frames = moment.frames ?? [];
    const part = (title, body, open) => body && h("details", {class: "more", open}, h("summary", null, title), body);
    swap(this.detail, h("h3", null, `Entry ${row.seq}`, " ", h("span", {class: "badge"}, words(row.type).toLowerCase())), h("p", {class: "tale"}, this.tale(row)),
      moment.missing && h("p", {class: "soft"}, moment.missing),
      moment.plan && part("Plan", h("ol", {class: "plan small"}, moment.plan.done.map((d) => h("li", {class: "done"}, h("b", null, d.step))), moment.plan.steps.map((s, n) => h("li", {class: n === 0 ? "here" : ""}, h("b", null, s)))), true),
      frames.length > 0 && part(`Frames (${frames.length})`, h("table", {class: "frames"}, h("thead", null, h("tr", null, ["Frame", "At", "Effects"].map((c) => h("th", {scope: "col"}, c)))),
        h("tbody", null, frames.map((f) => h("tr", null, h("td", null, f.id), h("td", null, words(f.node || f.name || f.machine)),
          h("td", null, (f.effects ?? []).map((e) => h("span", {class: `badge ${e.state}`, title: brief(e.value ?? "", 300)}, e.name)), f.effects?.length ? null : "–"))))), true),
      frames.filter((f) => f.prompt).map((f) => part(`Prompt of ${words(f.node || f.name)}`, h("pre", {class: "prompt", tabindex: 0}, f.prompt), false)),
      row.value !== undefined && part("What it holds", h("pre", {class: "about", tabindex: 0}, pretty(row.value)), !moment.plan && frames.length < 3),
      row.question && part("The question", h("pre", {class: "about", tabindex: 0}, pretty(row.question.payload ?? row.question.text)), false));
  }
}
