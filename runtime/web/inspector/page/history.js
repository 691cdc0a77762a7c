// The history: every entry of the thread's log, and a slider that shows the record as it was after each of its commits.

import {add, brief, clock, h, once, pretty, swap, tell, words} from "./dom.js";
import {named} from "./names.js";
import {Teller} from "./tale.js";

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
    this.forks = h("button", {type: "button", class: "small", data: {act: "fork"}, title: "Make a new thread that goes on from here", on: {click: () => this.fork()}}, "Fork…");
    this.filters = h("div", {class: "filters", role: "group", "aria-label": "Show only"}, ["", ...Object.keys(kindsOfRows)].map((name) =>
      h("button", {type: "button", class: "chip", "aria-pressed": String(name === ""), data: {name}, on: {click: () => this.filter(name)}}, name ? words(name) : "All")));
    this.list = h("ol", {class: "log"});
    this.detail = h("div", {class: "then-detail"});
    this.el = h("section", {class: "card history", "aria-label": "History"},
      h("div", {class: "cardtitle row"}, h("h2", null, "History"), this.filters),
      h("div", {class: "slider"}, this.back, this.range, this.ahead, this.at, this.forks), h("div", {class: "columns"}, this.list, this.detail));
    this.teller = new Teller();
    this.lines = new Map(); // by entry
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
    for (const r of rows.slice(was)) this.lines.set(r.seq, this.teller.tell(r));
    this.range.max = Math.max(0, this.stops.length - 1);
    if (!this.past) this.range.value = this.range.max;
    this.mark();
    if (rows.length !== was) this.draw(was);
    if (was === 0 && !this.past) swap(this.detail, h("p", {class: "soft"}, "Move the slider, or choose an entry, to see the plan, the prompt and where it was at that point. Nothing is run for that."));
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
      h("span", {class: "what"}, (r.type === "queued" || (r.type === "superseded" && r.other)) && [h("span", {class: "badge clash"}, "clash"), " "], this.lines.get(r.seq)), h("time", null, clock(r.at))));
  }

  go(r) { this.slide(this.stops.indexOf(r)); }

  // fork begins at the last commit up to the moment that is shown: within one there never was a record.
  fork() {
    const seq = this.past?.seq ?? Infinity;
    const end = this.rows.findLast((r) => r.rest && r.seq <= seq) ?? this.rows.find((r) => r.rest);
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
    tell(`Entry ${row.seq}: ${this.lines.get(row.seq)}`);
    const frames = moment.frames ?? [];
    const part = (title, body, open) => body && h("details", {class: "more", open}, h("summary", null, title), body);
    swap(this.detail, h("h3", null, `Entry ${row.seq}`, " ", h("span", {class: "badge"}, words(row.type).toLowerCase())), h("p", {class: "tale"}, this.lines.get(row.seq)),
      moment.missing && h("p", {class: "soft"}, moment.missing),
      moment.plan && part("Plan", h("ol", {class: "plan small"}, moment.plan.done.map((d) => h("li", {class: "done"}, h("b", null, d.step))), moment.plan.steps.map((s, n) => h("li", {class: n === 0 ? "here" : ""}, h("b", null, s)))), true),
      frames.length > 0 && part(frames.length === 1 ? "Where it was" : `Where its ${frames.length} parts were`, h("table", {class: "frames"}, h("thead", null, h("tr", null, ["At", "Done there"].map((c) => h("th", {scope: "col"}, c)))),
        h("tbody", null, frames.map((f) => h("tr", null, h("td", {title: f.id}, named(f.node || f.name || f.machine)),
          h("td", null, (f.effects ?? []).map((e) => h("span", {class: `badge ${e.state}`, title: brief(e.value ?? "", 300)}, e.name)), f.effects?.length ? null : "–"))))), true),
      frames.filter((f) => f.prompt).map((f) => part(`Prompt of ${named(f.node || f.name)}`, h("pre", {class: "prompt", tabindex: 0}, f.prompt), false)),
      row.value !== undefined && part("What it holds", h("pre", {class: "about", tabindex: 0}, pretty(row.value)), false),
      row.question && part("The question", h("pre", {class: "about", tabindex: 0}, pretty(row.question.payload ?? row.question.text)), false));
  }
}
