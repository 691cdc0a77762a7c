// The journey of a thread: its program as a map, with the way it took and the place where it is.

import {clean, h, s, swap} from "./dom.js";
import {layout} from "./layout.js";
import {named, titled} from "./names.js";

const tall = 34, high = 26; // of a node, and of the marker above it

// lanesOf follows the frames of a log up to an entry: where each has stopped, what it came from, and where its end led. Steps with a sign in
// front are work between nodes. A turn that begins anew begins a new way.
export function lanesOf(rows, seq = Infinity) {
  const lanes = new Map();
  for (const r of rows) {
    if (r.seq > seq) break;
    if (r.type === "entered" && !r.parent && !r.other) lanes.clear();
    if (r.type === "entered") lanes.set(r.frame, {stops: [], from: lanes.get(r.parent)?.stops.at(-1), parent: r.parent});
    const lane = lanes.get(r.frame);
    if (!lane) continue;
    if ((r.type === "entered" || r.type === "stepped") && r.pc && !r.pc.startsWith("!") && lane.stops.at(-1) !== r.pc) lane.stops.push(r.pc);
    if (r.type === "returned") lane.to = lanes.get(lane.parent)?.stops.at(-1);
  }
  return lanes;
}

export class Journey {
  // pick is called with the agent type of the lit node that is chosen.
  constructor(pick) {
    this.pick = pick;
    this.el = h("div", {class: "journey"});
    this.program = undefined;
  }

  // show draws a moment. program: the graph, or null. frames: of the moment. plan: of a plan thread. lit: agent types that may be chosen.
  // sends: agent types that running work can be sent to.
  show({program, frames = [], lanes = new Map(), plan, lit = [], sends = [], chosen = "", asking = new Set()}) {
    this.lit = new Set(lit);
    this.sends = new Set(sends);
    this.chosen = chosen;
    if (plan) { this.drawPlan(plan, asking.size > 0); return; }
    if (!program?.nodes?.length) { this.drawSteps(frames); return; }
    if (this.program !== program) this.build(program);
    this.mark(frames, lanes, asking);
  }

  // build lays the map out. It does not change while the thread moves on it.
  build(program) {
    this.program = program;
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
    const wide = (text) => Math.max(76, Math.ceil(pen.measureText(text).width) + 28);
    const used = program.nodes.filter((n) => n.takes || n.entry || n.branches.length > 0);
    const ways = used.flatMap((n) => n.branches.filter((b) => b.to && b.kind !== "interrupt").map((b) => ({from: n.key, to: b.to})));
    const linked = new Set(ways.flatMap((w) => [w.from, w.to]));
    const all = used.filter((n) => linked.has(n.key) || n.entry);
    const drawn = layout([...all].sort((a, b) => Boolean(b.entry) - Boolean(a.entry)).map((n) => ({id: n.key, w: wide(n.title), h: tall})), ways, {rowGap: 44});
    const pad = 14;
    this.svg = s("svg", {
      viewBox: `${-pad} ${-high - 6} ${drawn.w + 2 * pad} ${drawn.h + high + 6 + pad}`, width: drawn.w + 2 * pad,
      role: "group", "aria-label": `Map of ${program.title}`, class: "map",
    });
    this.svg.style.minWidth = `${Math.round((drawn.w + 2 * pad) * 0.8)}px`; // a little smaller where the page is narrow; then it scrolls
    this.svg.append(s("defs", null, ["", "-went", "-now"].map((kind) => s("marker", {
      id: `tip${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", class: `tip${kind}`,
    }, s("path", {d: "M1 1 L7 4 L1 7"})))));
    const edges = s("g", {class: "edges", "aria-hidden": "true"});
    this.edges = drawn.edges.map((e) => {
      const el = s("path", {d: e.d, class: `edge ${e.kind}`, "marker-end": "url(#tip)"});
      edges.append(el);
      return {...e, el};
    });
    this.nodes = new Map();
    const nodes = s("g", {class: "nodes"});
    for (const n of all) {
      const at = drawn.nodes.get(n.key), g = this.node(n, at);
      nodes.append(g);
      this.nodes.set(n.key, {...n, at, g});
    }
    this.svg.append(edges, nodes);
    this.here = s("g", {class: "heres"});
    this.svg.append(this.here);
    this.trail = h("p", {class: "trail"});
    this.scroll = h("div", {class: "scroller", tabindex: 0, role: "region", "aria-label": "Map, scrollable"}, this.svg);
    swap(this.el, this.scroll, this.legend(), this.trail);
    this.svg.addEventListener("keydown", (e) => this.key(e));
  }

  legend() {
    return h("ul", {class: "legend", "aria-hidden": "true"},
      h("li", {class: "l-here"}, "here"), h("li", {class: "l-went"}, "passed"), h("li", {class: "l-lit"}, "can go on there"), h("li", {class: "plainly l-send"}, "Choose a node to send the work there."), h("li", {class: "plainly"}, "Point at a node to see every way from and to it."));
  }

  node(n, at) {
    const g = s("g", {
      class: "node", transform: `translate(${at.x - at.w / 2} ${at.y - at.h / 2})`, "data-key": n.key, tabindex: -1, role: "img", "aria-label": n.title,
      on: {
        click: () => this.choose(n), pointerenter: () => this.near(n.key, true), pointerleave: () => this.near(n.key, false),
        focus: () => this.near(n.key, true), blur: () => this.near(n.key, false),
      },
    }, s("title", null, `${n.title}${n.action ? `: ${n.action}` : ""}`), s("rect", {width: at.w, height: at.h, rx: 9}), s("text", {x: at.w / 2, y: at.h / 2 + 4.5}, n.title));
    return g;
  }

  choose(n) {
    if (this.lit.has(n.agentType)) this.pick(this.chosen === n.agentType ? "" : n.agentType);
    else if (this.sends.has(n.agentType)) this.pick(n.agentType);
  }

  near(key, on) {
    for (const e of this.edges) if (e.from === key || e.to === key) e.el.classList.toggle("near", on);
  }

  // mark puts the way and the place on the map.
  mark(frames, lanes, asking) {
    const visits = new Map(), went = new Set(), here = new Map();
    for (const lane of lanes.values()) {
      lane.stops.forEach((key, n) => {
        visits.set(key, (visits.get(key) ?? 0) + 1);
        if (n > 0) went.add(`${lane.stops[n - 1]} ${key}`);
      });
      if (lane.from && lane.stops.length > 0) went.add(`${lane.from} ${lane.stops[0]}`);
      if (lane.to && lane.stops.length > 0) went.add(`${lane.stops.at(-1)} ${lane.to}`);
    }
    for (const f of frames) {
      if (f.node && !(f.children ?? []).some((c) => !c.done)) here.set(f.node, (here.get(f.node) ?? 0) + 1);
    }
    for (const n of this.nodes.values()) this.markNode(n, visits.get(n.key) ?? 0, here.get(n.key) ?? 0, asking.has(n.key));
    for (const e of this.edges) {
      const on = went.has(`${e.from} ${e.to}`), now = on && here.has(e.to);
      e.el.classList.toggle("went", on);
      e.el.setAttribute("marker-end", `url(#tip${now ? "-now" : on ? "-went" : ""})`);
    }
    this.markHere([...here], asking);
    const tour = [...lanes.values()].find((lane) => !lane.from)?.stops ?? [];
    swap(this.trail, tour.length > 0 && [h("span", {class: "unseen"}, "The way so far: "), tour.flatMap((key, n) => [
      n > 0 && h("span", {class: "to", "aria-hidden": "true"}, "→"),
      h("span", {class: n === tour.length - 1 ? "stop last" : "stop"}, this.nodes.get(key)?.title ?? named(key)), " ",
    ])]);
  }

  markNode(n, times, here, asks) {
    const lit = this.lit.has(n.agentType), chosen = lit && this.chosen === n.agentType;
    const send = !lit && this.sends.has(n.agentType);
    n.g.setAttribute("class", ["node", times > 0 && "went", here > 0 && "here", asks && "asks", lit && "lit", chosen && "chosen", send && "send"].filter(Boolean).join(" "));
    n.g.querySelector(".times")?.remove();
    if (times > 1) n.g.append(s("g", {class: "times", transform: `translate(${n.at.w - 4} 2)`, "aria-hidden": "true"}, s("circle", {r: 9}), s("text", {y: 4}, times)));
    const said = [n.title, here > 0 && "you are here", asks && "asks", !here && times > 0 && `passed ${times === 1 ? "once" : `${times} times`}`, chosen ? "chosen to go on at" : lit && "can go on here", send && "send the work here"];
    n.g.setAttribute("aria-label", clean(said.filter(Boolean).join(", ")));
    n.g.setAttribute("role", lit || send ? "button" : "img");
    n.g.setAttribute("tabindex", lit || send || here > 0 ? 0 : -1);
    if (lit) n.g.setAttribute("aria-pressed", String(chosen)); else n.g.removeAttribute("aria-pressed");
  }

  markHere(places, asking) {
    this.here.replaceChildren();
    for (const [key, many] of places) {
      const n = this.nodes.get(key);
      if (!n) continue;
      const text = `YOU ARE HERE${many > 1 ? ` ×${many}` : ""}`, w = many > 1 ? 116 : 98;
      this.here.append(s("g", {class: asking.has(key) ? "marker asks" : "marker", transform: `translate(${n.at.x} ${n.at.y - n.at.h / 2 - 6})`, "aria-hidden": "true"},
        s("path", {d: `M${-w / 2 + 6} -20h${w - 12}a6 6 0 0 1 6 6v4a6 6 0 0 1 -6 6h${-(w / 2 - 12)}l-6 6l-6 -6h${-(w / 2 - 12)}a6 6 0 0 1 -6 -6v-4a6 6 0 0 1 6 -6z`}), s("text", {y: -8}, text)));
    }
    const first = this.nodes.get(places[0]?.[0]);
    if (first && this.seen !== first.key) {
      this.seen = first.key;
      requestAnimationFrame(() => this.scroll.scrollTo?.({left: first.at.x - this.scroll.clientWidth / 2, top: first.at.y - this.scroll.clientHeight / 2}));
    }
  }

  // key moves from node to node with the arrows, and chooses one.
  key(e) {
    const from = this.nodes.get(e.target.closest?.(".node")?.dataset.key);
    if (!from) return;
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); this.choose(from); return; }
    const way = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]}[e.key];
    if (!way) return;
    e.preventDefault();
    let best = null, least = Infinity;
    for (const n of this.nodes.values()) {
      const dx = n.at.x - from.at.x, dy = n.at.y - from.at.y, ahead = dx * way[0] + dy * way[1];
      const far = ahead + 3 * Math.abs(way[0] ? dy : dx);
      if (n !== from && ahead > 8 && far < least) { least = far; best = n; }
    }
    best?.g.focus();
  }

  drawPlan(plan, asks) {
    this.program = undefined;
    const total = plan.done.length + plan.steps.length;
    swap(this.el, h("p", {class: "goal"}, plan.goal),
      h("div", {class: "meter", role: "img", "aria-label": `${plan.done.length} of ${total} steps are over`}, Array.from({length: total}, (_, n) => h("i", {class: n < plan.done.length ? "on" : ""}))),
      h("ol", {class: "plan"}, plan.done.map((d) => h("li", {class: d.skipped ? "done skipped" : "done"}, h("b", null, d.step), d.result && h("small", null, d.result))),
        plan.steps.map((step, n) => h("li", {class: n === 0 ? "here" : ""}, h("b", null, step), n === 0 && h("span", {class: "flag"}, asks ? "YOU ARE HERE, asking" : "YOU ARE HERE")))));
  }

  drawSteps(frames) {
    this.program = undefined;
    swap(this.el, frames.length === 0 ? h("p", {class: "soft pad"}, "Nothing runs here now.") : h("ol", {class: "plan"}, frames.map((f) => h("li", {class: "here"},
      h("b", null, f.parent ? named(f.name || f.machine) : titled(f.machine)), f.visited?.some(Boolean) && h("small", null, f.visited.filter(Boolean).map((at) => named(at)).join(" → ")), h("span", {class: "flag"}, "YOU ARE HERE")))));
  }
}
