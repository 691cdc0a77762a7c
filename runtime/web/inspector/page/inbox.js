// The inbox: what waits for people, by kind and age.

import {answerers, asks, get, holder, pages, path, session} from "./api.js";
import {add, changed, h, swap, tell, when, words} from "./dom.js";
import {touchesInbox} from "./live.js";
import {learnAll, named} from "./names.js";
import {asked} from "./tale.js";

export const kinds = {
  user_escape: {sign: "II", title: "Paused by a person", one: "Paused"},
  agent_question: {sign: "?", title: "Questions", one: "Question"},
  system_error: {sign: "!", title: "Failed steps", one: "Failed step"},
};

export const kindOf = (name) => kinds[name] ?? {sign: "◆", title: words(name), one: words(name)};

export class Inbox {
  constructor() {
    this.items = [];
    this.only = new Set();
    this.mine = false;
    this.text = "";
    this.chosen = "";
    this.news = new Set(); // interrupts that were asked since this tab is open
    this.since = Date.now();
    this.filters = h("div", {class: "filters", role: "group", "aria-label": "Show only"});
    this.search = h("input", {type: "search", placeholder: "Filter", "aria-label": "Filter the inbox", on: {input: () => { this.text = this.search.value.toLowerCase(); this.draw(); }}});
    this.body = h("div", {class: "groups"}, h("p", {class: "soft pad"}, "Reading…"));
    this.el = h("section", {class: "inbox", "aria-label": "Inbox"}, h("div", {class: "listhead"}, this.search, this.filters), this.body);
  }

  get count() { return this.items.length; }

  async load() {
    try {
      this.items = await pages("interrupts?state=open&limit=200", "", 1000);
      this.failed = null;
    } catch (err) {
      this.failed = err;
    }
    await learnAll(this.items.map((i) => i.node)); // before it is drawn: what is drawn anew loses clicks on their way
    this.draw();
  }

  // newest is the cursor of a recent row, so that a stream need not begin at the beginning of everything: the last one of the thread that asked
  // last. What came before the stream began is read when it has.
  async newest() {
    const last = this.items.reduce((a, b) => (a && a.created > b.created ? a : b), null);
    if (!last) return "";
    return get(path`threads/${last.thread}`).then((t) => `${t.id}/${t.seq}`, () => "");
  }

  // heard tells those who listen of a new question; those who look see it.
  heard(row) {
    if (row.type !== "asked" || row.question?.state !== "open" || row.at < this.since) return;
    this.news.add(row.interrupt);
    tell(`New: ${kindOf(row.kind).one}, ${row.question.text ?? ""}`);
  }

  choose(thread) {
    this.chosen = thread;
    for (const a of this.body.querySelectorAll("a.item")) mark(a, a.dataset.thread === thread);
  }

  shown() {
    const me = session.by;
    return this.items.filter((i) => (this.only.size === 0 || this.only.has(i.kind)) &&
      (!this.mine || me && holder(i) === me || asks(i)) &&
      (!this.text || `${i.text} ${i.node} ${i.thread} ${i.type} ${i.askedFor}`.toLowerCase().includes(this.text)));
  }

  draw() {
    if (this.failed && this.items.length === 0) {
      if (changed(this.body, this.failed.message)) swap(this.body, failure(this.failed, () => this.load()));
      return;
    }
    if (!changed(this.body, this.shown(), this.items.length, [...this.news], this.chosen, [...this.only], this.mine)) return;
    const groups = Map.groupBy ? Map.groupBy(this.shown(), (i) => i.kind) : group(this.shown());
    this.drawFilters();
    const focused = document.activeElement?.dataset?.id;
    swap(this.body, this.items.length === 0
      ? h("div", {class: "empty small"}, h("span", {class: "big"}, "✓"), h("h2", null, "Nobody waits"), h("p", null, "New questions appear here by themselves."))
      : groups.size === 0 ? h("p", {class: "soft pad"}, "Nothing fits the filter.") : null,
    [...groups].map(([kind, items]) => h("section", {class: "group", data: {kind}},
      h("h2", null, h("span", {class: "sign", "aria-hidden": "true"}, kindOf(kind).sign), kindOf(kind).title, h("span", {class: "n"}, items.length)),
      h("ul", {role: "list"}, items.sort((a, b) => a.created - b.created).map((i) => h("li", null, this.item(i)))))));
    if (focused) this.body.querySelector(`a.item[data-id="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
  }

  item(i) {
    const a = h("a", {class: this.news.has(i.id) ? "item new" : "item", href: path`#/t/${i.thread}`, data: {id: i.id, thread: i.thread, kind: i.kind}},
      h("span", {class: "text"}, asked(i) || words(i.name)),
      h("span", {class: "meta"}, h("span", {class: "name"}, i.thread), i.node && i.node !== i.thread && h("span", null, named(i.node)), when(i.created),
        i.due && h("span", null, when(i.due, {until: true, prefix: "due "}))),
      (holder(i) || i.quorum > 1 || i.assignees?.length > 0) && h("span", {class: "chips"},
        holder(i) && h("span", {class: "chip"}, holder(i) === session.by ? "you have it" : `${holder(i)} has it`),
        i.quorum > 1 && h("span", {class: "chip"}, `${i.votes?.length ?? 0} of ${i.quorum} votes`),
        i.assignees?.length > 0 && h("span", {class: "chip"}, `for ${answerers(i)}`)));
    mark(a, i.thread === this.chosen);
    return a;
  }

  drawFilters() {
    const all = [...new Set(this.items.map((i) => i.kind))];
    const chip = (label, on, flip) => h("button", {class: "chip", type: "button", "aria-pressed": String(on), on: {click: () => { flip(); this.draw(); }}}, label);
    swap(this.filters);
    if (all.length > 1) {
      add(this.filters, all.map((kind) => chip(kindOf(kind).title, this.only.has(kind), () => {
        if (!this.only.delete(kind)) this.only.add(kind);
      })));
    }
    if (session.by) add(this.filters, chip("Mine", this.mine, () => { this.mine = !this.mine; }));
  }
}

export function mark(a, on) {
  if (on) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
}

// failure says why there is nothing, and offers to try again.
export function failure(err, again) {
  return h("div", {class: "empty small"}, h("span", {class: "big"}, "!"), h("h2", null, err.status === 403 || err.status === 404 ? "Not here" : "That did not work"),
    h("p", null, err.message), again && h("button", {type: "button", on: {click: again}}, "Try again"));
}

function group(items) {
  const out = new Map();
  for (const i of items) out.set(i.kind, [...(out.get(i.kind) ?? []), i]);
  return out;
}

export const interrupt = (id) => get(path`interrupts/${id}`);
