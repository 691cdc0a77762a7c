// How many questions there were, what became of them, and how long people took.

import {get, Refused} from "./api.js";
import {h, once, span, swap} from "./dom.js";
import {failure, kindOf} from "./inbox.js";
import {learnAll, named} from "./names.js";

const ranges = [["1 hour", 3600e3], ["1 day", 86400e3], ["1 week", 7 * 86400e3], ["Always", 0]];

export function showStats(into) {
  let back = 86400e3;
  const body = h("div", null, h("p", {class: "soft pad"}, "Reading…"));
  const chips = h("div", {class: "filters", role: "group", "aria-label": "Since"}, ranges.map(([title, ms]) => h("button", {
    type: "button", class: "chip", "aria-pressed": String(ms === back), data: {ms}, on: {click: () => { back = ms; load(); }},
  }, title)));
  swap(into, h("div", {class: "stats"}, h("div", {class: "thead"}, h("h1", null, "Stats"), chips), body));
  const load = once(async () => {
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(Number(chip.dataset.ms) === back));
    try {
      const {items} = await get(back ? `stats?since=${Date.now() - back}` : "stats");
      await learnAll(items.map((i) => i.node));
      swap(body, items.length === 0 ? h("div", {class: "empty"}, h("h2", null, "Nothing was asked"), h("p", null, "No one was asked anything in this time.")) : drawn(items));
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      swap(body, failure(err, load));
    }
  });
  load();
}

function drawn(items) {
  const sum = (key) => items.reduce((n, i) => n + (i[key] ?? 0), 0);
  const asked = sum("count"), answered = sum("answered");
  const tile = (n, label, more) => h("div", {class: "tile card"}, h("b", null, n), h("span", null, label), more && h("small", null, more));
  const slow = items.filter((i) => i.answered > 0).sort((a, b) => b.p95 - a.p95)[0];
  const most = Math.max(1, ...items.map((i) => i.p95 ?? 0));
  const length = (ms) => Math.max(1, Math.round((100 * Math.log1p(ms)) / Math.log1p(most)));
  const bar = (i) => h("td", {class: "bar"}, i.answered > 0 && [h("meter", {min: 0, max: 100, value: length(i.median), "aria-label": "median"}), h("span", {class: "num"}, `${span(i.median)} / ${span(i.p95)}`)]);
  return [
    h("div", {class: "tiles"}, tile(asked, "asked"), tile(answered, "answered", asked ? `${Math.round((100 * answered) / asked)} %` : ""), tile(sum("expired"), "expired"),
      tile(sum("clashed"), "lost a clash"), tile(slow ? span(slow.p95) : "–", "slowest, 95 of 100", slow && (slow.node ? named(slow.node) : kindOf(slow.kind).one))),
    h("div", {class: "card scrolls"}, h("table", {class: "table"}, h("thead", null, h("tr", null, ["Kind", "Node", "For", "Asked", "Answered", "Expired", "Unclear", "Median / 95 of 100"].map((t) => h("th", {scope: "col"}, t)))),
      h("tbody", null, items.map((i) => h("tr", null, h("td", null, h("span", {class: "sign", "aria-hidden": "true"}, kindOf(i.kind).sign), " ", kindOf(i.kind).title), h("td", null, (i.node ? named(i.node) : "–")),
        h("td", null, i.assignee || "anybody"), ["count", "answered", "expired", "reasked"].map((k) => h("td", {class: "num"}, i[k] ?? 0)), bar(i)))))),
  ];
}
