// Elements, texts and times. Texts of people and models go through here as text, never as markup, and without invisible characters.

const SVG = "http://www.w3.org/2000/svg";

// clean makes the signs visible that a text must not work with: what steers a terminal, turns the direction of letters around or hides among
// them is written as its escape, as routegen writes it in a terminal. Newlines and tabs stay, and so do the joiners, which some scripts and emoji
// need. It is for what is shown: the value of a field is sent, and stays as it is.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, kept = "\n\t\u200c\u200d";
export function clean(text) {
  return String(text).replaceAll("\r\n", "\n").replaceAll(unseen, (sign) => {
    if (kept.includes(sign)) return sign;
    const code = sign.codePointAt(0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

// h makes an element: h("p", {class: "x", on: {click: f}}, "text", child). A null or false child is none; a property of null is none.
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

// s is h for SVG.
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, f] of Object.entries(value)) el.addEventListener(type, f);
    else if (name === "data") Object.assign(el.dataset, value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") el[name] = value;
    else el.setAttribute(name, value === true ? "" : clean(value));
  }
  add(el, children);
  return el;
}

// add appends children, lists of them too.
export function add(el, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    el.append(child instanceof Node ? child : clean(child));
  }
  return el;
}

export const swap = (el, ...children) => add((el.replaceChildren(), el), children);

// changed reports whether what an element shows is another than when it was asked last. What is drawn anew loses focus and clicks on their way,
// so it is drawn anew only then.
const shown = new WeakMap();
export function changed(el, ...what) {
  const now = JSON.stringify(what), was = shown.get(el);
  shown.set(el, now);
  return now !== was;
}

let last = 0;
export const uid = (prefix = "x") => `${prefix}${++last}`;

// words turns an identifier into what a person reads: DISCOVERY_COLLECTOR, discoveryCollector -> Discovery collector.
export function words(name) {
  const plain = String(name ?? "").split("/").filter(Boolean).map((part) => {
    const text = part.replaceAll(/_+/g, " ").replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").trim();
    return text === text.toUpperCase() ? text.toLowerCase() : text.replaceAll(/\b[A-Z](?=[a-z])/g, (c) => c.toLowerCase());
  }).join(" ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

// labelled is words for what looks like an identifier. A written label stays, but for its first letter.
const identifier = /^\w+_\w+$|^[a-z0-9]{2,}([A-Z][a-z0-9]+)+$|^[A-Z]{5,}$/;
export const labelled = (text) => (identifier.test(text) ? words(text) : text.charAt(0).toUpperCase() + text.slice(1));

const steps = [[60, "s"], [60, "min"], [24, "h"], [7, "d"], [52, "w"], [Infinity, "y"]];

// span says how long something is, in one unit: 4 min.
export function span(ms) {
  if (ms > 0 && ms < 995) return `${Math.round(ms)} ms`;
  let n = Math.max(0, ms) / 1000;
  for (const [size, unit] of steps) {
    if (n < size - 0.5 || size === Infinity) return `${n < 9.95 && unit !== "s" ? Math.round(n * 10) / 10 : Math.round(n)} ${unit}`;
    n /= size;
  }
  return "";
}

// when is a moving time: an element whose text is how long ago, or until, a moment is. tick() brings all of them up to date.
export function when(ms, {until = false, prefix = ""} = {}) {
  const el = h("time", {datetime: new Date(ms).toISOString(), title: new Date(ms).toLocaleString(), data: {at: ms, until: until ? "1" : "", prefix}});
  retime(el);
  return el;
}

function retime(el) {
  const at = Number(el.dataset.at), now = Date.now();
  let text;
  if (el.dataset.until) text = at > now ? `in ${span(at - now)}` : `${span(now - at)} over`;
  else text = now - at < 5000 ? "just now" : `${span(now - at)} ago`;
  el.textContent = el.dataset.prefix + text;
  if (el.dataset.until) el.classList.toggle("soon", at - now < 3600_000);
}

export const tick = () => document.querySelectorAll("time[data-at]").forEach(retime);

export const clock = (ms) => new Date(ms).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit"});

// pretty shows a JSON value as text.
export function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

// brief is a JSON value in one line.
export function brief(value, most = 140) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// say tells everybody: those who look, for a moment, and those who listen.
export function say(text, {bad = false} = {}) {
  const live = document.getElementById(bad ? "alarmed" : "said");
  live.textContent = "";
  setTimeout(() => { live.textContent = clean(text); }, 30); // emptied first, or the same words again would not be said
  const toast = h("div", {class: bad ? "toast bad" : "toast"}, text);
  document.querySelector(".toasts").append(toast);
  setTimeout(() => toast.remove(), bad ? 7000 : 3500);
}

// tell tells those who listen only: those who look see it happen.
export function tell(text) {
  document.getElementById("said").textContent = clean(text);
}

// once makes of an async function one that runs once at a time, and once more when it was called meanwhile.
export function once(f) {
  let running = null, again = false;
  return function run() {
    if (running) { again = true; return running; }
    running = (async () => {
      try {
        do { again = false; await f(); } while (again);
      } finally { running = null; }
    })();
    return running;
  };
}

// modal opens a dialog and resolves when it is closed. build gets it and adds what is inside.
export function modal(label, build) {
  const dialog = h("dialog", {"aria-label": label});
  build(dialog);
  document.body.append(dialog);
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.requestClose?.() ?? dialog.close(); });
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => { dialog.remove(); done(dialog.returnValue); }));
}
