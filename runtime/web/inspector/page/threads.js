// The list of all threads.

import {pages, path} from "./api.js";
import {changed, h, say, swap, when, words} from "./dom.js";
import {failure, mark} from "./inbox.js";
import {learnPrograms, titled} from "./names.js";

export const states = {
  waiting: "Waiting", running: "Running", idle: "Idle", done: "Done", failed: "Failed", cancelled: "Cancelled", handed_off: "Handed off",
};

export const pill = (status, paused) => h("span", {class: "pill", data: {status: paused ? "paused" : status}}, paused ? "Paused" : states[status] ?? words(status));

const order = ["running", "waiting", "idle", "failed", "done", "cancelled", "handed_off"];

export class Threads {
  constructor() {
    this.items = [];
    this.only = "";
    this.chosen = "";
    this.filter = h("select", {"aria-label": "Status", on: {change: () => { this.only = this.filter.value; this.draw(); }}},
      h("option", {value: ""}, "Every status"), Object.entries(states).map(([value, title]) => h("option", {value}, title)));
    this.search = h("input", {type: "search", placeholder: "Filter", "aria-label": "Filter the threads", on: {input: () => this.draw()}});
    this.body = h("div", {class: "groups"}, h("p", {class: "soft pad"}, "Reading…"));
    this.el = h("section", {class: "threads", "aria-label": "Threads"}, h("div", {class: "listhead"}, this.search,
      h("div", {class: "row"}, this.filter, h("button", {type: "button", data: {act: "start"}, on: {click: () => this.start()}}, "Start…"))), this.body);
  }

  async load() {
    try {
      [this.items] = await Promise.all([pages("threads?limit=500", "", 5000), learnPrograms()]);
      this.failed = null;
    } catch (err) {
      this.failed = err;
    }
    this.draw();
  }

  choose(thread) {
    this.chosen = thread;
    if (thread === "") this.load();
    for (const a of this.body.querySelectorAll("a.item")) mark(a, a.dataset.thread === thread);
  }

  async start() {
    try {
      const {startThread} = await import("./start.js");
      const made = await startThread();
      if (made) location.hash = path`#/t/${made.id}`;
    } catch (err) { say(err.status === 404 ? "This server does not say what can be started." : err.message, {bad: true}); }
  }

  draw() {
    if (this.failed && this.items.length === 0) { changed(this.body, this.failed.message); swap(this.body, failure(this.failed, () => this.load())); return; }
    const text = this.search.value.toLowerCase();
    const found = this.items.filter((t) => (!this.only || t.status === this.only) && `${t.id} ${t.user ?? ""} ${titled(t.machine)}`.toLowerCase().includes(text));
    found.sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status) || (b.created ?? 0) - (a.created ?? 0) || a.id.localeCompare(b.id));
    if (!changed(this.body, found, this.items.length, this.chosen)) return;
    swap(this.body, found.length === 0
      ? h("div", {class: "empty small"}, h("h2", null, this.items.length === 0 ? "No threads yet" : "Nothing fits the filter"),
        this.items.length === 0 && h("p", null, "A thread appears here when a program starts one."))
      : h("ul", {role: "list", class: "group"}, found.map((t) => {
        const a = h("a", {class: "item flat", href: path`#/t/${t.id}`, data: {thread: t.id}},
          h("span", {class: "text"}, h("span", {class: "name"}, t.id), pill(t.status)),
          h("span", {class: "meta"}, t.machine && h("span", null, titled(t.machine)), t.user && h("span", null, t.user), t.created && when(t.created), t.wake && h("span", null, when(t.wake, {until: true, prefix: "wakes "}))));
        mark(a, t.id === this.chosen);
        return h("li", null, a);
      })));
  }
}
